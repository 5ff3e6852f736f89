#include "limb/codegen/x64_seams.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

// In the room, with space between seams for columns that are written there in vain.
constexpr int kFirstEnd = 320;                      ///< end of the seam before row 0
constexpr int kStep = 320, kLateStep = kStep + 32;  ///< from a seam to the next

}  // namespace

RowSeams::RowSeams(Machine& machine, Frame& frame, int size, bool late, int steps)
    : machine_(machine),
      size_(size),
      steps_(steps),
      lead_(late ? kLine : 0),
      rows_(machine.target().lanes()),
      late_(late) {
  const int bytes = kFirstEnd + (rows_ + 1) * kLateStep;
  room_ = frame.take(kLine);
  for (int taken = kLine; taken < bytes; taken += kLine) frame.take(kLine);
}

/// Even rows of late ones have three lines between inner lines, odd ones two; others have one.
RowSeams::Seam RowSeams::seam(int row) const {
  const bool odd = late_ && row % 2 == 1;
  const int end = kFirstEnd + row * (late_ ? kLateStep : kStep) - (odd ? kHalf : 0);
  return {end - kLine * (!late_ ? 1 : odd ? 2 : 3), end};
}

int RowSeams::end_in_array(int row) const {
  return row * size_ * machine_.target().scalar_bytes() + lead_ -
         (late_ && row % 2 == 1 ? kHalf : 0);
}

Xbyak::Address RowSeams::in_room(int place) const {
  return machine_.ptr[machine_.slot(room_ + place)];
}

void RowSeams::write(RowMover& mover, std::span<const Source> row) {
  Machine& m = machine_;
  const int bytes = m.target().scalar_bytes(), step = 2 * mover.columns();
  // What waits there from the block before.
  const Seam last = seam(rows_), first = seam(0);
  for (int at = last.begin; at < last.end; at += kLine) {
    m.vmovaps(m.zmm0, in_room(at));
    m.vmovaps(in_room(at - last.begin + first.begin), m.zmm0);
  }
  // Heads and tails, some columns more than there may be: they fall between seams.
  const int stride = (late_ ? kLateStep : kStep) / bytes, lead = lead_ / bytes;
  const int head = lead + 3 * mover.columns() / 2;
  const int tail = lead + steps_ * step - (late_ ? mover.columns() : 0);
  const int tail_at = stride - (late_ ? 6 : 2) * mover.columns();
  const auto put = [&](int begin, int end, int at) {
    for (int j = begin; j < end; j += step) {
      mover.write(m.rcx, stride, at + j - begin,
                  {row.begin() + j, row.begin() + std::min(end, j + step)});
    }
  };
  m.add(m.rcx, m.rax);
  m.push(m.rcx);
  m.push(m.rax);
  m.lea(m.rcx, in_room(kFirstEnd));
  m.sub(m.rcx, m.rax);
  put(0, head, -lead);
  put(tail, size_, tail_at);
  m.pop(m.rax);
  m.pop(m.rcx);
  // As whole lines; of the first row of a call only what belongs to it.
  Xbyak::Label inner, done;
  m.test(m.r12, m.r12);
  m.jnz(inner, m.T_NEAR);
  set_first(m.eax);
  m.knotw(m.k1, m.k1);
  copy(0, false, true);
  m.jmp(done, m.T_NEAR);
  m.L(inner);
  copy(0, true, true);
  m.L(done);
  for (int r = 1; r < rows_; ++r) copy(r, true, true);
}

void RowSeams::finish() {
  Machine& m = machine_;
  set_first(m.eax);
  m.add(m.rcx, m.rax);
  copy(rows_, true, false);
}

/// k1: all but the last `bytes` of a line.
void RowSeams::set_first(const Xbyak::Reg32& bytes) {
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

/// The seam before a row, to the array whose first line begins at rcx. The line before rcx is where
/// a call begins and ends: without what is before or after it, by the mask in k1.
void RowSeams::copy(int row, bool before, bool after) {
  Machine& m = machine_;
  const Seam s = seam(row);
  // What a call ends with is the beginning of one more block.
  const int end = end_in_array(row < rows_ ? row : 0);
  for (int at = s.begin; at < s.end; at += kLine) {
    const int to = end - (s.end - at);
    const bool shared = row % rows_ == 0 && to == -kLine && !(before && after);
    if ((row % rows_ == 0 && to < -kLine && !before) || (to >= 0 && !after)) continue;
    m.vmovaps(m.zmm0, in_room(at));
    if (shared) {
      m.vmovups(m.ptr[m.rcx + to] | m.k1, m.zmm0);
    } else {
      m.vmovntps(m.ptr[m.rcx + to], m.zmm0);
    }
  }
}

}  // namespace limb::codegen
