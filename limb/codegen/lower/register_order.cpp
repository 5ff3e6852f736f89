#include "limb/codegen/lower/register_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// The operands of an instruction, those that need more registers first.
Operands demanding_first(const Instruction& x, const std::vector<int>& need) {
  Operands sorted = operands_of(x);
  for (int k = 1; k < sorted.count; ++k) {
    for (int j = k; j > 0 && need[at(sorted.value[j])] > need[at(sorted.value[j - 1])]; --j) {
      std::swap(sorted.value[j], sorted.value[j - 1]);
    }
  }
  return sorted;
}

/// How many registers the value needs at least if nothing is shared [Sethi and Ullman 1970].
std::vector<int> needs(const Code& code) {
  std::vector<int> need(code.instructions.size(), 1);
  for (std::size_t i = 0; i < need.size(); ++i) {
    const Instruction& x = code.instructions[i];
    if (x.opcode == Opcode::constant) need[i] = 0;
    const Operands operands = demanding_first(x, need);
    for (int k = 0; k < operands.count; ++k) {
      need[i] = std::max(need[i], need[at(operands.value[k])] + k);
    }
  }
  return need;
}

/// Depth first from the stores in this order, the more demanding operand first. Instructions that
/// are the last use of an operand follow as soon as their operands are there.
class DepthFirst {
 public:
  /// @param early_stores whether stores follow as soon as their value is there.
  DepthFirst(const Code& code, bool early_stores)
      : code_(code), early_stores_(early_stores), need_(needs(code)) {
    const std::size_t n = code.instructions.size();
    first_user_.assign(n + 1, 0);
    for_uses([&](int, int value) { ++first_user_[at(value) + 1]; });
    for (std::size_t v = 0; v < n; ++v) first_user_[v + 1] += first_user_[v];
    users_.resize(at(first_user_.back()));
    std::vector<int> fill(first_user_.begin(), first_user_.end() - 1);
    for_uses([&](int user, int value) { users_[at(fill[at(value)]++)] = user; });
  }

  Code run(const std::vector<int>& stores) {
    const std::size_t n = code_.instructions.size();
    out_ = code_;
    out_.instructions.clear();
    to_.assign(n, -1);
    uses_.assign(n, 0);
    for_uses([&](int, int value) { ++uses_[at(value)]; });
    std::vector<std::pair<int, int>> stack;  // instruction, next operand
    for (const int root : stores) {
      stack.push_back({root, 0});
      while (!stack.empty()) {
        auto& [i, next] = stack.back();
        const Operands operands = demanding_first(code_.instructions[at(i)], need_);
        if (next < operands.count && to_[at(i)] < 0) {
          const int operand = operands.value[next++];
          if (to_[at(operand)] < 0) stack.push_back({operand, 0});
          continue;
        }
        stack.pop_back();
        emit(i);
      }
    }
    return std::move(out_);
  }

 private:
  template <typename Visit>
  void for_uses(const Visit& visit) const {
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      const Operands operands = operands_of(code_.instructions[i]);
      for (int k = 0; k < operands.count; ++k) visit(static_cast<int>(i), operands.value[k]);
    }
  }
  bool is(int i, Opcode opcode) const { return code_.instructions[at(i)].opcode == opcode; }

  /// Emits an instruction whose operands are there, and those that follow.
  void emit(int first) {
    queue_.assign(1, first);
    while (!queue_.empty()) {
      const int i = queue_.back();
      queue_.pop_back();
      if (to_[at(i)] >= 0 || (i != first && !may_follow(i))) continue;
      write(i);
      // Its users, and those of operands that have one use left, may follow.
      add_users(i);
      const Operands operands = operands_of(code_.instructions[at(i)]);
      for (int k = 0; k < operands.count; ++k) {
        if (uses_[at(operands.value[k])] == 1) add_users(operands.value[k]);
      }
    }
  }

  void write(int i) {
    Instruction moved = code_.instructions[at(i)];
    const Operands operands = operands_of(moved);
    int* const fields[] = {&moved.a, &moved.b, &moved.c};
    for (int k = 0; k < operands.count; ++k) {
      const int value = *fields[k];
      if (to_[at(value)] < 0) write(value);  // a constant or an argument
      --uses_[at(value)];
      *fields[k] = to_[at(value)];
    }
    to_[at(i)] = static_cast<int>(out_.instructions.size());
    out_.instructions.push_back(moved);
  }

  void add_users(int value) {
    if (is(value, Opcode::constant)) return;
    for (int k = first_user_[at(value)]; k < first_user_[at(value) + 1]; ++k) {
      if (to_[at(users_[at(k)])] < 0) queue_.push_back(users_[at(k)]);
    }
  }

  /// Whether an instruction can be emitted now without more values alive afterwards.
  bool may_follow(int i) const {
    if (is(i, Opcode::store) && !early_stores_) return false;
    const Operands operands = operands_of(code_.instructions[at(i)]);
    int live = is(i, Opcode::store) ? 0 : 1;
    for (int k = 0; k < operands.count; ++k) {
      const int value = operands.value[k];
      if (is(value, Opcode::constant)) continue;
      int here = 0;
      bool counted = false;
      for (int j = 0; j < operands.count; ++j) {
        here += operands.value[j] == value ? 1 : 0;
        counted = counted || (j < k && operands.value[j] == value);
      }
      if (counted) continue;
      const bool last = uses_[at(value)] == here;
      if (to_[at(value)] >= 0) {
        live -= last ? 1 : 0;
      } else if (is(value, Opcode::input)) {
        live += last ? 0 : 1;
      } else {
        return false;
      }
    }
    return live <= 0;
  }

  const Code& code_;
  const bool early_stores_;
  std::vector<int> need_, first_user_, users_;
  std::vector<int> to_, uses_, queue_;
  Code out_;
};

}  // namespace

