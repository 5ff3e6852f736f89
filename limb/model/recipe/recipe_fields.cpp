#include "limb/model/recipe/recipe_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "limb/base/nearest.hpp"

namespace limb {
namespace {

using Kind = TomlValue::Kind;

// Suggestions compare with every known name; after this many mistakes they are omitted.
constexpr std::size_t kMaxSuggestions = 100;

std::string shortened(std::string_view text) {
  return text.size() > 60 ? std::string(text.substr(0, 57)) + "..." : std::string(text);
}

}  // namespace

void RecipeFields::error(const TomlValue& at, std::string rule, std::string message,
                         std::string reason, std::string fix) {
  diagnostics_.push_back({Diagnostic::Severity::error, std::move(rule), source(at),
                          std::move(message), std::move(reason), std::move(fix)});
}

std::string RecipeFields::mesh_path(const TomlValue& at, const std::string& uri) {
  if (uri.empty()) return {};
  const bool reported = meshes_.knows(uri);
  const MeshPath& mesh = meshes_.find(uri);
  if (!reported) {
    if (auto diagnostic = mesh_diagnostic(mesh, uri, source(at))) {
      diagnostics_.push_back(std::move(*diagnostic));
    }
  }
  return mesh.path;
}

void RecipeFields::wrong_type(const TomlValue& value, std::string_view owner, std::string_view key,
                              std::string_view expected) {
  error(value, "recipe-wrong-type",
        fmt::format("{}: {} is {}, expected {}", owner, key, value.kind_text(), expected));
}

void RecipeFields::missing(const TomlValue& table, std::string_view owner, std::string_view key,
                           std::string_view expected) {
  error(table, "recipe-missing-key",
        fmt::format("{}: '{}' is missing, expected {}", owner, key, expected));
}

std::string RecipeFields::closest(std::string_view typed, const Keys& known) const {
  if (diagnostics_.size() >= kMaxSuggestions) return {};
  const std::string name = nearest(typed, known);
  return name.empty() ? "" : fmt::format(" (closest: '{}')", name);
}

void RecipeFields::expect_keys(const TomlValue& table, std::string_view owner, const Keys& known) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const std::string& key = table.keys[i];
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    error(table.items[i], "recipe-unknown-key",
          fmt::format("{}: unknown key '{}'{}", owner, shortened(key), closest(key, known)),
          "an unknown key has no effect");
  }
}

bool RecipeFields::expect_table(const TomlValue& value, std::string_view owner,
                                std::string_view key) {
  if (value.kind == Kind::table) return true;
  wrong_type(value, owner, key, "a table");
  return false;
}

std::vector<const TomlValue*> RecipeFields::rows(const TomlValue& document, std::string_view key) {
  std::vector<const TomlValue*> result;
  const TomlValue* array = document.find(key);
  if (array == nullptr) return result;
  const std::string owner = fmt::format("[[{}]]", key);
  if (array->kind != Kind::array) {
    wrong_type(*array, "recipe", key, fmt::format("tables that are each headed by {}", owner));
    return result;
  }
  for (const TomlValue& row : array->items) {
    if (expect_table(row, owner, "an entry")) result.push_back(&row);
  }
  return result;
}

std::optional<std::string> RecipeFields::text(const TomlValue& table, std::string_view owner,
                                              std::string_view key) {
  const TomlValue* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Kind::text) {
    wrong_type(*value, owner, key, "a text in quotes");
    return std::nullopt;
  }
  if (value->text.empty()) {
    error(*value, "recipe-bad-value", fmt::format("{}: {} is empty", owner, key));
    return std::nullopt;
  }
  return value->text;
}

std::string RecipeFields::required_text(const TomlValue& table, std::string_view owner,
                                        std::string_view key) {
  if (table.find(key) == nullptr) missing(table, owner, key, "a text in quotes");
  return text(table, owner, key).value_or("");
}

std::string RecipeFields::choice(const TomlValue& table, std::string_view owner,
                                 std::string_view key, const Keys& choices) {
  const std::string expected = fmt::format("one of {}", fmt::join(choices, ", "));
  if (table.find(key) == nullptr) missing(table, owner, key, expected);
  const auto typed = text(table, owner, key);
  if (!typed) return choices.front();
  if (std::find(choices.begin(), choices.end(), *typed) != choices.end()) return *typed;
  error(*table.find(key), "recipe-bad-value",
        fmt::format("{}: {} is '{}', expected {}{}", owner, key, shortened(*typed), expected,
                    closest(*typed, choices)));
  return choices.front();
}

std::vector<std::string> RecipeFields::texts(const TomlValue& table, std::string_view owner,
                                             std::string_view key) {
  std::vector<std::string> result;
  const TomlValue* value = table.find(key);
  if (value == nullptr) return result;
  if (value->kind != Kind::array) {
    wrong_type(*value, owner, key, "an array of names");
    return result;
  }
  for (const TomlValue& item : value->items) {
    if (item.kind != Kind::text) {
      wrong_type(item, owner, fmt::format("an entry of {}", key), "a text in quotes");
    } else {
      result.push_back(item.text);
    }
  }
  return result;
}

std::optional<RecipeExpression> RecipeFields::expression(const TomlValue& value,
                                                         std::string_view owner,
                                                         std::string_view key) {
  if (value.kind != Kind::text && value.kind != Kind::number) {
    wrong_type(value, owner, key, "a number or an expression in quotes");
    return std::nullopt;
  }
  if (value.kind == Kind::number && value.text.find_first_of("nN") != value.text.npos) {
    error(value, "recipe-not-finite",
          fmt::format("{}: {} is {}, expected a finite number", owner, key, value.text));
    return std::nullopt;
  }
  RecipeExpression::Problem problem;
  auto result = RecipeExpression::parse(value.text, problem);
  if (!result) {
    error(value, "recipe-expression",
          fmt::format("{}: {} = '{}' column {}: {}", owner, key, shortened(value.text),
                      problem.column, problem.message));
    return std::nullopt;
  }
  for (const RecipeExpression::Symbol& symbol : result->symbols()) {
    if (symbol_set_.contains(symbol.name)) continue;
    error(value, "recipe-unknown-symbol",
          fmt::format("{}: {} = '{}' column {}: unknown symbol '{}'{}", owner, key,
                      shortened(value.text), symbol.column, shortened(symbol.name),
                      closest(symbol.name, symbols_)),
          "every symbol needs a value in [parameters]",
          fmt::format("add {} = ... to [parameters]", shortened(symbol.name)));
    return std::nullopt;
  }
  return result;
}

void RecipeFields::add_symbol(const std::string& name) {
  symbols_.push_back(name);
  symbol_set_.insert(name);
}

RecipeFields::Keys join_keys(std::initializer_list<RecipeFields::Keys> groups) {
  RecipeFields::Keys all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

RecipeUnit dof_unit(JointType type, int i) {
  switch (type) {
    case JointType::prismatic:
    case JointType::translation:
      return RecipeUnit::length;
    case JointType::cylindrical:
      return i == 0 ? RecipeUnit::length : RecipeUnit::angle;
    case JointType::planar:
      return i < 2 ? RecipeUnit::length : RecipeUnit::angle;
    case JointType::free:
      return i < 3 ? RecipeUnit::length : RecipeUnit::angle;
    default:
      return RecipeUnit::angle;
  }
}

}  // namespace limb
