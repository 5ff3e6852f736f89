#include "limb/codegen/x64_registers.hpp"

#include <algorithm>
#include <utility>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

RegisterWriter::RegisterWriter(Machine& machine, const Code& code, Frame& frame, Places places)
    : machine_(machine),
      code_(code),
      frame_(frame),
      places_(std::move(places)),
      address_(machine.ptr[machine.rbp]) {
  const std::size_t n = code.instructions.size();
  registers_.assign(n, -1);
  slots_.assign(n, -1);
  results_.assign(n, -1);
  held_.assign(index(machine.target().registers()), -1);
  find_uses();
  if (places_.between) {
    is_result_.assign(n, 0);
    for (const Instruction& x : code.instructions) {
      if (x.act == Act::store) is_result_[index(x.a)] = 1;
    }
  }
  if (!places_.group) return;
  was_read_.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (code.instructions[i].act != Act::input || live_[i] == 0) continue;
    const std::size_t input = index(code.instructions[i].a);
    if (of_input_.size() <= input) of_input_.resize(input + 1, -1);
    of_input_[input] = static_cast<int>(i);
  }
}

void RegisterWriter::find_uses() {
  const int n = static_cast<int>(code_.instructions.size());
  live_.assign(index(n), 0);
  const auto visit = [&](int i, const auto& use) {
    const Instruction& x = at(i);
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) use(operands.value[k]);
    if (x.act == Act::four_values) {
      for (const int value : code_.groups[index(x.a)]) use(value);
    }
    if (x.act == Act::lane) live_[index(x.a)] = 1;
  };
  std::vector<int> counts(index(n) + 1, 0);
  for (int i = n - 1; i >= 0; --i) {
    const Act act = at(i).act;
    if (act == Act::store || act == Act::bound) live_[index(i)] = 1;
    if (live_[index(i)] == 0) continue;
    visit(i, [&](int value) {
      live_[index(value)] = 1;
      ++counts[index(value)];
    });
  }
  // The uses of value v stand in uses_ from first_use_[v] to first_use_[v + 1], a -1 at the end.
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
  switch (at(value).act) {
    case Act::input:
      return !places_.group || slots_[index(value)] >= 0;
    case Act::constant:
    case Act::lane:
    case Act::four_constants:
      return true;
    default:
      return slots_[index(value)] >= 0;
  }
}

RegisterWriter::Address RegisterWriter::memory_of(int value) {
  const Instruction& x = at(value);
  switch (x.act) {
    case Act::constant:
      return machine_.constant(code_.constants[index(x.a)], x.four);
    case Act::input:
      return places_.group ? machine_.ptr[machine_.slot(slots_[index(value)])] : places_.input(x.a);
    case Act::lane:
      return machine_.ptr[machine_.slot(slots_[index(x.a)] + 8 * x.b)];
    case Act::four_constants:
      return machine_.four_constants(code_.fours[index(x.a)]);
    default:
      return machine_.ptr[machine_.slot(slots_[index(value)])];
  }
}

int RegisterWriter::free_register(int now, std::span<const int> keep) {
  int best = -1;
  long best_distance = -1;
  for (std::size_t r = reserved_; r < held_.size(); ++r) {
    const int value = held_[r];
    if (value == kTaken) continue;
    if (value < 0) return static_cast<int>(r);
    if (std::find(keep.begin(), keep.end(), value) != keep.end()) continue;
    // What lies in memory already costs no store: it may be needed in half the time.
    const long use = next_use(value, now - 1);
    const long distance = (has_memory(value) ? 2 : 1) * (use == kNever ? use : use - now);
    if (distance > best_distance) {
      best_distance = distance;
      best = static_cast<int>(r);
    }
  }
  if (best < 0) throw Error("RegisterWriter: more operands than registers");
  leave_register(best);
  return best;
}

/// What the register holds goes to memory.
void RegisterWriter::leave_register(int r) {
  const int value = held_[index(r)];
  if (!has_memory(value)) {
    const bool four = at(value).four;
    std::vector<int>& free = four ? free_wide_slots_ : free_slots_;
    if (free.empty() || (!is_result_.empty() && is_result_[index(value)] != 0)) {
      slots_[index(value)] = frame_.take(four ? 32 : machine_.target().bytes());
    } else {
      slots_[index(value)] = free.back();
      free.pop_back();
    }
    machine_.store(machine_.ptr[machine_.slot(slots_[index(value)])], r, four);
    ++counts_.instructions;
    ++counts_.stores;
  }
  register_of(value) = -1;
  held_[index(r)] = -1;
}

bool RegisterWriter::is_unread(int value) const {
  return places_.group && at(value).act == Act::input && was_read_[index(value)] == 0;
}

