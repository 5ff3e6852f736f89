#pragma once

#include <span>

#include "limb/codegen/x64_registers.hpp"
#include "limb/codegen/x64_rows.hpp"

namespace limb::codegen {

/// Where the rows of an array meet, when their inner lines are written past the caches (AVX-512): a
/// line of the cache that holds the end of a row and the beginning of the next would be read from
/// memory before each of them could be written. So both are put together in a room of the frame,
/// and go past the caches as whole lines. The end of a block waits there for the next one. Only the
/// first and the last line of a call are written in part.
///
/// Inner lines are `steps` lines of each row, from the entry at the first line that begins in the
/// row, plus a line if rows are late (odd numbers of half lines long), where every other row has
/// them half a line earlier.
///
/// r12 is the block; rax, rcx, r8, k1 and the registers of `mover` are changed.
class RowSeams {
 public:
  using Source = RowMover::Source;
  /// @param size entries of a row.
  RowSeams(Machine& machine, Frame& frame, int size, bool late, int steps);

  /// What is left of the rows at rcx; eax bytes on, a line begins.
  void write(RowMover& mover, std::span<const Source> row);
  /// After all blocks: what waits for one more, at rcx.
  void finish();

  /// Bytes of code for one array.
  static constexpr std::size_t kCode = 8192;

 private:
  static constexpr int kLine = RowMover::kLine, kHalf = kLine / 2;
  /// Of a seam in the room: the lines from `begin` to `end` belong to it.
  struct Seam {
    int begin, end;
  };
  Seam seam(int row) const;
  /// From where a line begins in the first row to the end of the seam before a row, in the array.
  int end_in_array(int row) const;
  Xbyak::Address in_room(int place) const;
  void set_first(const Xbyak::Reg32& bytes);
  void copy(int row, bool before, bool after);

  Machine& machine_;
  int size_, steps_, lead_, rows_, room_ = 0;
  bool late_;
};

}  // namespace limb::codegen
