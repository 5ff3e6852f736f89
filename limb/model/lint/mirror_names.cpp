#include "limb/model/lint/mirror_names.hpp"

#include <array>
#include <cctype>
#include <unordered_map>

namespace limb {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}

/// The token at [begin, end) is a whole word: no letter before or after it. A capital letter after
/// a lower-case one starts a new word, so "LShoulder" and "armL" have a side and "Leg" has not.
bool is_whole_token(std::string_view name, std::size_t begin, std::size_t end) {
  const bool before = begin == 0 || !is_letter(name[begin - 1]) ||
                      (is_lower(name[begin - 1]) && is_upper(name[begin]));
  const bool after = end == name.size() || !is_letter(name[end]) ||
                     (is_upper(name[end - 1]) && is_upper(name[end]) && end + 1 < name.size() &&
                      is_lower(name[end + 1]));
  return before && after;
}

struct Swap {
  std::string_view left, right;
};

/// kWords are recognized anywhere in a name, kShort only as whole tokens.
constexpr std::array kWords = {Swap{"left", "right"}, Swap{"Left", "Right"}, Swap{"LEFT", "RIGHT"}};
constexpr std::array kShort = {
    Swap{"l", "r"},   Swap{"L", "R"},   Swap{"lf", "rf"}, Swap{"LF", "RF"}, Swap{"lh", "rh"},
    Swap{"LH", "RH"}, Swap{"fl", "fr"}, Swap{"FL", "FR"}, Swap{"rl", "rr"}, Swap{"RL", "RR"},
    Swap{"hl", "hr"}, Swap{"HL", "HR"}, Swap{"bl", "br"}, Swap{"BL", "BR"}, Swap{"lb", "rb"},
    Swap{"LB", "RB"}, Swap{"lr", "rr"}, Swap{"LR", "RR"}, Swap{"ml", "mr"}, Swap{"ML", "MR"},
    Swap{"lm", "rm"}, Swap{"LM", "RM"}};

}  // namespace

std::vector<std::string> right_names(std::string_view left) {
  std::vector<std::string> names;
  const auto replaced = [&](std::size_t at, const Swap& swap) {
    std::string name(left);
    names.push_back(name.replace(at, swap.left.size(), swap.right));
  };
  for (const Swap& swap : kWords) {
    const std::size_t at = left.find(swap.left);
    if (at != left.npos) replaced(at, swap);
  }
  for (const Swap& swap : kShort) {
    for (std::size_t at = left.find(swap.left); at != left.npos;
         at = left.find(swap.left, at + 1)) {
      if (is_whole_token(left, at, at + swap.left.size())) replaced(at, swap);
    }
  }
  return names;
}

std::vector<std::pair<std::size_t, std::size_t>> mirror_pairs(std::span<const std::string> names) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < names.size(); ++i) index.emplace(names[i], i);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<bool> paired(names.size(), false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].size() > 200) continue;  // keeps the search linear
    for (const std::string& name : right_names(names[i])) {
      const auto found = index.find(name);
      if (found == index.end() || found->second == i || paired[found->second] || paired[i])
        continue;
      paired[i] = paired[found->second] = true;
      pairs.emplace_back(i, found->second);
    }
  }
  return pairs;
}

}  // namespace limb
