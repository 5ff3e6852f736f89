#include "limb/codegen/x64/register_writer.hpp"

#include <algorithm>
#include <utility>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

RegisterWriter::RegisterWriter(Machine& machine, const Code& code, StackFrame& frame, Places places)
    : machine_(machine),
      code_(code),
      frame_(frame),
      places_(std::move(places)),
      address_(machine.ptr[machine.rbp]) {
  const std::size_t n = code.instructions.size();
  registers_.assign(n, -1);
  slots_.assign(n, -1);
  results_.assign(n, -1);
  value_in_register_.assign(index(machine.target().registers()), -1);
  find_uses();
  if (places_.before_instruction) {
    is_result_.assign(n, 0);
    for (const Instruction& x : code.instructions) {
      if (x.opcode == Opcode::store) is_result_[index(x.a)] = 1;
    }
  }
  if (!places_.group) return;
  was_read_.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (code.instructions[i].opcode != Opcode::input || live_[i] == 0) continue;
    const std::size_t input = index(code.instructions[i].a);
    if (value_of_input_.size() <= input) value_of_input_.resize(input + 1, -1);
    value_of_input_[input] = static_cast<int>(i);
  }
}

void RegisterWriter::find_uses() {
  const int n = static_cast<int>(code_.instructions.size());
  live_.assign(index(n), 0);
  const auto visit = [&](int i, const auto& use) {
    const Instruction& x = at(i);
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) use(operands.value[k]);
    if (x.opcode == Opcode::four_values) {
      for (const int value : code_.groups[index(x.a)]) use(value);
    }
    if (x.opcode == Opcode::lane) live_[index(x.a)] = 1;
  };
  std::vector<int> counts(index(n) + 1, 0);
  for (int i = n - 1; i >= 0; --i) {
    const Opcode opcode = at(i).opcode;
    if (opcode == Opcode::store || opcode == Opcode::bound) live_[index(i)] = 1;
    if (live_[index(i)] == 0) continue;
    visit(i, [&](int value) {
      live_[index(value)] = 1;
      ++counts[index(value)];
    });
  }
  // The uses of value v are uses_ from first_use_[v] to first_use_[v + 1], kNever at the end.
  first_use_.assign(index(n) + 1, 0);
  int total = 0;
  for (int v = 0; v < n; ++v) {
    first_use_[index(v)] = total;
    total += counts[index(v)] + 1;
  }
  uses_.assign(index(total), kNever);
  std::vector<int> fill(first_use_.begin(), first_use_.end() - 1);
  for (int i = 0; i < n; ++i) {
    if (live_[index(i)] == 0) continue;
    visit(i, [&](int value) { uses_[index(fill[index(value)]++)] = i; });
  }
}

bool RegisterWriter::has_memory(int value) const {
  switch (at(value).opcode) {
    case Opcode::input:
      return !places_.group || slots_[index(value)] >= 0;
    case Opcode::constant:
    case Opcode::lane:
    case Opcode::four_constants:
      return true;
    default:
      return slots_[index(value)] >= 0;
  }
}

RegisterWriter::Address RegisterWriter::memory_of(int value) {
  const Instruction& x = at(value);
  switch (x.opcode) {
    case Opcode::constant:
      return machine_.constant(code_.constants[index(x.a)], x.four);
    case Opcode::input:
      return places_.group ? machine_.ptr[machine_.slot(slots_[index(value)])] : places_.input(x.a);
    case Opcode::lane:
      return machine_.ptr[machine_.slot(slots_[index(x.a)] + 8 * x.b)];
    case Opcode::four_constants:
      return machine_.four_constants(code_.fours[index(x.a)]);
    default:
      return machine_.ptr[machine_.slot(slots_[index(value)])];
  }
}

