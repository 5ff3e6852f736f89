#pragma once

#include <map>
#include <vector>

#include "limb/codegen/x64/register_writer.hpp"

namespace limb::codegen {

/// Non-temporal stores of results whose rows have any alignment (AVX-512): the rows of a block are
/// written to a buffer in the frame, and its cache lines are copied to the array while the next
/// block is computed.
///
/// A block of an array is as many lines long as a row has entries. The buffer has the same
/// alignment as the array, so that whole lines are copied: the first line of a block begins with
/// the end of the previous block. Only the first and the last line of a call are written partially.
///
/// Calls, in this order: begin(); for each block copy_to() until all lines of the previous block
/// are copied, anywhere between other code; begin_rows(), rows at point_at(), end_rows(); after all
/// blocks finish(). Without streaming (r13d), rows are written to the array directly. rsi points to
/// the table of arrays, r12 is the block, r14 is nonzero if there is something to copy; changes
/// rax, rcx and k1.
class StagedStores {
 public:
  StagedStores(Machine& machine, StackFrame& frame, const std::vector<Array>& arrays);

  /// Lines of a block.
  static int lines(const std::vector<Array>& arrays);
  int lines() const { return lines_; }
  /// The largest number that fits into the caches with the other data of a block.
  static constexpr int kMaxLines = 1600;

  void begin();
  /// Copies the next lines, up to line `end` of the block.
  void copy_to(int end);
  void begin_rows();
  /// rcx = address of the rows of this block.
  void point_at(int array);
  void end_rows();
  /// Copies the rest of the last block.
  void finish();
  /// The routines that the others call; must follow a return.
  void write_routines();

 private:
  struct Rows {
    int size, place;  ///< lines of a block; their offset in the frame
    int to, target;   ///< offsets of pointers: to the rows, and to the array's lines
  };
  static constexpr int kLine = 64;
  void copy_first_lines();
  void copy_lines(const Rows& x, int first, int count);
  void set_first_mask(const Rows& x);

  Machine& machine_;
  std::vector<Rows> rows_;
  int lines_, copied_ = 0, saved_;
  Xbyak::Label first_lines_;
  std::map<int, Xbyak::Label> copies_;  ///< by the number of lines
};

}  // namespace limb::codegen
