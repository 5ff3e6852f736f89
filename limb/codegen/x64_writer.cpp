// The instructions of RegisterWriter that are neither sums nor products.
#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/codegen/x64_registers.hpp"

namespace limb::codegen {

void RegisterWriter::write(Xbyak::Label& beyond) {
  const int count = static_cast<int>(code_.instructions.size());
  std::vector<Zeros> zeros;
  if (machine_.target().shape == Shape::one) zeros = find_zeros();
  // Few go first. Many would fill the queue of stores: they are spread over the code, which one
  // register less is left for.
  constexpr std::size_t kMany = 64;
  std::size_t done = 0;
  if (!zeros.empty()) machine_.clear(0);
  if (zeros.size() >= kMany) {
    reserved_ = 1;
  } else {
    while (done < zeros.size()) write_zeros(zeros[done++]);
  }
  for (int now = 0; now < count; ++now) {
    if (places_.between) places_.between(now);
    if (live_[static_cast<std::size_t>(now)] != 0) write_one(now, beyond);
    while (done * static_cast<std::size_t>(count) < zeros.size() * static_cast<std::size_t>(now)) {
      write_zeros(zeros[done++]);
    }
  }
  while (done < zeros.size()) write_zeros(zeros[done++]);
}

bool RegisterWriter::is_zero(int value) const {
  const Instruction& x = at(value);
  return x.act == Act::constant && code_.constants[static_cast<std::size_t>(x.a)] == 0;
}

/// Results that are zero, neighbours together.
std::vector<RegisterWriter::Zeros> RegisterWriter::find_zeros() const {
  std::vector<int> zeros;
  for (const Instruction& x : code_.instructions) {
    if (x.act == Act::store && is_zero(x.a)) zeros.push_back(x.b);
  }
  std::sort(zeros.begin(), zeros.end());
  std::vector<int> ends;  // of the arrays
  for (const Array& array : code_.outputs) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + array.size());
  }
  std::vector<Zeros> all;
  for (std::size_t k = 0; k < zeros.size();) {
    const int end = *std::upper_bound(ends.begin(), ends.end(), zeros[k]);
    int count = 1;
    while (count < 4 && k + static_cast<std::size_t>(count) < zeros.size() &&
           zeros[k] + count < end &&
           zeros[k + static_cast<std::size_t>(count)] == zeros[k] + count) {
      ++count;
    }
    if (count == 3) count = 2;
    all.push_back({zeros[k], count});
    k += static_cast<std::size_t>(count);
  }
  return all;
}

void RegisterWriter::write_zeros(const Zeros& zeros) {
  const Address to = places_.result(zeros.first);
  zeros.count == 4   ? machine_.vmovups(to, machine_.ymm0)
  : zeros.count == 2 ? machine_.vmovups(to, machine_.xmm0)
                     : machine_.vmovsd(to, machine_.xmm0);
  ++counts_.instructions;
  ++counts_.stores;
}

void RegisterWriter::write_one(int now, Xbyak::Label& beyond) {
  const Instruction& x = at(now);
  const Operands operands = operands_of(x);
  for (int k = 0; k < operands.count; ++k) {
    if (is_unread(operands.value[k])) read_group(operands.value[k], now, operands);
  }
  switch (x.act) {
    case Act::constant:
    case Act::input:
    case Act::lane:
    case Act::four_constants:
      return;  // in memory
    case Act::add:
    case Act::sub:
    case Act::mul:
    case Act::div:
      return write_arithmetic(now);
    case Act::fma:
    case Act::fms:
    case Act::fnma:
      return write_fused(now);
    case Act::neg:
    case Act::abs:
    case Act::sqrt:
    case Act::complement:
      return write_unary(now);
    case Act::less:
    case Act::less_equal:
    case Act::both:
    case Act::either:
    case Act::select:
    case Act::quadrant_choice:
    case Act::quadrant_sign:
      return write_bits(now);
    case Act::bound: {
      const int a = bring(x.a, now, {x.a});
      const int scratch = machine_.is_wide() ? 0 : free_register(now, {x.a});
      machine_.jump_beyond(a, code_.constants[static_cast<std::size_t>(at(x.b).a)], scratch, x.four,
                           beyond);
      ++counts_.instructions;
      release(x.a, now);
      return;
    }
    case Act::four_inputs: {
      const int to = free_register(now, {});
      machine_.load_four(to, places_.input_expression(x.a), x.b);
      return define(now, to, now);
    }
    case Act::four_values:
      return write_four_values(now);
    case Act::spread: {
      const int a = bring(x.a, now, {x.a});
      slots_[static_cast<std::size_t>(now)] = frame_.take(32);
      machine_.store(machine_.ptr[machine_.slot(slots_[static_cast<std::size_t>(now)])], a, true);
      ++counts_.instructions;
      ++counts_.stores;
      release(x.a, now);
      return;
    }
    case Act::store:
      return write_store(now);
    case Act::atan2:
    case Act::sine:
    case Act::cosine:
      throw Error("RegisterWriter: this code calls the C library; it must be interpreted");
  }
}