/// Reads a group of arguments: rows l and l + 4 in the halves of a register, from which two
/// shuffles each make columns.
void RegisterWriter::read_group(int value, int now, const Operands& operands) {
  Machine& m = machine_;
  const Group group = places_.group(at(value).a);
  constexpr int kWidth = 4;
  int r[6];
  for (int& taken : r) {
    taken = free_register(now, std::span<const int>(operands.value, std::size_t(operands.count)));
    held_[index(taken)] = kTaken;
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
  m.weave_quarters(r[0], r[3], r[4], r[3]);
  m.weave_quarters(r[5], r[2], r[1], r[2]);
  counts_.instructions += 18;
  for (const int taken : r) held_[index(taken)] = -1;
  const int columns[] = {0, 5, 3, 2};
  for (int j = 0; j < group.count; ++j) {
    const std::size_t input = index(group.input + j);
    const int of = input < of_input_.size() ? of_input_[input] : -1;
    if (of < 0) continue;
    was_read_[index(of)] = 1;
    if (next_use(of, now - 1) == kNever) continue;
    register_of(of) = r[columns[j]];
    held_[index(r[columns[j]])] = of;
  }
}

int RegisterWriter::bring(int value, int now, std::initializer_list<int> keep) {
  if (register_of(value) >= 0) return register_of(value);
  const int r = free_register(now, keep);
  const Instruction& x = at(value);
  if (x.act == Act::constant) {
    machine_.load_constant(r, code_.constants[index(x.a)], x.four);
  } else {
    machine_.load(r, memory_of(value), x.four);
  }
  ++counts_.instructions;
  ++counts_.loads;
  register_of(value) = r;
  held_[index(r)] = value;
  return r;
}

void RegisterWriter::bring_if_soon(int value, int now, std::initializer_list<int> keep) {
  if (register_of(value) >= 0) return;
  const int next = next_use(value, now);
  if (next != kNever && next - now < kSoon) bring(value, now, keep);
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
    held_[index(register_of(value))] = -1;
    register_of(value) = -1;
  }
  const Act act = at(value).act;
  const bool own = act != Act::constant && (act != Act::input || places_.group) &&
                   act != Act::lane && act != Act::spread && act != Act::four_constants;
  int& slot = slots_[index(value)];
  if (own && slot >= 0) {
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
  held_[index(reg)] = value;
  ++counts_.instructions;
  release(value, now);
}

void RegisterWriter::write_arithmetic(int now) {
  const Instruction& x = at(now);
  int a = x.a, b = x.b;
  const bool commutes = x.act == Act::add || x.act == Act::mul;
  if (commutes && register_of(a) < 0 && register_of(b) >= 0) std::swap(a, b);
  bring(a, now, {a, b});
  if (a != b) bring_if_soon(b, now, {a, b});
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
  machine_.arithmetic(x.act, to, ra, operand(b, x.four), x.four);
  release(a, now);
  if (a != b) release(b, now);
  define(now, to, now);
}

void RegisterWriter::write_fused(int now) {
  using Form = Machine::Form;
  const Instruction& i = at(now);
  int x = i.a, y = i.b;
  const int z = i.c;
  if (register_of(x) < 0 && register_of(y) >= 0) std::swap(x, y);
  bring_if_soon(z, now, {x, y, z});
  if (x != y) bring_if_soon(y, now, {x, y, z});
  const auto ends_alone = [&](int v) {
    return register_of(v) >= 0 && is_last_use(v, now) && (v == x) + (v == y) + (v == z) == 1;
  };
  int to = -1;
  if (ends_alone(z)) {
    bring(x, now, {x, y, z});
    to = register_of(z);
    machine_.fused(i.act, Form::by231, to, register_of(x), operand(y, i.four), i.four);
  } else {
    // A factor that ends here gives its register.
    const int factor = ends_alone(x) ? x : ends_alone(y) ? y : -1;
    const int other = factor == x ? y : x;
    if (factor >= 0 && register_of(other) >= 0) {
      to = register_of(factor);
      machine_.fused(i.act, Form::by213, to, register_of(other), operand(z, i.four), i.four);
    } else if (factor >= 0 && register_of(z) >= 0) {
      to = register_of(factor);
      machine_.fused(i.act, Form::by132, to, register_of(z), operand(other, i.four), i.four);
    } else {
      // A copy of the sum's other part, from memory if it lies there.
      bring(x, now, {x, y, z});
      to = free_register(now, {x, y, z});
      if (register_of(z) >= 0) {
        machine_.copy(to, register_of(z), i.four);
      } else if (at(z).act == Act::constant) {
        machine_.load_constant(to, code_.constants[index(at(z).a)], i.four);
      } else {
        machine_.load(to, memory_of(z), i.four);
      }
      ++counts_.instructions;
      machine_.fused(i.act, Form::by231, to, register_of(x), operand(y, i.four), i.four);
    }
  }
  release(x, now);
  if (y != x) release(y, now);
  if (z != x && z != y) release(z, now);
  define(now, to, now);
}

}  // namespace limb::codegen
