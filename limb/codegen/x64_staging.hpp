#pragma once

#include <map>
#include <vector>

#include "limb/codegen/x64_registers.hpp"

namespace limb::codegen {

/// Results whose rows begin anywhere in a line of the cache, on their way past the caches
/// (AVX-512): the rows of a block are put side by side into a room of the frame, and its lines are
/// copied to the array while the next block is computed.
///
/// A block of an array is as many lines long as a row has entries, and the room has it at the same
/// place of a line as the array, so that lines go as they are: the first line of a block begins
/// with the end of the block before. Only the first and the last line of a call are written in
/// part.
///
/// Calls, in this order: begin(); for each block copy() until all lines of the block before are
/// copied, anywhere between other work; begin_rows(), rows where point_at() says, end_rows(); after
/// all of them finish(). Where results do not go past the caches (r13d), rows are written to
/// the array at once. rsi points to the table of arrays, r12 is the block, r14 says whether there
/// is something to copy; rax, rcx and k1 are changed.
class StagedRows {
 public:
  StagedRows(Machine& machine, Frame& frame, const std::vector<Array>& arrays);

  /// Lines of a block.
  static int lines(const std::vector<Array>& arrays);
  int lines() const { return lines_; }
  /// So many fit into the caches with all that a block needs.
  static constexpr int kMost = 1600;

  void begin();
  /// The next lines, up to so many of the block.
  void copy_to(int end);
  void begin_rows();
  /// rcx = where the rows of this block begin.
  void point_at(int array);
  void end_rows();
  /// What is left of the last block.
  void finish();
  /// What the others call; where no other code runs into it.
  void write_routines();

 private:
  struct Rows {
    int size, place;  ///< lines of a block; where they lie in the frame
    int to, target;   ///< places of pointers: to the rows, and to the array's lines
  };
  static constexpr int kLine = 64;
  void copy_first_lines();
  void copy_lines(const Rows& x, int first, int count);
  void set_first(const Rows& x);

  Machine& machine_;
  std::vector<Rows> rows_;
  int lines_, copied_ = 0, saved_;
  Xbyak::Label first_lines_;
  std::map<int, Xbyak::Label> copies_;  ///< by the number of lines
};

}  // namespace limb::codegen
