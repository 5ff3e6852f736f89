#include "limb/codegen/x64/stream/staged_stores.hpp"

#include <algorithm>

#include "limb/codegen/x64/result_writer.hpp"

namespace limb::codegen {

StagedStores::StagedStores(Machine& machine, StackFrame& frame, const std::vector<Array>& arrays)
    : machine_(machine), lines_(lines(arrays)), saved_(frame.allocate(kLine)) {
  for (const Array& array : arrays) {
    const int place = frame.allocate(kLine);
    for (int i = 0; i < array.size(); ++i) frame.allocate(kLine);
    rows_.push_back({array.size(), place, 0, 0});
  }
  for (Rows& x : rows_) {
    x.to = frame.allocate(8);
    x.target = frame.allocate(8);
  }
}

int StagedStores::lines(const std::vector<Array>& arrays) {
  int lines = 0;
  for (const Array& array : arrays) lines += array.size();
  return lines;
}

void StagedStores::begin() {
  Machine& m = machine_;
  m.xor_(m.r14d, m.r14d);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const Rows& x = rows_[k];
    Xbyak::Label direct;
    m.mov(m.rcx, m.ptr[m.rsi + static_cast<int>(8 * k)]);
    m.cmp(m.r13d, ResultWriter::kStream);
    m.jne(direct);
    m.mov(m.eax, m.ecx);
    m.and_(m.eax, kLine - 1);
    m.sub(m.rcx, m.rax);
    m.sub(m.rcx, kLine * x.size);  // one block before the first
    m.mov(m.ptr[m.slot(x.target)], m.rcx);
    m.lea(m.rcx, m.ptr[m.slot(x.place)]);
    m.add(m.rcx, m.rax);
    m.L(direct);
    m.mov(m.ptr[m.slot(x.to)], m.rcx);
  }
}

void StagedStores::copy_to(int end) {
  if (end <= copied_) return;
  Machine& m = machine_;
  Xbyak::Label none;
  m.test(m.r14d, m.r14d);
  m.jz(none, m.T_NEAR);
  if (copied_ == 0) m.call(first_lines_);
  int before = 0;
  for (const Rows& x : rows_) {
    // The first line of each array is copied already.
    const int first = std::max(1, copied_ - before), last = std::min(x.size, end - before);
    if (first < last) copy_lines(x, first, last - first);
    before += x.size;
  }
  m.L(none);
  copied_ = end;
}

void StagedStores::copy_lines(const Rows& x, int first, int count) {
  Machine& m = machine_;
  m.mov(m.rcx, m.ptr[m.slot(x.target)]);
  m.lea(m.rax, m.ptr[m.slot(x.place + kLine * first)]);
  m.add(m.rcx, kLine * first);
  m.call(copies_[count]);
}

void StagedStores::begin_rows() {
  Machine& m = machine_;
  copied_ = 0;
  for (const Rows& x : rows_) {
    m.vmovaps(m.zmm0, m.ptr[m.slot(x.place + kLine * x.size)]);
    m.vmovaps(m.ptr[m.slot(x.place)], m.zmm0);
  }
}

void StagedStores::point_at(int array) {
  const Rows& x = rows_[static_cast<std::size_t>(array)];
  machine_.mov(machine_.rcx, machine_.ptr[machine_.slot(x.to)]);
}

void StagedStores::end_rows() {
  Machine& m = machine_;
  Xbyak::Label direct, done;
  m.cmp(m.r13d, ResultWriter::kStream);
  m.jne(direct, m.T_NEAR);
  for (const Rows& x : rows_) m.add(m.qword[m.slot(x.target)], kLine * x.size);
  m.mov(m.r14d, 1);
  m.jmp(done, m.T_NEAR);
  m.L(direct);
  for (const Rows& x : rows_) m.add(m.qword[m.slot(x.to)], kLine * x.size);
  m.L(done);
}

/// k1: the bytes of a line before the first row.
void StagedStores::set_first_mask(const Rows& x) {
  Machine& m = machine_;
  m.push(m.rcx);
  m.mov(m.ecx, m.ptr[m.slot(x.to)]);
  m.mov(m.eax, 1);
  m.shl(m.rax, m.cl);  // by the lowest six bits
  m.dec(m.rax);
  m.kmovq(m.k1, m.rax);
  m.pop(m.rcx);
}

void StagedStores::copy_first_lines() {
  Machine& m = machine_;
  for (const Rows& x : rows_) {
    if (x.size == 0) continue;
    Xbyak::Label whole, done;
    m.mov(m.rcx, m.ptr[m.slot(x.target)]);
    m.vmovaps(m.zmm31, m.ptr[m.slot(x.place)]);
    m.cmp(m.r12, 1);
    m.jne(whole);
    set_first_mask(x);
    m.knotq(m.k1, m.k1);
    m.vmovdqu8(m.ptr[m.rcx] | m.k1, m.zmm31);
    m.jmp(done);
    m.L(whole);
    m.vmovntps(m.ptr[m.rcx], m.zmm31);
    m.L(done);
  }
}

void StagedStores::finish() {
  Machine& m = machine_;
  copied_ = 0;
  copy_to(lines());
  Xbyak::Label none;
  m.test(m.r14d, m.r14d);
  m.jz(none, m.T_NEAR);
  for (const Rows& x : rows_) {
    set_first_mask(x);
    m.mov(m.rcx, m.ptr[m.slot(x.target)]);
    m.vmovaps(m.zmm31, m.ptr[m.slot(x.place + kLine * x.size)]);
    m.vmovdqu8(m.ptr[m.rcx + kLine * x.size] | m.k1, m.zmm31);
  }
  m.L(none);
}

void StagedStores::write_routines() {
  Machine& m = machine_;
  const auto save = [&] { m.vmovaps(m.ptr[m.slot(saved_)], m.zmm31); };
  const auto restore = [&] { m.vmovaps(m.zmm31, m.ptr[m.slot(saved_)]); };
  m.L(first_lines_);
  save();
  copy_first_lines();
  restore();
  m.ret();
  for (auto& [count, label] : copies_) {
    // Four at a time, the remainder first.
    Xbyak::Label next;
    const int rest = count % 4;
    m.L(label);
    save();
    const auto copy = [&](int i) {
      m.vmovaps(m.zmm31, m.ptr[m.rax + kLine * i]);
      m.vmovntps(m.ptr[m.rcx + kLine * i], m.zmm31);
    };
    const auto add = [&](int lines) {
      m.add(m.rax, kLine * lines);
      m.add(m.rcx, kLine * lines);
    };
    for (int i = 0; i < rest; ++i) copy(i);
    if (count >= 4) {
      if (rest > 0) add(rest);
      m.push(m.rdx);
      m.lea(m.rdx, m.ptr[m.rax + kLine * (count - rest)]);
      m.L(next);
      for (int i = 0; i < 4; ++i) copy(i);
      add(4);
      m.cmp(m.rax, m.rdx);
      m.jb(next);
      m.pop(m.rdx);
    }
    restore();
    m.ret();
  }
}

}  // namespace limb::codegen
