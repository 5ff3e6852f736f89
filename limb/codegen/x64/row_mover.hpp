#pragma once

#include <functional>
#include <vector>

#include "limb/codegen/x64/machine.hpp"

namespace limb::codegen {

/// Moves blocks of rows (one state per row, as callers store them) to lanes (one state per lane)
/// and back, by transposing in registers, after Machine::set_quarters().
///
/// A register has entries of two rows: row l in its lower half, row l + W/2 in its upper half (W
/// lanes), which is loaded from memory. W/2 registers become W/2 columns with two shuffles each,
/// and the same shuffles transpose back.
class RowMover {
 public:
  explicit RowMover(Machine& machine) : machine_(machine) {}

  /// From this number of groups of columns on, rows are moved in a loop: shorter code.
  static constexpr int kLoopFrom = 8;

  /// rcx = address of block r12 of an array with `size` entries per row; changes rax.
  void point_at(const Xbyak::Reg64& table, int array, int size);

  /// The largest number of columns for one call.
  int columns() const { return machine_.target().lanes() / 2; }

  /// Columns [first, first + count) of the block of rows at `rows`, `stride` entries per row, to
  /// slots of the frame.
  void read(const Xbyak::Reg64& rows, int stride, int first, int count,
            const std::function<int(int column)>& place);

  /// A column to be written: a slot of the frame, or a constant (place -1).
  struct Source {
    int place = -1;
    double constant = 0;
    bool is_zero() const { return place < 0 && constant == 0; }
  };
  /// The reverse, for up to 2 columns() columns.
  void write(const Xbyak::Reg64& rows, int stride, int first, const std::vector<Source>& columns);
  /// A loop over `groups` of columns() columns each, from column 0 on, to consecutive slots from
  /// `place` on. Changes `rows`, r8 and r9.
  void read_groups(const Xbyak::Reg64& rows, int stride, int groups, int place);
  /// The reverse, 2 columns() columns at a time: the table of slots is from r8 to r9, the frame at
  /// r10.
  /// @param stream by non-temporal stores; all rows must then begin with a cache line.
  void write_loop(const Xbyak::Reg64& rows, int stride, bool stream);
  /// The same by non-temporal stores where rows are an odd number of half lines long, from the
  /// start of a line in the first row. Every other row starts half a line earlier, with the group
  /// before r8.
  void stream_half_lines(const Xbyak::Reg64& rows, int stride);
  static constexpr int kLine = 64;
  /// The registers that write_loop() changes with AVX-512, with `half_lines` also those of
  /// stream_half_lines().
  std::vector<int> registers(bool half_lines) const;

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

  // Registers: data in 0 to 7, scratch from 8 on.
  static constexpr int kWork = 8;
  /// Groups kept until the other half of their line is there.
  static constexpr int kKept = 20;
  Machine& machine_;
};

}  // namespace limb::codegen
