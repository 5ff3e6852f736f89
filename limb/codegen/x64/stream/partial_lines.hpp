#pragma once

#include <span>

#include "limb/codegen/x64/register_writer.hpp"
#include "limb/codegen/x64/row_mover.hpp"

namespace limb::codegen {

/// The cache lines at the boundaries of rows, when the inner lines of rows are written by
/// non-temporal stores (AVX-512). A line with the end of a row and the beginning of the next would
/// be read from memory before each of the two partial writes. Instead both parts are assembled in a
/// buffer of the frame and written as whole lines by non-temporal stores. The end of a block is
/// kept there for the next block. Only the first and the last line of a call are written partially.
///
/// Inner lines are `steps` lines of each row, from the first line that begins in the row, plus one
/// line if rows are an odd number of half lines long, where every other row has them half a line
/// earlier.
///
/// r12 is the block; changes rax, rcx, r8, k1 and the registers of `mover`.
class PartialLines {
 public:
  using Source = RowMover::Source;
  /// @param size entries per row. @param half_lines rows are an odd number of half lines long.
  PartialLines(Machine& machine, StackFrame& frame, int size, bool half_lines, int steps);

  /// The remaining lines of the rows at rcx; the next line begins eax bytes later.
  void write(RowMover& mover, std::span<const Source> row);
  /// After all blocks: the last boundary, at rcx.
  void finish();

  /// Bytes of code for one array.
  static constexpr std::size_t kCode = 8192;

 private:
  static constexpr int kLine = RowMover::kLine, kHalf = kLine / 2;
  /// The lines of a boundary in the buffer, from `begin` to `end`.
  struct Boundary {
    int begin, end;
  };
  Boundary boundary(int row) const;
  /// Offset of the end of the boundary before a row from the first line of the array.
  int end_in_array(int row) const;
  Xbyak::Address in_buffer(int offset) const;
  void set_first_mask(const Xbyak::Reg32& bytes);
  void copy(int row, bool before, bool after);

  Machine& machine_;
  int size_, steps_, lead_, rows_, buffer_ = 0;
  bool half_lines_;
};

}  // namespace limb::codegen
