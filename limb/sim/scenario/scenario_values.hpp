#pragma once

#include "limb/model/recipe/recipe_fields.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Reads the values of a scenario: numbers in SI units and radians, or texts with a unit, "250 ms".
class ScenarioValues {
 public:
  enum class Sign { any, not_negative, positive };

  ScenarioValues(const Model<double>& model, RecipeFields& fields)
      : model_(model), fields_(fields) {}

  /// The number of a key, if present. Texts must have one of the given units.
  std::optional<double> number(const TomlValue& table, const std::string& owner, const char* key,
                               const char* units, Sign sign = Sign::any);
  void set(const TomlValue& table, const std::string& owner, const char* key, const char* units,
           Sign sign, double& value) {
    if (const auto found = number(table, owner, key, units, sign)) value = *found;
  }
  /// The key "seed": a whole number that TOML can hold.
  void set_seed(const TomlValue& table, const std::string& owner, std::uint64_t& seed);
  std::optional<double> value_of(const TomlValue& value, const std::string& owner, const char* key,
                                 const char* units, Sign sign);

  /// A configuration: an array of all numbers, or a table of joints with one degree of freedom.
  void configuration(const TomlValue& table, const std::string& owner, const char* key,
                     VectorX<double>& q);
  /// One number for all, an array, or a table of joints.
  void velocities(const TomlValue& table, const std::string& owner, const char* key,
                  const char* units, ScenarioValues::Sign sign, VectorX<double>& v);
  Vector3<double> vector(const TomlValue& table, const std::string& owner, const char* key);

  /// The velocity of a joint that is not a follower; for an unknown joint a diagnostic with the
  /// nearest name.
  std::optional<int> velocity_of(const TomlValue& at, const std::string& owner,
                                 const std::string& joint);
  std::optional<std::string> joint(const TomlValue& table, const std::string& owner);
  std::optional<FrameId> frame(const TomlValue& table, const std::string& owner);
  /// Whether this is the name of a joint with one degree of freedom; else a diagnostic.
  bool is_joint(const TomlValue& at, const std::string& owner, const std::string& name);

 private:
  std::optional<double> fail_value(const TomlValue& value, const std::string& owner,
                                   const char* key, const std::string& found,
                                   const std::string& expected);
  void by_joint(const TomlValue& value, const std::string& owner, const char* key,
                const char* units, Sign sign, bool position, VectorX<double>& x);

  const Model<double>& model_;
  RecipeFields& fields_;
};

}  // namespace limb