void RegisterWriter::write_unary(int now) {
  const Instruction& x = at(now);
  const int a = bring(x.a, now, {x.a});
  const int to = is_last_use(x.a, now) ? a : free_register(now, {x.a});
  switch (x.act) {
    case Act::neg:
      machine_.negate(to, a, x.four);
      break;
    case Act::abs:
      machine_.absolute(to, a, x.four);
      break;
    case Act::sqrt:
      machine_.square_root(to, a, x.four);
      break;
    default:
      machine_.complement(to, a, x.four);
  }
  release(x.a, now);
  define(now, to, now);
}

void RegisterWriter::write_bits(int now) {
  const Instruction& x = at(now);
  const bool three = x.act == Act::select || x.act == Act::quadrant_choice;
  const int third = three ? x.c : x.b;
  const int a = bring(x.a, now, {x.a, x.b, third});
  const int b = bring(x.b, now, {x.a, x.b, third});
  const int c = three ? bring(x.c, now, {x.a, x.b, third}) : -1;
  const int to = free_register(now, {x.a, x.b, third});
  switch (x.act) {
    case Act::select:
      machine_.select(to, a, b, c, x.four);
      break;
    case Act::quadrant_choice:
      machine_.quadrant_choice(to, a, b, c, tested_ == x.a, x.four);
      tested_ = x.a;
      break;
    case Act::quadrant_sign:
      machine_.quadrant_sign(to, a, b, x.c, x.four);
      break;
    case Act::both:
    case Act::either:
      machine_.combine(x.act, to, a, b, x.four);
      break;
    default:
      machine_.compare(x.act, to, a, b, x.four);
  }
  release(x.a, now);
  if (x.b != x.a) release(x.b, now);
  if (three && x.c != x.a && x.c != x.b) release(x.c, now);
  define(now, to, now);
}

/// Four values of one state each, side by side, through memory.
void RegisterWriter::write_four_values(int now) {
  const auto& group = code_.groups[static_cast<std::size_t>(at(now).a)];
  const int slot = frame_.take(32);
  for (int k = 0; k < 4; ++k) {
    const int value = group[static_cast<std::size_t>(k)];
    const int r = bring(value, now, {value});
    machine_.store(machine_.ptr[machine_.slot(slot + 8 * k)], r);
    ++counts_.instructions;
    ++counts_.stores;
  }
  for (const int value : group) release(value, now);
  const int to = free_register(now, {});
  machine_.load_four(to, machine_.slot(slot), 4);
  define(now, to, now);
}

void RegisterWriter::write_store(int now) {
  const Instruction& x = at(now);
  const std::size_t value = static_cast<std::size_t>(x.a);
  const bool in_lanes = machine_.target().shape == Shape::lanes;
  if (in_lanes ? at(x.a).act == Act::constant : is_zero(x.a)) return release(x.a, now);
  if (!in_lanes || results_[value] < 0) {
    const int r = bring(x.a, now, {x.a});
    if (in_lanes) {
      const bool spilled = slots_[value] >= 0;
      const bool own = (at(x.a).act != Act::input || places_.group) && at(x.a).act != Act::lane;
      results_[value] = spilled && own ? slots_[value] : frame_.take(machine_.target().bytes());
      if (own) slots_[value] = results_[value];
      if (!spilled || !own) machine_.store(machine_.ptr[machine_.slot(results_[value])], r);
    } else {
      machine_.store(places_.result(x.b), r);
    }
    ++counts_.instructions;
    ++counts_.stores;
  }
  release(x.a, now);
}

}  // namespace limb::codegen
