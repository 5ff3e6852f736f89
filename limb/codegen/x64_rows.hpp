#pragma once

#include <functional>
#include <vector>

#include "limb/codegen/x64_machine.hpp"

namespace limb::codegen {

/// Moves blocks of rows (one state a row, as callers store them) to lanes (one state a lane) and
/// back: squares of as many rows and columns as a register has lanes are transposed in registers.
class RowMover {
 public:
  explicit RowMover(Machine& machine) : machine_(machine) {}

  /// Columns [first, first + count) of the block of rows at `rows`, `stride` entries a row, to
  /// places of the frame.
  void read(const Xbyak::Reg64& rows, int stride, int first, int count,
            const std::function<int(int column)>& place);

  /// A column to be written: a place of the frame, or a constant (place -1).
  struct Source {
    int place = -1;
    double constant = 0;
  };
  /// The other way.
  void write(const Xbyak::Reg64& rows, int stride, int first, const std::vector<Source>& columns);

 private:
  int lanes() const { return machine_.target().lanes(); }
  bool single() const { return machine_.target().precision == Precision::f32; }
  Xbyak::Xmm reg(int r) const { return machine_.vector(r); }
  void load_row(int r, const Xbyak::RegExp& from, int count);
  void store_row(const Xbyak::RegExp& to, int r, int count);
  void set_mask(int count);
  void unpack(int to, int a, int b, bool high, bool pairs);
  std::vector<int> transpose(std::vector<int> rows, int wanted);
  void transpose_quarters(const std::vector<int>& in, std::vector<int>& out, int step, int wanted);

  Machine& machine_;
  std::vector<int> free_;  ///< registers
};

}  // namespace limb::codegen