int RegisterWriter::free_register(int now, std::span<const int> keep) {
  int best = -1;
  long best_distance = -1;
  for (std::size_t r = reserved_; r < value_in_register_.size(); ++r) {
    const int value = value_in_register_[r];
    if (value == kReserved) continue;
    if (value < 0) return static_cast<int>(r);
    if (std::find(keep.begin(), keep.end(), value) != keep.end()) continue;
    // Values that are in memory need no store: half the distance is enough.
    const long use = next_use(value, now - 1);
    const long distance = (has_memory(value) ? 2 : 1) * (use == kNever ? use : use - now);
    if (distance > best_distance) {
      best_distance = distance;
      best = static_cast<int>(r);
    }
  }
  if (best < 0) throw Error("RegisterWriter: more operands than registers");
  spill_register(best);
  return best;
}

/// Stores the value of the register to memory, unless it is there.
void RegisterWriter::spill_register(int r) {
  const int value = value_in_register_[index(r)];
  if (!has_memory(value)) {
    const bool four = at(value).four;
    std::vector<int>& free = four ? free_wide_slots_ : free_slots_;
    if (free.empty() || (!is_result_.empty() && is_result_[index(value)] != 0)) {
      slots_[index(value)] = frame_.allocate(four ? 32 : machine_.target().bytes());
    } else {
      slots_[index(value)] = free.back();
      free.pop_back();
    }
    machine_.store(machine_.ptr[machine_.slot(slots_[index(value)])], r, four);
    ++counts_.instructions;
    ++counts_.stores;
  }
  register_of(value) = -1;
  value_in_register_[index(r)] = -1;
}

bool RegisterWriter::is_unread(int value) const {
  return places_.group && at(value).opcode == Opcode::input && was_read_[index(value)] == 0;
}

/// Loads a group of arguments: rows l and l + 4 into the halves of a register, then two shuffles
/// per column.
void RegisterWriter::read_group(int value, int now, const Operands& operands) {
  Machine& m = machine_;
  const Group group = places_.group(at(value).a);
  constexpr int kWidth = 4;
  int r[6];
  for (int& taken : r) {
    taken = free_register(now, std::span<const int>(operands.value, std::size_t(operands.count)));
    value_in_register_[index(taken)] = kReserved;
  }
  const auto zmm = [&](int k) { return Xbyak::Zmm(r[k]); };
  const auto ymm = [&](int k) { return Xbyak::Ymm(r[k]); };
  if (group.count < kWidth) {
    m.mov(m.eax, (1 << group.count) - 1);
    m.kmovw(m.k2, m.eax);
  }
  const auto load = [&](int k, int row) {
    const auto place = [&](int l) {
      return m.ptr[group.rows + 8 * (l * group.stride + group.first)];
    };
    if (group.count == kWidth) {
      m.vmovupd(ymm(k), place(row));
      m.vinsertf64x4(zmm(k), zmm(k), place(row + kWidth), 1);
    } else {
      m.vmovupd(ymm(k) | m.k2 | m.T_z, place(row));
      m.vmovupd(ymm(5) | m.k2 | m.T_z, place(row + kWidth));
      m.vinsertf64x4(zmm(k), zmm(k), ymm(5), 1);
    }
  };
  load(0, 0);
  load(1, 1);
  m.vunpcklpd(zmm(4), zmm(0), zmm(1));
  m.vunpckhpd(zmm(1), zmm(0), zmm(1));
  load(0, 2);
  load(2, 3);
  m.vunpcklpd(zmm(3), zmm(0), zmm(2));
  m.vunpckhpd(zmm(2), zmm(0), zmm(2));
  m.interleave_quarters(r[0], r[3], r[4], r[3]);
  m.interleave_quarters(r[5], r[2], r[1], r[2]);
  counts_.instructions += 18;
  for (const int taken : r) value_in_register_[index(taken)] = -1;
  const int columns[] = {0, 5, 3, 2};
  for (int j = 0; j < group.count; ++j) {
    const std::size_t input = index(group.input + j);
    const int of = input < value_of_input_.size() ? value_of_input_[input] : -1;
    if (of < 0) continue;
    was_read_[index(of)] = 1;
    if (next_use(of, now - 1) == kNever) continue;
    register_of(of) = r[columns[j]];
    value_in_register_[index(r[columns[j]])] = of;
  }
}

