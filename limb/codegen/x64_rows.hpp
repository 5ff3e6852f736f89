#pragma once

#include <functional>
#include <vector>

#include "limb/codegen/x64_machine.hpp"

namespace limb::codegen {

/// Moves blocks of rows (one state a row, as callers store them) to lanes (one state a lane) and
/// back, by transposing in registers, after Machine::set_quarters().
///
/// A register holds entries of two rows: row l in its lower half, row l + W/2 in its upper half (W
/// lanes). From W/2 of them come W/2 columns, with two shuffles each; reading the upper halves from
/// memory does the rest. The same shuffles lead back.
class RowMover {
 public:
  explicit RowMover(Machine& machine) : machine_(machine) {}

  /// From so many groups of columns on, rows are moved in a loop: shorter code.
  static constexpr int kLoopFrom = 8;

  /// rcx = what belongs to block r12 of an array with `size` entries a row; rax is changed.
  void point_at(const Xbyak::Reg64& table, int array, int size);

  /// The widest range of columns for one call.
  int columns() const { return machine_.target().lanes() / 2; }

  /// Columns [first, first + count) of the block of rows at `rows`, `stride` entries a row, to
  /// places of the frame.
  void read(const Xbyak::Reg64& rows, int stride, int first, int count,
            const std::function<int(int column)>& place);

  /// A column to be written: a place of the frame, or a constant (place -1).
  struct Source {
    int place = -1;
    double constant = 0;
    bool is_zero() const { return place < 0 && constant == 0; }
  };
  /// The other way, for up to 2 columns() columns.
  void write(const Xbyak::Reg64& rows, int stride, int first, const std::vector<Source>& columns);
  /// A loop over `groups` of columns() columns each, from column 0 on, to places one after the
  /// other from `place` on. `rows` and r8, r9 are changed.
  void read_groups(const Xbyak::Reg64& rows, int stride, int groups, int place);
  /// The other way, 2 columns() columns at a time: the places stand from r8 to r9,
  /// in the frame at r10.
  /// @param stream past the caches, where all rows begin with a line of them.
  void write_loop(const Xbyak::Reg64& rows, int stride, bool stream);
  /// The same past the caches where rows are an odd number of half lines long: from where a line of
  /// the first row begins. Every other row is one group behind and takes one that stands before r8.
  void stream_late(const Xbyak::Reg64& rows, int stride);
  static constexpr int kLine = 64;
  /// What these two change with AVX-512; `late`: stream_late() is one of them.
  std::vector<int> registers(bool late) const;

 private:
  bool single() const { return machine_.target().precision == Precision::f32; }
  Xbyak::Xmm full(int r) const { return machine_.vector(r); }
  Xbyak::Xmm half(int r) const {
    return Xbyak::Xmm(machine_.is_wide() ? Xbyak::Operand::YMM : Xbyak::Operand::XMM, r);
  }
  void set_mask(int count);
  void load_half(int r, const Xbyak::RegExp& from, int count);
  void store_half(const Xbyak::RegExp& to, int r, int count);
  void unpack(int to, int a, int b, bool high, bool pairs);
  void write_narrow(const Xbyak::Reg64& rows, int stride, int first,
                    const std::vector<Source>& columns);
  void write_wide(const Xbyak::Reg64& rows, int stride, int first,
                  const std::vector<Source>& columns);
  void insert_high(int r, const Xbyak::Operand& half);
  void load_rows(const Xbyak::Reg64& rows, int stride, int first);
  void store_rows(const Xbyak::Reg64& rows, int stride, int first);
  void transpose();
  void load_group(int at);
  void stream_lines(const Xbyak::RegExp& row, int stride, int first, int second);

  // Registers: data in 0 .. 7, work from 8 on.
  static constexpr int kWork = 8;
  /// Groups that wait for the other half of their line.
  static constexpr int kKept = 20;
  Machine& machine_;
};

}  // namespace limb::codegen