int largest_live(const Code& code) {
  const std::size_t n = code.instructions.size();
  std::vector<int> uses(n, 0);
  for (const Instruction& x : code.instructions) {
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) ++uses[at(operands.value[k])];
  }
  int live = 0, most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Instruction& x = code.instructions[i];
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) {
      const int v = operands.value[k];
      if (--uses[at(v)] == 0 && code.instructions[at(v)].opcode != Opcode::constant) --live;
    }
    if (x.opcode != Opcode::constant && uses[i] > 0) ++live;
    most = std::max(most, live);
  }
  return most;
}

Code with_results(const Code& code, const std::vector<int>& results) {
  int size = 0;
  for (const Array& array : code.outputs) size += array.size();
  std::vector<char> wanted(at(size), 0);
  for (const int result : results) {
    if (result < 0 || result >= size) {
      throw Error(fmt::format("with_results: a result is {}, expected 0 to {}", result, size - 1));
    }
    wanted[at(result)] = 1;
  }
  std::vector<char> needed(code.instructions.size(), 0);
  for (std::size_t i = needed.size(); i-- > 0;) {
    const Instruction& x = code.instructions[i];
    if (x.opcode == Opcode::store) needed[i] = wanted[at(x.b)];
    if (needed[i] == 0) continue;
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) needed[at(operands.value[k])] = 1;
  }
  Code out = code;
  out.instructions.clear();
  std::vector<int> to(needed.size(), -1);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i] == 0) continue;
    Instruction moved = code.instructions[i];
    const Operands operands = operands_of(moved);
    int* const fields[] = {&moved.a, &moved.b, &moved.c};
    for (int k = 0; k < operands.count; ++k) *fields[k] = to[at(*fields[k])];
    to[i] = static_cast<int>(out.instructions.size());
    out.instructions.push_back(moved);
  }
  return out;
}

Code with_few_registers(const Code& code, StoreOrder order) {
  // Entry of its array and array of each result.
  std::vector<std::pair<int, int>> place;
  for (std::size_t k = 0; k < code.outputs.size(); ++k) {
    for (int j = 0; j < code.outputs[k].size(); ++j) place.push_back({j, static_cast<int>(k)});
  }
  std::vector<int> stores;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].opcode == Opcode::store) stores.push_back(static_cast<int>(i));
  }
  DepthFirst depth_first(code, order == StoreOrder::any);
  Code best;
  int fewest = -1;
  const auto consider = [&](Code candidate) {
    const int live = largest_live(candidate);
    if (fewest >= 0 && live >= fewest) return;
    fewest = live;
    best = std::move(candidate);
  };
  const auto result = [&](int store) { return code.instructions[at(store)].b; };
  if (order == StoreOrder::any) {
    consider(code);
    consider(depth_first.run(stores));
  }
  // Array by array, and the same entry of all arrays before the next entry; both also backwards.
  for (const bool together : {false, true}) {
    std::sort(stores.begin(), stores.end(), [&](int x, int y) {
      return together ? place[at(result(x))] < place[at(result(y))] : result(x) < result(y);
    });
    consider(depth_first.run(stores));
    std::reverse(stores.begin(), stores.end());
    consider(depth_first.run(stores));
  }
  return best;
}

}  // namespace limb::codegen
