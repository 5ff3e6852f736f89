#include "limb/symbolic/derive/answer_target.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>

#include "limb/base/error.hpp"

namespace limb::symbolic {
namespace {

constexpr std::size_t kMaxLength = 60;

[[noreturn]] void refuse(const std::string& left, const std::string& why) {
  throw Error(fmt::format(
      "check_answer: '{}' {}, expected an entry such as M11, V1, G1, tau1, C12, b112, or K, P, L",
      left.size() > kMaxLength ? left.substr(0, kMaxLength) + "..." : left, why));
}

}  // namespace

AnswerTarget read_answer_target(const std::string& left, int n) {
  if (left.size() > kMaxLength) refuse(left, "is too long");
  std::string letters;
  std::vector<std::string> runs;  // digits between other characters
  bool inside = false;            // (q, qd) after the name is ignored
  bool digits = false;
  for (const char c : left) {
    if (c == '(') inside = true;
    if (inside) continue;
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      if (!runs.empty()) refuse(left, "is not a quantity");
      letters += c;
      digits = false;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (!digits) runs.emplace_back();
      runs.back() += c;
      digits = true;
    } else {
      digits = false;
    }
  }
  using Kind = AnswerTarget::Kind;
  static const std::map<std::string, std::pair<Kind, std::size_t>> kKinds = {
      {"M", {Kind::M, 2}},           {"m", {Kind::M, 2}},
      {"D", {Kind::M, 2}},           {"H", {Kind::M, 2}},
      {"V", {Kind::V, 1}},           {"v", {Kind::V, 1}},
      {"c", {Kind::V, 1}},           {"h", {Kind::V, 1}},
      {"G", {Kind::G, 1}},           {"g", {Kind::G, 1}},
      {"tau", {Kind::tau, 1}},       {"C", {Kind::C, 2}},
      {"b", {Kind::christoffel, 3}}, {"Gamma", {Kind::christoffel, 3}},
      {"K", {Kind::kinetic, 0}},     {"T", {Kind::kinetic, 0}},
      {"P", {Kind::potential, 0}},   {"U", {Kind::potential, 0}},
      {"L", {Kind::lagrangian, 0}}};
  const auto kind = kKinds.find(letters);
  if (kind == kKinds.end()) refuse(left, "is not a quantity");
  const std::size_t count = kind->second.second;
  AnswerTarget target{kind->second.first, {}};
  // One run of as many digits as there are indices: each is one of them.
  if (runs.size() == 1 && runs[0].size() == count && n <= 9) {
    for (const char c : runs[0]) target.indices.push_back(c - '1');
  } else if (runs.size() == count) {
    for (const std::string& run : runs) {
      target.indices.push_back(run.size() > 4 ? -1 : std::stoi(run) - 1);
    }
  } else {
    refuse(left, fmt::format("has {} indices{}", runs.size(),
                             n > 9 ? ", separated by commas from ten coordinates on" : ""));
  }
  for (const int i : target.indices) {
    if (i < 0 || i >= n) refuse(left, fmt::format("has an index beyond 1 to {}", n));
  }
  return target;
}

std::string to_text(const AnswerTarget& t, int n) {
  static constexpr const char* kNames[] = {"M", "V", "G", "tau", "C", "b", "K", "P", "L"};
  std::string text = kNames[static_cast<int>(t.kind)];
  for (std::size_t i = 0; i < t.indices.size(); ++i) {
    text += fmt::format("{}{}", i > 0 && n > 9 ? "," : "", t.indices[i] + 1);
  }
  return text;
}

}  // namespace limb::symbolic