int RegisterWriter::ensure_in_register(int value, int now, std::initializer_list<int> keep) {
  if (register_of(value) >= 0) return register_of(value);
  const int r = free_register(now, keep);
  const Instruction& x = at(value);
  if (x.opcode == Opcode::constant) {
    machine_.load_constant(r, code_.constants[index(x.a)], x.four);
  } else {
    machine_.load(r, memory_of(value), x.four);
  }
  ++counts_.instructions;
  ++counts_.loads;
  register_of(value) = r;
  value_in_register_[index(r)] = value;
  return r;
}

void RegisterWriter::load_if_used_soon(int value, int now, std::initializer_list<int> keep) {
  if (register_of(value) >= 0) return;
  const int next = next_use(value, now);
  if (next != kNever && next - now < kSoon) ensure_in_register(value, now, keep);
}

const Xbyak::Operand& RegisterWriter::operand(int value, bool four) {
  if (register_of(value) >= 0) {
    xmm_ = machine_.vector(register_of(value), four);
    return xmm_;
  }
  address_ = memory_of(value);
  return address_;
}

void RegisterWriter::drop(int value) {
  if (register_of(value) >= 0) {
    value_in_register_[index(register_of(value))] = -1;
    register_of(value) = -1;
  }
  const Opcode opcode = at(value).opcode;
  const bool has_slot = opcode != Opcode::constant && (opcode != Opcode::input || places_.group) &&
                        opcode != Opcode::lane && opcode != Opcode::spread &&
                        opcode != Opcode::four_constants;
  int& slot = slots_[index(value)];
  if (has_slot && slot >= 0) {
    if (results_[index(value)] < 0) {
      (at(value).four ? free_wide_slots_ : free_slots_).push_back(slot);
    }
    slot = -1;
  }
}

void RegisterWriter::release(int value, int now) {
  if (is_last_use(value, now)) drop(value);
}

void RegisterWriter::define(int value, int reg, int now) {
  register_of(value) = reg;
  value_in_register_[index(reg)] = value;
  ++counts_.instructions;
  release(value, now);
}

void RegisterWriter::write_arithmetic(int now) {
  const Instruction& x = at(now);
  int a = x.a, b = x.b;
  const bool commutes = x.opcode == Opcode::add || x.opcode == Opcode::mul;
  if (commutes && register_of(a) < 0 && register_of(b) >= 0) std::swap(a, b);
  ensure_in_register(a, now, {a, b});
  if (a != b) load_if_used_soon(b, now, {a, b});
  const int ra = register_of(a), rb = register_of(b);
  const bool a_ends = is_last_use(a, now), b_ends = is_last_use(b, now);
  int to = -1;
  if (a_ends) {
    to = ra;
  } else if (b_ends && rb >= 0) {
    to = rb;
  } else {
    to = free_register(now, {a, b});
  }
  machine_.arithmetic(x.opcode, to, ra, operand(b, x.four), x.four);
  release(a, now);
  if (a != b) release(b, now);
  define(now, to, now);
}

