#include "limb/model/mjcf/read_mjcf_defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "limb/base/number.hpp"

namespace limb::mjcf {
namespace {

using Severity = Diagnostic::Severity;

constexpr std::array<std::string_view, 13> kActuators = {
    "general", "motor",  "position", "velocity", "intvelocity", "orientation", "pid",
    "damper",  "muscle", "cylinder", "adhesion", "dcmotor",     "plugin"};

std::string shortened(const std::string& text) {
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace

std::string_view default_tag(std::string_view tag) {
  const bool actuator = std::find(kActuators.begin(), kActuators.end(), tag) != kActuators.end();
  return actuator ? "actuator" : tag;
}

Defaults::Defaults() {
  classes_.emplace_back();
  by_name_["main"] = &classes_.front();
}

void Defaults::read(const Node& node, Diagnostics& diagnostics) {
  const std::string name = XmlReader::text(*node.element, "class").value_or("main");
  if (name != "main") {
    add(diagnostics, Severity::error, node, "class-name",
        fmt::format("the outermost default class is named '{}', expected 'main' or no name",
                    shortened(name)),
        "MuJoCo refuses other names");
  }
  read_class(node, classes_.front(), 1, diagnostics);
}

void Defaults::read_class(const Node& node, DefaultClass& into, int depth,
                          Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 12> kKnown = {"default", "joint",    "geom",     "site",
                                                       "mesh",    "material", "texture",  "camera",
                                                       "light",   "pair",     "equality", "tendon"};
  expect_attributes(diagnostics, node, {"class"});
  for (const Node& child : node.children) {
    if (std::find(kKnown.begin(), kKnown.end(), child.tag()) == kKnown.end() &&
        default_tag(child.tag()) != "actuator") {
      note_unknown_child(diagnostics, node, child,
                         {"default", "joint", "geom", "site", "mesh", "material", "equality",
                          "tendon", "general", "motor", "position", "velocity"});
      continue;
    }
    if (child.tag() != "default") {
      auto& settings = into.tags[std::string(default_tag(child.tag()))];
      for (const auto* a = child.element->FirstAttribute(); a != nullptr; a = a->Next()) {
        settings[a->Name()] = &child;
      }
      continue;
    }
    XmlReader reader(*child.file, diagnostics);
    const std::string name = reader.required(*child.element, "class");
    if (name.empty()) continue;
    if (depth >= kMaxClassDepth) {
      add(diagnostics, Severity::error, child, "class-too-deep",
          fmt::format("default class '{}' is nested more than {} classes deep", shortened(name),
                      kMaxClassDepth),
          "it is not read");
      continue;
    }
    DefaultClass& nested = classes_.emplace_back();
    nested.parent = &into;
    if (!by_name_.emplace(name, &nested).second) {
      add(diagnostics, Severity::error, child, "class-twice",
          fmt::format("default class '{}' is defined twice", shortened(name)),
          "the first definition is used");
    }
    read_class(child, nested, depth + 1, diagnostics);
  }
}

const DefaultClass& Defaults::named_by(const Node& node, const char* attribute,
                                       const DefaultClass& fallback,
                                       Diagnostics& diagnostics) const {
  const char* name = node.element->Attribute(attribute);
  if (name == nullptr) return fallback;
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return *found->second;
  std::vector<std::string> names;
  if (diagnostics.size() < kMaxSearches) {
    for (const auto& [known, unused] : by_name_) names.push_back(known);
    std::sort(names.begin(), names.end());
  }
  add(diagnostics, Severity::error, node, "class-unknown",
      fmt::format("{} names the default class '{}', no such class{}", node.title(), shortened(name),
                  closest(name, names)),
      "its attributes are not known");
  return fallback;
}

Attributes::Attributes(const Node& node, Diagnostics& diagnostics)
    : node_(node), diagnostics_(diagnostics) {}

Attributes::Attributes(const Node& node, std::string_view kind, const DefaultClass& default_class,
                       Diagnostics& diagnostics)
    : node_(node), diagnostics_(diagnostics) {
  for (const DefaultClass* c = &default_class; c != nullptr; c = c->parent) {
    const auto found = c->tags.find(kind);
    if (found != c->tags.end()) classes_.push_back(&found->second);
  }
}

const Node* Attributes::at(std::size_t level, std::string_view name) const {
  if (level == 0) {
    for (const auto* a = node_.element->FirstAttribute(); a != nullptr; a = a->Next()) {
      if (a->Name() == name) return &node_;
    }
    return nullptr;
  }
  const auto found = classes_[level - 1]->find(name);
  return found == classes_[level - 1]->end() ? nullptr : found->second;
}

const Node* Attributes::setting_node(std::string_view name) const {
  for (std::size_t level = 0; level < levels(); ++level) {
    if (const Node* node = at(level, name)) return node;
  }
  return nullptr;
}

std::string Attributes::text(const char* name, std::string_view fallback) const {
  const Node* node = setting_node(name);
  return node == nullptr ? std::string(fallback) : node->element->Attribute(name);
}

std::optional<std::vector<double>> Attributes::parsed(const Node& node, const char* name,
                                                      std::size_t at_least,
                                                      std::size_t at_most) const {
  const std::string text = node.element->Attribute(name);
  auto values = parse_numbers(text);
  const auto refuse = [&](const std::string& rule, const std::string& expected) {
    const std::string message = fmt::format("{}: attribute '{}' is '{}', expected {}", node.title(),
                                            name, shortened(text), expected);
    // A mistake in a class affects every element of that class, and is reported once.
    const SourceLocation source = node.source();
    const auto same = [&](const Diagnostic& d) {
      return d.source.line == source.line && d.source.file == source.file && d.message == message;
    };
    const auto recent = std::min<std::ptrdiff_t>(64, std::ssize(diagnostics_));
    if (&node != &node_ && std::any_of(diagnostics_.end() - recent, diagnostics_.end(), same)) {
      return;
    }
    add(diagnostics_, Severity::error, node, rule, message, "the value cannot be used");
  };
  if (!values || values->size() < at_least || values->size() > at_most) {
    refuse("attribute-not-a-number",
           at_most == 1          ? std::string("a finite number")
           : at_least == at_most ? fmt::format("{} finite numbers", at_most)
                                 : fmt::format("{} to {} finite numbers", at_least, at_most));
    return std::nullopt;
  }
  if (std::any_of(values->begin(), values->end(),
                  [](double x) { return std::abs(x) > kMaxNumber; })) {
    refuse("number-too-large", fmt::format("numbers up to {}", kMaxNumber));
    return std::nullopt;
  }
  return values;
}

std::optional<std::vector<double>> Attributes::numbers_of(const Node& node, const char* name,
                                                          std::size_t count) const {
  return parsed(node, name, count, count);
}

std::optional<std::vector<double>> Attributes::numbers(const char* name, std::size_t count) const {
  const Node* node = setting_node(name);
  return node == nullptr ? std::nullopt : parsed(*node, name, count, count);
}

double Attributes::number(const char* name, double fallback) const {
  const auto values = numbers(name, 1);
  return values ? values->front() : fallback;
}

Vector3<double> Attributes::vector(const char* name, const Vector3<double>& fallback) const {
  const auto values = numbers(name, 3);
  return values ? Vector3<double>(values->data()) : fallback;
}

std::size_t Attributes::overlay(const char* name, std::vector<double>& fallback) const {
  std::size_t given = 0;
  for (std::size_t level = levels(); level-- > 0;) {
    const Node* node = at(level, name);
    if (node == nullptr) continue;
    const auto values = parsed(*node, name, 1, fallback.size());
    if (!values) continue;
    std::copy(values->begin(), values->end(), fallback.begin());
    given = std::max(given, values->size());
  }
  return given;
}

double Attributes::linear_coefficient(const char* name) const {
  std::vector<double> values = {0, 0, 0};
  (void)overlay(name, values);
  if (values[1] != 0 || values[2] != 0) {
    error("polynomial-not-supported",
          fmt::format("more than one number in '{}' is not supported", name),
          "damping and springs are linear in limb");
  }
  return values[0];
}

std::string Attributes::keyword(const char* name, std::initializer_list<std::string_view> words,
                                std::string_view fallback) const {
  const Node* node = setting_node(name);
  if (node == nullptr) return std::string(fallback);
  const std::string word = node->element->Attribute(name);
  if (std::find(words.begin(), words.end(), word) != words.end()) return word;
  std::string expected;
  for (const std::string_view w : words) {
    expected += expected.empty() ? "" : w == *(words.end() - 1) ? " or " : ", ";
    expected += fmt::format("'{}'", w);
  }
  add(diagnostics_, Severity::error, *node, "keyword-unknown",
      fmt::format("{}: attribute '{}' is '{}', expected {}", node->title(), name, shortened(word),
                  expected),
      fmt::format("'{}' is used", fallback));
  return std::string(fallback);
}

void Attributes::error(std::string rule, std::string message, std::string reason,
                       std::string fix) const {
  add(diagnostics_, Severity::error, node_, std::move(rule), title() + ": " + std::move(message),
      std::move(reason), std::move(fix));
}

void Attributes::warn(std::string rule, std::string message, std::string reason,
                      std::string fix) const {
  add(diagnostics_, Severity::warning, node_, std::move(rule), title() + ": " + std::move(message),
      std::move(reason), std::move(fix));
}

void Attributes::note(std::string rule, std::string message, std::string reason,
                      std::string fix) const {
  add(diagnostics_, Severity::note, node_, std::move(rule), title() + ": " + std::move(message),
      std::move(reason), std::move(fix));
}

std::string name_of(const Node& node, Diagnostics& diagnostics) {
  const char* name = node.element->Attribute("name");
  std::string result = name == nullptr ? "" : name;
  if (result.size() > kMaxName) {
    add(diagnostics, Severity::error, node, "name-too-long",
        fmt::format("the name of <{}> has {} letters, expected at most {}", node.tag(),
                    result.size(), kMaxName),
        "it is cut off");
    result.resize(kMaxName);
  }
  return result;
}

}  // namespace limb::mjcf
