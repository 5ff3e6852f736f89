#include "limb/codegen/x64/stream/interleaved_stores.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

/// Steps per portion; registers are saved around each portion.
constexpr int kSteps = 16;
/// Lines copied at once.
constexpr int kLines = 64;

/// The instruction before which a result must have been read; constants are not overwritten.
std::vector<int> deadlines(const Code& code) {
  std::vector<int> all;
  const int end = static_cast<int>(code.instructions.size());
  for (const Array& array : code.outputs) {
    all.resize(all.size() + static_cast<std::size_t>(array.size()), end);
  }
  for (const Instruction& x : code.instructions) {
    if (x.opcode != Opcode::store) continue;
    const bool is_constant =
        code.instructions[static_cast<std::size_t>(x.a)].opcode == Opcode::constant;
    all[static_cast<std::size_t>(x.b)] = is_constant ? end : x.a;
  }
  return all;
}

}  // namespace

InterleavedStores::InterleavedStores(Machine& machine, StackFrame& frame, ResultWriter& results,
                                     const Code& code, const Split* split)
    : machine_(machine),
      results_(results),
      instructions_(static_cast<int>(code.instructions.size())) {
  if (split == nullptr) plan(code);
  for (std::size_t i = 0; !portions_.empty() && i < results.registers().size(); ++i) {
    saved_.push_back(frame.allocate(machine.target().bytes()));
  }
  const std::vector<Array>& arrays = split != nullptr ? split->outputs : code.outputs;
  bool is_long = false, can_stream = false;
  for (int k = 0; k < static_cast<int>(arrays.size()); ++k) {
    is_long = is_long || results.step_count(k) > 0;
    can_stream = can_stream || results.can_stream(k);
  }
  if (is_long && !can_stream && StagedStores::lines(arrays) <= StagedStores::kMaxLines) {
    staged_.emplace(machine, frame, arrays);
    results.set_staged(&*staged_);
  }
}

void InterleavedStores::plan(const Code& code) {
  const std::vector<int> before = deadlines(code);
  // A block that ends because angles are out of range leaves all portions of the previous block.
  int last_bound = 0;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].opcode == Opcode::bound) last_bound = static_cast<int>(i);
  }
  std::size_t start = 0;
  for (int k = 0; k < static_cast<int>(code.outputs.size()); ++k) {
    const int size = code.outputs[static_cast<std::size_t>(k)].size(),
              steps = results_.step_count(k);
    for (int i = 0; i < steps; i += kSteps) {
      DuePortion portion{{k, i, std::min(kSteps, steps - i)}, 0};
      const int last = std::min(results_.last_entry(k, i + portion.steps - 1), size - 1);
      const auto row = before.begin() + static_cast<std::ptrdiff_t>(start);
      portion.before = *std::min_element(row + results_.first_entry(k, i), row + last + 1);
      if (results_.can_stream(k) && portion.before > last_bound) {
        portions_.push_back(portion);
      } else {
        at_end_.push_back(portion);
      }
    }
    start += static_cast<std::size_t>(size);
  }
  std::stable_sort(portions_.begin(), portions_.end(),
                   [](const DuePortion& x, const DuePortion& y) { return x.before < y.before; });
  // Spread evenly, but not after their deadlines.
  const std::size_t count = portions_.size(), end = code.instructions.size();
  for (std::size_t i = 0; i < count; ++i) {
    portions_[i].before =
        std::min(portions_[i].before, static_cast<int>((2 * i + 1) * end / (2 * count)));
  }
}

void InterleavedStores::begin() {
  staged_ ? staged_->begin() : machine_.xor_(machine_.r14d, machine_.r14d);
}

void InterleavedStores::write(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  Machine& m = machine_;
  Xbyak::Label none;
  m.test(m.r14d, m.r14d);
  m.jz(none, m.T_NEAR);
  m.call(save_);
  for (std::size_t i = begin; i < end; ++i) results_.write_previous_block(portions_[i]);
  m.call(restore_);
  m.L(none);
}

void InterleavedStores::write_due(int instruction) {
  if (staged_) {
    const long lines = staged_->lines();
    const int due = static_cast<int>(lines * (instruction + 1) / instructions_);
    if (due / kLines > copied_ / kLines || due == lines) staged_->copy_to(copied_ = due);
    return;
  }
  const std::size_t begin = next_;
  while (next_ < portions_.size() && portions_[next_].before <= instruction) ++next_;
  write(begin, next_);
}

void InterleavedStores::end_block(const std::vector<RowMover::Source>& sources,
                                  const std::function<void()>& write_all) {
  Machine& m = machine_;
  if (staged_) {
    staged_->copy_to(staged_->lines());
    staged_->begin_rows();
    write_all();
    return staged_->end_rows();
  }
  write(next_, portions_.size());
  next_ = portions_.size();
  results_.begin_rows(sources);
  Xbyak::Label stream, done;
  m.cmp(m.r13d, ResultWriter::kStream);
  m.je(stream, m.T_NEAR);
  results_.write_portions();
  m.jmp(done, m.T_NEAR);
  m.L(stream);
  for (const auto& portion : at_end_) results_.write_portion(portion);
  m.mov(m.r14d, 1);
  m.L(done);
  results_.finish_rows();
}

void InterleavedStores::finish() {
  staged_ ? staged_->finish() : write(0, portions_.size());
}

void InterleavedStores::write_routines() {
  if (staged_) return staged_->write_routines();
  Machine& m = machine_;
  const std::vector<int> registers = results_.registers();
  m.L(save_);
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    m.store(m.ptr[m.slot(saved_[i])], registers[i]);
  }
  m.ret();
  m.L(restore_);
  for (std::size_t i = 0; i < saved_.size(); ++i) {
    m.load(registers[i], m.ptr[m.slot(saved_[i])]);
  }
  m.ret();
}

}  // namespace limb::codegen
