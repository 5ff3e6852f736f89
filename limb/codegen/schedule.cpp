#include "limb/codegen/schedule.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Cycles until a result can be used.
int latency(Act act) {
  switch (act) {
    case Act::constant:
    case Act::input:
    case Act::four_constants:
    case Act::store:
    case Act::bound:
      return 0;
    case Act::div:
      return 13;
    case Act::sqrt:
      return 20;
    case Act::add:
    case Act::sub:
      return 3;
    case Act::neg:
    case Act::abs:
    case Act::both:
    case Act::either:
    case Act::complement:
    case Act::select:
      return 1;
    case Act::quadrant_choice:
    case Act::quadrant_sign:
      return 3;
    case Act::four_inputs:
    case Act::spread:
    case Act::lane:
      return 5;  // through memory
    case Act::four_values:
      return 10;
    default:
      return 4;
  }
}

bool is_product(Act act) {
  return act == Act::mul || act == Act::fma || act == Act::fms || act == Act::fnma;
}

/// Takes no time: read by the instruction that uses it.
bool is_memory(Act act) {
  return act == Act::constant || act == Act::input || act == Act::lane ||
         act == Act::four_constants;
}

/// The values that an instruction needs.
template <typename Visit>
void for_operands(const Code& code, const Instruction& x, const Visit& visit) {
  const Operands operands = operands_of(x);
  for (int k = 0; k < operands.count; ++k) visit(operands.value[k]);
  if (x.act == Act::lane) visit(x.a);
  if (x.act == Act::four_values) {
    for (const int value : code.groups[at(x.a)]) visit(value);
  }
}

class Scheduler {
 public:
  Scheduler(const Code& code, const ScheduleOptions& options) : code_(code), options_(options) {
    const std::size_t n = code.instructions.size();
    place_.assign(n, -1);
    missing_.assign(n, 0);
    earliest_.assign(n, 0);
    find_users();
    out_ = code;
    out_.instructions.clear();
    out_.instructions.reserve(n);
  }

  Code run() {
    const int n = static_cast<int>(code_.instructions.size());
    int next = 0;
    while (next < n || !waiting_.empty()) {
      while (next < n && static_cast<int>(waiting_.size()) < options_.window) {
        waiting_.push_back(next++);
      }
      pick();
    }
    return std::move(out_);
  }

 private:
  /// The users of value v stand in users_ from first_user_[v] to first_user_[v + 1].
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
        ++missing_[at(i)];
      });
    }
  }

  /// Writes the first of those that wait whose operands are there, or whose will be soonest.
  void pick() {
    std::size_t best = 0;
    int best_time = -1;
    for (std::size_t k = 0; k < waiting_.size(); ++k) {
      const int i = waiting_[k];
      if (missing_[at(i)] > 0) continue;
      const Act act = code_.instructions[at(i)].act;
      const int begin =
          is_memory(act) ? earliest_[at(i)] : std::max(earliest_[at(i)], free_unit(act));
      if (best_time >= 0 && begin >= best_time) continue;
      best_time = begin;
      best = k;
      if (begin <= now_) break;
    }
    const int i = waiting_[best];
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(best));
    write(i, best_time);
  }

  /// The first cycle in which a unit for it is free.
  int free_unit(Act act) const {
    const int k = is_product(act) ? 0 : 1;
    return count_[k] < options_.per_cycle ? cycle_[k] : cycle_[k] + 1;
  }

  void write(int i, int time) {
    Instruction x = code_.instructions[at(i)];
    const Operands operands = operands_of(x);
    int* const fields[] = {&x.a, &x.b, &x.c};
    for (int k = 0; k < operands.count; ++k) *fields[k] = place_[at(operands.value[k])];
    if (x.act == Act::lane) x.a = place_[at(x.a)];
    if (x.act == Act::four_values) {
      for (int& value : out_.groups[at(x.a)]) value = place_[at(value)];
    }
    place_[at(i)] = static_cast<int>(out_.instructions.size());
    out_.instructions.push_back(x);
    const int ready = time + latency(x.act);
    for (int k = first_user_[at(i)]; k < first_user_[at(i) + 1]; ++k) {
      const std::size_t user = at(users_[at(k)]);
      --missing_[user];
      earliest_[user] = std::max(earliest_[user], ready);
    }
    if (is_memory(x.act)) return;
    const int k = is_product(x.act) ? 0 : 1;
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
  std::vector<int> place_;  ///< of each instruction in the new order; -1: not yet
  std::vector<int> missing_,
      earliest_;  ///< operands not yet written; when those that are are ready
  std::vector<int> waiting_;
  int now_ = 0, cycle_[2] = {0, 0}, count_[2] = {0, 0};
};

}  // namespace

Code schedule(const Code& code, const ScheduleOptions& options) {
  return Scheduler(code, options).run();
}

}  // namespace limb::codegen
