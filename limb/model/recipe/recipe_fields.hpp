#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "limb/base/diagnostic.hpp"
#include "limb/model/core/joint_type.hpp"
#include "limb/model/recipe/expression.hpp"
#include "limb/model/recipe/toml.hpp"
#include "limb/model/urdf/mesh_path.hpp"

/// The part of the recipe reader that does not depend on the scalar: keys, texts, units, and a
/// diagnostic with file and line for each mistake. `owner` names the element in messages: "joint
/// 'elbow'".
namespace limb {

enum class RecipeUnit { none, length, angle };

class RecipeFields {
 public:
  using Keys = std::vector<std::string>;

  RecipeFields(std::string file, const ReadOptions& options, Diagnostics& diagnostics)
      : file_(std::move(file)), meshes_(file_, options), diagnostics_(diagnostics) {}

  [[nodiscard]] SourceLocation source(const TomlValue& value) const { return {file_, value.line}; }

  void error(const TomlValue& at, std::string rule, std::string message, std::string reason = {},
             std::string fix = {});
  /// "link 'a': mass is a table, expected a number or an expression"
  void wrong_type(const TomlValue& value, std::string_view owner, std::string_view key,
                  std::string_view expected);
  void missing(const TomlValue& table, std::string_view owner, std::string_view key,
               std::string_view expected);
  /// A diagnostic for each unknown key of the table, with the nearest known one.
  void expect_keys(const TomlValue& table, std::string_view owner, const Keys& known);
  /// False, and a diagnostic, if the value is not a table.
  bool expect_table(const TomlValue& value, std::string_view owner, std::string_view key);

  /// The tables of [[key]], in file order.
  std::vector<const TomlValue*> rows(const TomlValue& document, std::string_view key);
  std::optional<std::string> text(const TomlValue& table, std::string_view owner,
                                  std::string_view key);
  std::string required_text(const TomlValue& table, std::string_view owner, std::string_view key);
  /// One of the choices; a diagnostic and the first choice if it is another value or missing.
  std::string choice(const TomlValue& table, std::string_view owner, std::string_view key,
                     const Keys& choices);
  /// An array of texts.
  std::vector<std::string> texts(const TomlValue& table, std::string_view owner,
                                 std::string_view key);
  /// The file of a mesh; "" and a diagnostic, once per URI, if it is not found.
  std::string mesh_path(const TomlValue& at, const std::string& uri);
  /// The value as an expression with only known symbols; else a diagnostic and nullopt.
  std::optional<RecipeExpression> expression(const TomlValue& value, std::string_view owner,
                                             std::string_view key);

  /// " (closest: 'mass')" or "".
  [[nodiscard]] std::string closest(std::string_view typed, const Keys& known) const;

  /// From now on expressions may use this parameter.
  void add_symbol(const std::string& name);

 private:
  Keys symbols_;  ///< in file order, for suggestions
  std::unordered_set<std::string> symbol_set_;
  std::string file_;
  MeshPaths meshes_;
  Diagnostics& diagnostics_;
};

/// The keys of several groups together.
RecipeFields::Keys join_keys(std::initializer_list<RecipeFields::Keys> groups);

/// Unit of component i of a joint's velocity: length or angle.
RecipeUnit dof_unit(JointType type, int i);

}  // namespace limb
