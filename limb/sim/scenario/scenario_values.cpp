#include "limb/sim/scenario/scenario_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

#include "limb/base/number.hpp"

namespace limb {
namespace {

using Kind = TomlValue::Kind;

struct UnitName {
  std::string_view name;
  double size;
};
constexpr UnitName kUnits[] = {
    {"s", 1},
    {"ms", 1e-3},
    {"us", 1e-6},
    {"min", 60},
    {"rad", 1},
    {"deg", std::numbers::pi / 180},
    {"m", 1},
    {"mm", 1e-3},
    {"cm", 1e-2},
    {"rad/s", 1},
    {"deg/s", std::numbers::pi / 180},
    {"m/s", 1},
    {"N m", 1},
    {"N", 1},
    {"Hz", 1},
    {"kHz", 1e3},
};

/// Whether `units`, a list separated by commas, names this unit.
bool lists(std::string_view units, std::string_view name) {
  while (!units.empty()) {
    const std::size_t comma = std::min(units.find(','), units.size());
    if (units.substr(0, comma) == name) return true;
    units.remove_prefix(std::min(comma + 1, units.size()));
  }
  return false;
}

std::string expected_text(std::string_view units, ScenarioValues::Sign sign) {
  std::string text = "a number";
  if (sign == ScenarioValues::Sign::positive) text = "a number > 0";
  if (sign == ScenarioValues::Sign::not_negative) text = "a number >= 0";
  if (units.empty()) return text;
  return fmt::format("{}, plain in SI units or a text in one of {}", text, units);
}

}  // namespace

std::optional<double> ScenarioValues::fail_value(const TomlValue& value, const std::string& owner,
                                                 const char* key, const std::string& found,
                                                 const std::string& expected) {
  fields_.error(value, "scenario-bad-value",
                fmt::format("{}: {} is {}, expected {}", owner, key, found, expected));
  return std::nullopt;
}

std::optional<double> ScenarioValues::value_of(const TomlValue& value, const std::string& owner,
                                               const char* key, const char* units, Sign sign) {
  const std::string expected = expected_text(units, sign);
  std::optional<double> number;
  std::string found(value.kind_text());
  if (value.kind == Kind::number) {
    number = parse_number(value.text);
    found = value.text;
  } else if (value.kind == Kind::text) {
    found = fmt::format("'{}'", value.text);
    const std::string_view text = value.text;
    const std::size_t space = text.find(' ');
    const auto factor = parse_number(text.substr(0, space));
    for (const UnitName& unit : kUnits) {
      if (!factor || space == std::string_view::npos || text.substr(space + 1) != unit.name)
        continue;
      if (lists(units, unit.name)) number = *factor * unit.size;
    }
  }
  // A unit may make a finite number infinite.
  if (!number || !std::isfinite(*number) || (sign == Sign::positive && !(*number > 0)) ||
      (sign == Sign::not_negative && !(*number >= 0))) {
    return fail_value(value, owner, key, found, expected);
  }
  return number;
}

std::optional<double> ScenarioValues::number(const TomlValue& table, const std::string& owner,
                                             const char* key, const char* units, Sign sign) {
  const TomlValue* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  return value_of(*value, owner, key, units, sign);
}

void ScenarioValues::set_seed(const TomlValue& table, const std::string& owner,
                              std::uint64_t& seed) {
  const TomlValue* value = table.find("seed");
  if (value == nullptr) return;
  const std::string_view text = value->text;
  std::uint64_t found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
  if (value->kind == Kind::number && error == std::errc() && end == text.data() + text.size()) {
    seed = found;
    return;
  }
  const bool has_text = value->kind == Kind::number || value->kind == Kind::text;
  fail_value(*value, owner, "seed", has_text ? value->text : std::string(value->kind_text()),
             "a whole number from 0 to 9223372036854775807");
}

bool ScenarioValues::is_joint(const TomlValue& at, const std::string& owner,
                              const std::string& name) {
  std::vector<std::string> known;
  for (const Body<double>& body : model_.bodies()) {
    if (body.joint.nv() != 1) continue;
    if (body.name == name) return true;
    known.push_back(body.name);
  }
  fields_.error(at, "scenario-unknown-joint",
                fmt::format("{}: no joint with one degree of freedom is named '{}'{}", owner, name,
                            fields_.closest(name, known)));
  return false;
}

std::optional<int> ScenarioValues::velocity_of(const TomlValue& at, const std::string& owner,
                                               const std::string& joint) {
  if (!is_joint(at, owner, joint)) return std::nullopt;
  const BodyId body = model_.find_body(joint);
  const auto& row = model_.coupling().rows()[static_cast<std::size_t>(body.value() - 1)];
  if (row.yq < 0) {
    fields_.error(at, "scenario-follower",
                  fmt::format("{}: joint '{}' follows others and cannot be set", owner, joint));
    return std::nullopt;
  }
  return row.terms[0].y;
}

std::optional<std::string> ScenarioValues::joint(const TomlValue& table, const std::string& owner) {
  const std::string name = fields_.required_text(table, owner, "joint");
  if (name.empty() || !is_joint(*table.find("joint"), owner, name)) return std::nullopt;
  return name;
}

std::optional<FrameId> ScenarioValues::frame(const TomlValue& table, const std::string& owner) {
  const std::string name = fields_.required_text(table, owner, "frame");
  if (name.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < model_.frames().size(); ++i) {
    if (model_.frames()[i].name == name) return FrameId(static_cast<int>(i));
    known.push_back(model_.frames()[i].name);
  }
  fields_.error(*table.find("frame"), "scenario-unknown-frame",
                fmt::format("{}: no link or frame is named '{}'{}", owner, name,
                            fields_.closest(name, known)));
  return std::nullopt;
}

void ScenarioValues::by_joint(const TomlValue& value, const std::string& owner, const char* key,
                              const char* units, Sign sign, bool position, VectorX<double>& x) {
  if (value.kind == Kind::array) {
    if (static_cast<Eigen::Index>(value.items.size()) != x.size()) {
      fail_value(value, owner, key, fmt::format("{} numbers", value.items.size()),
                 fmt::format("{}", x.size()));
      return;
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (const auto y = value_of(value.items[i], owner, key, units, sign)) {
        x[static_cast<Eigen::Index>(i)] = *y;
      }
    }
    return;
  }
  if (value.kind != Kind::table) {
    fail_value(value, owner, key, std::string(value.kind_text()),
               "an array of all numbers or a table of joints");
    return;
  }
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    const auto y = velocity_of(value.items[i], owner, value.keys[i]);
    const auto number = value_of(value.items[i], owner, value.keys[i].c_str(), units, sign);
    if (!y || !number) continue;
    const BodyId body = model_.find_body(value.keys[i]);
    const auto& row = model_.coupling().rows()[static_cast<std::size_t>(body.value() - 1)];
    x[position ? row.yq : *y] = *number;
  }
}

