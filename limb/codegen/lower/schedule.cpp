#include "limb/codegen/lower/schedule.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Cycles until a result can be used.
int latency(Opcode opcode) {
  switch (opcode) {
    case Opcode::constant:
    case Opcode::input:
    case Opcode::four_constants:
    case Opcode::store:
    case Opcode::bound:
      return 0;
    case Opcode::div:
      return 13;
    case Opcode::sqrt:
      return 20;
    case Opcode::add:
    case Opcode::sub:
      return 3;
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::both:
    case Opcode::either:
    case Opcode::complement:
    case Opcode::select:
      return 1;
    case Opcode::quadrant_choice:
    case Opcode::quadrant_sign:
      return 3;
    case Opcode::four_inputs:
    case Opcode::spread:
    case Opcode::lane:
      return 5;  // through memory
    case Opcode::four_values:
      return 10;
    default:
      return 4;
  }
}

bool is_product(Opcode opcode) {
  return opcode == Opcode::mul || opcode == Opcode::fma || opcode == Opcode::fms ||
         opcode == Opcode::fnma;
}

/// Takes no time: read as an operand of the instruction that uses it.
bool is_memory(Opcode opcode) {
  return opcode == Opcode::constant || opcode == Opcode::input || opcode == Opcode::lane ||
         opcode == Opcode::four_constants;
}

/// The values that an instruction needs.
template <typename Visit>
void for_operands(const Code& code, const Instruction& x, const Visit& visit) {
  const Operands operands = operands_of(x);
  for (int k = 0; k < operands.count; ++k) visit(operands.value[k]);
  if (x.opcode == Opcode::lane) visit(x.a);
  if (x.opcode == Opcode::four_values) {
    for (const int value : code.groups[at(x.a)]) visit(value);
  }
}

class Scheduler {
  static constexpr int kNone = 2;
  struct State {
    int missing = 0, earliest = 0;  ///< operands not yet scheduled; cycle when the others are ready
    int unit = kNone;               ///< 0: products, 1: sums and the rest
  };

 public:
  Scheduler(const Code& code, const ScheduleOptions& options) : code_(code), options_(options) {
    const std::size_t n = code.instructions.size();
    new_index_.assign(n, -1);
    states_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Opcode opcode = code.instructions[i].opcode;
      states_[i].unit = is_memory(opcode) ? kNone : is_product(opcode) ? 0 : 1;
    }
    find_users();
    out_ = code;
    out_.instructions.clear();
    out_.instructions.reserve(n);
  }

  Code run() {
    const int n = static_cast<int>(code_.instructions.size());
    int waiting = 0;
    while (next_ < n || waiting > 0) {
      for (; next_ < n && waiting < options_.window; ++next_, ++waiting) {
        if (states_[at(next_)].missing == 0) ready_.push_back(next_);
      }
      pick();
      --waiting;
    }
    return std::move(out_);
  }

 private:
  /// The users of value v are users_[first_user_[v]] to users_[first_user_[v + 1] - 1].
  void find_users() {
    const int n = static_cast<int>(code_.instructions.size());
    first_user_.assign(at(n) + 1, 0);
    for (const Instruction& x : code_.instructions) {
      for_operands(code_, x, [&](int value) { ++first_user_[at(value) + 1]; });
    }
    for (std::size_t v = 0; v < at(n); ++v) first_user_[v + 1] += first_user_[v];
    users_.resize(at(first_user_.back()));
    std::vector<int> fill(first_user_.begin(), first_user_.end() - 1);
    for (int i = 0; i < n; ++i) {
      for_operands(code_, code_.instructions[at(i)], [&](int value) {
        users_[at(fill[at(value)]++)] = i;
        ++states_[at(i)].missing;
      });
    }
  }

  /// Schedules the first waiting instruction whose operands are ready, or are ready soonest. (The
  /// first waiting one has all its operands scheduled.)
  void pick() {
    std::size_t best = 0;
    int best_time = -1;
    const int free[] = {free_unit(0), free_unit(1), 0};
    for (std::size_t k = 0; k < ready_.size(); ++k) {
      const State& state = states_[at(ready_[k])];
      const int start = std::max(state.earliest, free[state.unit]);
      if (best_time >= 0 && start >= best_time) continue;
      best_time = start;
      best = k;
      if (start <= now_) break;
    }
    const int i = ready_[best];
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(best));
    write(i, best_time);
  }

  /// The first cycle in which a unit of this kind is free.
  int free_unit(int k) const { return count_[k] < options_.per_cycle ? cycle_[k] : cycle_[k] + 1; }

  void write(int i, int time) {
    Instruction x = code_.instructions[at(i)];
    const Operands operands = operands_of(x);
    int* const fields[] = {&x.a, &x.b, &x.c};
    for (int k = 0; k < operands.count; ++k) *fields[k] = new_index_[at(operands.value[k])];
    if (x.opcode == Opcode::lane) x.a = new_index_[at(x.a)];
    if (x.opcode == Opcode::four_values) {
      for (int& value : out_.groups[at(x.a)]) value = new_index_[at(value)];
    }
    new_index_[at(i)] = static_cast<int>(out_.instructions.size());
    out_.instructions.push_back(x);
    const int ready = time + latency(x.opcode);
    for (int k = first_user_[at(i)]; k < first_user_[at(i) + 1]; ++k) {
      const int user = users_[at(k)];
      State& state = states_[at(user)];
      state.earliest = std::max(state.earliest, ready);
      if (--state.missing == 0 && user < next_) {
        ready_.insert(std::upper_bound(ready_.begin(), ready_.end(), user), user);
      }
    }
    const int k = states_[at(i)].unit;
    if (k == kNone) return;
    if (time > cycle_[k]) {
      cycle_[k] = time;
      count_[k] = 0;
    }
    ++count_[k];
    now_ = std::max(now_, time);
  }

  const Code& code_;
  const ScheduleOptions& options_;
  Code out_;
  std::vector<int> first_user_, users_;
  std::vector<int> new_index_;  ///< of each instruction; -1: not yet
  std::vector<State> states_;
  std::vector<int> ready_;  ///< waiting instructions with scheduled operands, in order
  int next_ = 0;            ///< the first that is not waiting yet
  int now_ = 0, cycle_[2] = {0, 0}, count_[2] = {0, 0};
};

}  // namespace

Code schedule(const Code& code, const ScheduleOptions& options) {
  return Scheduler(code, options).run();
}

}  // namespace limb::codegen