void RegisterWriter::write_fused(int now) {
  using FmaOrder = Machine::FmaOrder;
  const Instruction& i = at(now);
  int x = i.a, y = i.b;
  const int z = i.c;
  if (register_of(x) < 0 && register_of(y) >= 0) std::swap(x, y);
  load_if_used_soon(z, now, {x, y, z});
  if (x != y) load_if_used_soon(y, now, {x, y, z});
  const auto ends_here = [&](int v) {
    return register_of(v) >= 0 && is_last_use(v, now) && (v == x) + (v == y) + (v == z) == 1;
  };
  int to = -1;
  if (ends_here(z)) {
    ensure_in_register(x, now, {x, y, z});
    to = register_of(z);
    machine_.fused(i.opcode, FmaOrder::by231, to, register_of(x), operand(y, i.four), i.four);
  } else {
    // The register of a factor that is not used again is reused.
    const int factor = ends_here(x) ? x : ends_here(y) ? y : -1;
    const int other = factor == x ? y : x;
    if (factor >= 0 && register_of(other) >= 0) {
      to = register_of(factor);
      machine_.fused(i.opcode, FmaOrder::by213, to, register_of(other), operand(z, i.four), i.four);
    } else if (factor >= 0 && register_of(z) >= 0) {
      to = register_of(factor);
      machine_.fused(i.opcode, FmaOrder::by132, to, register_of(z), operand(other, i.four), i.four);
    } else {
      // A copy of the addend, from memory if it is there.
      ensure_in_register(x, now, {x, y, z});
      to = free_register(now, {x, y, z});
      if (register_of(z) >= 0) {
        machine_.copy(to, register_of(z), i.four);
      } else if (at(z).opcode == Opcode::constant) {
        machine_.load_constant(to, code_.constants[index(at(z).a)], i.four);
      } else {
        machine_.load(to, memory_of(z), i.four);
      }
      ++counts_.instructions;
      machine_.fused(i.opcode, FmaOrder::by231, to, register_of(x), operand(y, i.four), i.four);
    }
  }
  release(x, now);
  if (y != x) release(y, now);
  if (z != x && z != y) release(z, now);
  define(now, to, now);
}

void RegisterWriter::write(Xbyak::Label& out_of_range) {
  const int count = static_cast<int>(code_.instructions.size());
  std::vector<Zeros> zeros;
  if (machine_.target().shape == Shape::one) zeros = find_zeros();
  // A few are stored first. Many would fill the store queue: they are spread over the code, which
  // leaves one register less for it.
  constexpr std::size_t kMany = 64;
  std::size_t done = 0;
  if (!zeros.empty()) machine_.clear(0);
  if (zeros.size() >= kMany) {
    reserved_ = 1;
  } else {
    while (done < zeros.size()) write_zeros(zeros[done++]);
  }
  for (int now = 0; now < count; ++now) {
    if (places_.before_instruction) places_.before_instruction(now);
    if (live_[static_cast<std::size_t>(now)] != 0) write_instruction(now, out_of_range);
    while (done * static_cast<std::size_t>(count) < zeros.size() * static_cast<std::size_t>(now)) {
      write_zeros(zeros[done++]);
    }
  }
  while (done < zeros.size()) write_zeros(zeros[done++]);
}

bool RegisterWriter::is_zero(int value) const {
  const Instruction& x = at(value);
  return x.opcode == Opcode::constant && code_.constants[static_cast<std::size_t>(x.a)] == 0;
}