void ScenarioValues::configuration(const TomlValue& table, const std::string& owner,
                                   const char* key, VectorX<double>& q) {
  if (const TomlValue* value = table.find(key)) {
    by_joint(*value, owner, key, "rad,deg,m,mm,cm", Sign::any, true, q);
  }
}

void ScenarioValues::velocities(const TomlValue& table, const std::string& owner, const char* key,
                                const char* units, Sign sign, VectorX<double>& v) {
  const TomlValue* value = table.find(key);
  if (value == nullptr) return;
  if (value->kind == Kind::number || value->kind == Kind::text) {
    if (const auto number = value_of(*value, owner, key, units, sign)) v.setConstant(*number);
    return;
  }
  by_joint(*value, owner, key, units, sign, false, v);
}

Vector3<double> ScenarioValues::vector(const TomlValue& table, const std::string& owner,
                                       const char* key) {
  Vector3<double> result = Vector3<double>::Zero();
  const TomlValue* value = table.find(key);
  if (value == nullptr) return result;
  if (value->kind != Kind::array || value->items.size() != 3) {
    fail_value(*value, owner, key, std::string(value->kind_text()), "an array of three numbers");
    return result;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (const auto x = value_of(value->items[i], owner, key, "", Sign::any)) {
      result[static_cast<Eigen::Index>(i)] = *x;
    }
  }
  return result;
}

}  // namespace limb
