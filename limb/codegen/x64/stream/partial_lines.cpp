#include "limb/codegen/x64/stream/partial_lines.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

// Offsets in the buffer, with gaps between boundaries for surplus columns.
constexpr int kFirstEnd = 320;                          ///< end of the boundary before row 0
constexpr int kStep = 320, kHalfLineStep = kStep + 32;  ///< from one boundary to the next

}  // namespace

PartialLines::PartialLines(Machine& machine, StackFrame& frame, int size, bool half_lines,
                           int steps)
    : machine_(machine),
      size_(size),
      steps_(steps),
      lead_(half_lines ? kLine : 0),
      rows_(machine.target().lanes()),
      half_lines_(half_lines) {
  const int bytes = kFirstEnd + (rows_ + 1) * kHalfLineStep;
  buffer_ = frame.allocate(kLine);
  for (int size_so_far = kLine; size_so_far < bytes; size_so_far += kLine) frame.allocate(kLine);
}

/// With half lines there are three lines between the inner lines before even rows, and two before
/// odd rows; otherwise one.
PartialLines::Boundary PartialLines::boundary(int row) const {
  const bool odd = half_lines_ && row % 2 == 1;
  const int end = kFirstEnd + row * (half_lines_ ? kHalfLineStep : kStep) - (odd ? kHalf : 0);
  return {end - kLine * (!half_lines_ ? 1 : odd ? 2 : 3), end};
}

int PartialLines::end_in_array(int row) const {
  return row * size_ * machine_.target().scalar_bytes() + lead_ -
         (half_lines_ && row % 2 == 1 ? kHalf : 0);
}

Xbyak::Address PartialLines::in_buffer(int offset) const {
  return machine_.ptr[machine_.slot(buffer_ + offset)];
}

void PartialLines::write(RowMover& mover, std::span<const Source> row) {
  Machine& m = machine_;
  const int bytes = m.target().scalar_bytes(), step = 2 * mover.columns();
  // The last boundary of the previous block becomes the first.
  const Boundary last = boundary(rows_), first = boundary(0);
  for (int at = last.begin; at < last.end; at += kLine) {
    m.vmovaps(m.zmm0, in_buffer(at));
    m.vmovaps(in_buffer(at - last.begin + first.begin), m.zmm0);
  }
  // Heads and tails, with some surplus columns, which fall between boundaries.
  const int stride = (half_lines_ ? kHalfLineStep : kStep) / bytes, lead = lead_ / bytes;
  const int head = lead + 3 * mover.columns() / 2;
  const int tail = lead + steps_ * step - (half_lines_ ? mover.columns() : 0);
  const int tail_at = stride - (half_lines_ ? 6 : 2) * mover.columns();
  const auto put = [&](int begin, int end, int at) {
    for (int j = begin; j < end; j += step) {
      mover.write(m.rcx, stride, at + j - begin,
                  {row.begin() + j, row.begin() + std::min(end, j + step)});
    }
  };
  m.add(m.rcx, m.rax);
  m.push(m.rcx);
  m.push(m.rax);
  m.lea(m.rcx, in_buffer(kFirstEnd));
  m.sub(m.rcx, m.rax);
  put(0, head, -lead);
  put(tail, size_, tail_at);
  m.pop(m.rax);
  m.pop(m.rcx);
  // Whole lines; for the first row of a call only what belongs to it.
  Xbyak::Label inner, done;
  m.test(m.r12, m.r12);
  m.jnz(inner, m.T_NEAR);
  set_first_mask(m.eax);
  m.knotw(m.k1, m.k1);
  copy(0, false, true);
  m.jmp(done, m.T_NEAR);
  m.L(inner);
  copy(0, true, true);
  m.L(done);
  for (int r = 1; r < rows_; ++r) copy(r, true, true);
}

void PartialLines::finish() {
  Machine& m = machine_;
  set_first_mask(m.eax);
  m.add(m.rcx, m.rax);
  copy(rows_, true, false);
}

/// k1: all but the last `bytes` of a line.
void PartialLines::set_first_mask(const Xbyak::Reg32& bytes) {
  Machine& m = machine_;
  m.mov(m.r8d, bytes);
  m.shr(m.r8d, 2);
  m.push(m.rcx);
  m.mov(m.ecx, m.r8d);
  m.mov(m.r8d, 0xffff);
  m.shr(m.r8d, m.cl);
  m.pop(m.rcx);
  m.kmovw(m.k1, m.r8d);
}

/// Copies the boundary before a row to the array whose first line begins at rcx. In the line before
/// rcx a call begins and ends: there the mask in k1 excludes bytes outside the array.
void PartialLines::copy(int row, bool before, bool after) {
  Machine& m = machine_;
  const Boundary s = boundary(row);
  // The end of a call is the beginning of one more block.
  const int end = end_in_array(row < rows_ ? row : 0);
  for (int at = s.begin; at < s.end; at += kLine) {
    const int to = end - (s.end - at);
    const bool shared = row % rows_ == 0 && to == -kLine && !(before && after);
    if ((row % rows_ == 0 && to < -kLine && !before) || (to >= 0 && !after)) continue;
    m.vmovaps(m.zmm0, in_buffer(at));
    if (shared) {
      m.vmovups(m.ptr[m.rcx + to] | m.k1, m.zmm0);
    } else {
      m.vmovntps(m.ptr[m.rcx + to], m.zmm0);
    }
  }
}

}  // namespace limb::codegen