/// Results that are zero, adjacent ones together.
std::vector<RegisterWriter::Zeros> RegisterWriter::find_zeros() const {
  std::vector<int> zeros;
  for (const Instruction& x : code_.instructions) {
    if (x.opcode == Opcode::store && is_zero(x.a)) zeros.push_back(x.b);
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

void RegisterWriter::write_instruction(int now, Xbyak::Label& out_of_range) {
  const Instruction& x = at(now);
  const Operands operands = operands_of(x);
  for (int k = 0; k < operands.count; ++k) {
    if (is_unread(operands.value[k])) read_group(operands.value[k], now, operands);
  }
  switch (x.opcode) {
    case Opcode::constant:
    case Opcode::input:
    case Opcode::lane:
    case Opcode::four_constants:
      return;  // in memory
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::div:
      return write_arithmetic(now);
    case Opcode::fma:
    case Opcode::fms:
    case Opcode::fnma:
      return write_fused(now);
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::sqrt:
    case Opcode::complement:
      return write_unary(now);
    case Opcode::less:
    case Opcode::less_equal:
    case Opcode::both:
    case Opcode::either:
    case Opcode::select:
    case Opcode::quadrant_choice:
    case Opcode::quadrant_sign:
      return write_bits(now);
    case Opcode::bound: {
      const int a = ensure_in_register(x.a, now, {x.a});
      const int scratch = machine_.is_wide() ? 0 : free_register(now, {x.a});
      machine_.jump_if_out_of_range(a, code_.constants[static_cast<std::size_t>(at(x.b).a)],
                                    scratch, x.four, out_of_range);
      ++counts_.instructions;
      release(x.a, now);
      return;
    }
    case Opcode::four_inputs: {
      const int to = free_register(now, {});
      machine_.load_four(to, places_.input_expression(x.a), x.b);
      return define(now, to, now);
    }
    case Opcode::four_values:
      return write_four_values(now);
    case Opcode::spread: {
      const int a = ensure_in_register(x.a, now, {x.a});
      slots_[static_cast<std::size_t>(now)] = frame_.allocate(32);
      machine_.store(machine_.ptr[machine_.slot(slots_[static_cast<std::size_t>(now)])], a, true);
      ++counts_.instructions;
      ++counts_.stores;
      release(x.a, now);
      return;
    }
    case Opcode::store:
      return write_store(now);
    case Opcode::atan2:
    case Opcode::sine:
    case Opcode::cosine:
      throw Error("RegisterWriter: this code calls the C library; it must be interpreted");
  }
}

void RegisterWriter::write_unary(int now) {
  const Instruction& x = at(now);
  const int a = ensure_in_register(x.a, now, {x.a});
  const int to = is_last_use(x.a, now) ? a : free_register(now, {x.a});
  switch (x.opcode) {
    case Opcode::neg:
      machine_.negate(to, a, x.four);
      break;
    case Opcode::abs:
      machine_.absolute(to, a, x.four);
      break;
    case Opcode::sqrt:
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
  const bool three = x.opcode == Opcode::select || x.opcode == Opcode::quadrant_choice;
  const int third = three ? x.c : x.b;
  const int a = ensure_in_register(x.a, now, {x.a, x.b, third});
  const int b = ensure_in_register(x.b, now, {x.a, x.b, third});
  const int c = three ? ensure_in_register(x.c, now, {x.a, x.b, third}) : -1;
  const int to = free_register(now, {x.a, x.b, third});
  switch (x.opcode) {
    case Opcode::select:
      machine_.select(to, a, b, c, x.four);
      break;
    case Opcode::quadrant_choice:
      machine_.quadrant_choice(to, a, b, c, tested_ == x.a, x.four);
      tested_ = x.a;
      break;
    case Opcode::quadrant_sign:
      machine_.quadrant_sign(to, a, b, x.c, x.four);
      break;
    case Opcode::both:
    case Opcode::either:
      machine_.combine(x.opcode, to, a, b, x.four);
      break;
    default:
      machine_.compare(x.opcode, to, a, b, x.four);
  }
  release(x.a, now);
  if (x.b != x.a) release(x.b, now);
  if (three && x.c != x.a && x.c != x.b) release(x.c, now);
  define(now, to, now);
}

/// Gathers four values into one register, through memory.
void RegisterWriter::write_four_values(int now) {
  const auto& group = code_.groups[static_cast<std::size_t>(at(now).a)];
  const int slot = frame_.allocate(32);
  for (int k = 0; k < 4; ++k) {
    const int value = group[static_cast<std::size_t>(k)];
    const int r = ensure_in_register(value, now, {value});
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
  if (in_lanes ? at(x.a).opcode == Opcode::constant : is_zero(x.a)) return release(x.a, now);
  if (!in_lanes || results_[value] < 0) {
    const int r = ensure_in_register(x.a, now, {x.a});
    if (in_lanes) {
      const bool spilled = slots_[value] >= 0;
      const bool has_slot =
          (at(x.a).opcode != Opcode::input || places_.group) && at(x.a).opcode != Opcode::lane;
      results_[value] =
          spilled && has_slot ? slots_[value] : frame_.allocate(machine_.target().bytes());
      if (has_slot) slots_[value] = results_[value];
      if (!spilled || !has_slot) machine_.store(machine_.ptr[machine_.slot(results_[value])], r);
    } else {
      machine_.store(places_.result(x.b), r);
    }
    ++counts_.instructions;
    ++counts_.stores;
  }
  release(x.a, now);
}

}  // namespace limb::codegen
