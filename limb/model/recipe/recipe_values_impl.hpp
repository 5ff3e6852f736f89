#pragma once

#include <fmt/format.h>

#include <unordered_map>

#include "limb/math/euler.hpp"
#include "limb/math/se3.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/recipe/recipe_fields.hpp"

/// Numbers, vectors and placements of a recipe as values of a scalar T.
namespace limb {

/// Keys of a placement: position, and one of four forms of the rotation.
inline const RecipeFields::Keys kPlacementKeys = {"xyz", "rpy", "quat", "axis_angle", "matrix"};

/// cos and sin of an angle as a pair; quarter turns written with pi are exact for numbers.
template <typename T>
std::pair<T, T> recipe_cos_sin(const T& angle) {
  using std::cos;
  using std::sin;
  if constexpr (Real<T>) {
    const double quarters = double(angle) / (std::numbers::pi / 2);
    const double k = std::round(quarters);
    if (std::abs(k) < 1e6 && std::abs(quarters - k) <= 4 * double(epsilon<T>()) * std::abs(k)) {
      constexpr int kCos[] = {1, 0, -1, 0}, kSin[] = {0, 1, 0, -1};
      const int turn = ((static_cast<int>(k) % 4) + 4) % 4;
      return {T(kCos[turn]), T(kSin[turn])};
    }
  }
  return {T(cos(angle)), T(sin(angle))};
}

template <typename T>
class RecipeValues : public RecipeFields {
 public:
  using RecipeFields::RecipeFields;

  void set_angle(const RecipeAngle<T>& angle) { angle_ = angle; }

  /// [units] and [parameters]; read first, because everything else uses them.
  void read_header(const TomlValue& document, const RecipeParameter<T>& parameter) {
    if (const TomlValue* units = document.find("units");
        units != nullptr && expect_table(*units, "recipe", "units")) {
      expect_keys(*units, "[units]", {"length", "angle"});
      if (units->find("length")) mm_ = choice(*units, "[units]", "length", {"m", "mm"}) == "mm";
      if (units->find("angle")) deg_ = choice(*units, "[units]", "angle", {"rad", "deg"}) == "deg";
    }
    const TomlValue* parameters = document.find("parameters");
    if (parameters == nullptr || !expect_table(*parameters, "recipe", "parameters")) return;
    constexpr std::size_t kMaxParameters = 10'000;
    if (parameters->keys.size() > kMaxParameters) {
      error(*parameters, "recipe-bad-value",
            fmt::format("[parameters] has {} entries, expected at most {}", parameters->keys.size(),
                        kMaxParameters));
      return;
    }
    // In file order: a parameter may use those above it.
    for (std::size_t i = 0; i < parameters->keys.size(); ++i) {
      const std::string& name = parameters->keys[i];
      const TomlValue& value = parameters->items[i];
      if (!is_symbol(name)) {
        error(value, "recipe-bad-value",
              fmt::format("[parameters]: '{}' is not a valid symbol, expected letters, digits and "
                          "_, and neither pi nor sqrt",
                          name.substr(0, 60)));
        continue;
      }
      const T number_in_file = number(value, "[parameters]", name);
      values_.emplace(name, parameter ? parameter(name, number_in_file) : number_in_file);
      add_symbol(name);
    }
  }

  /// A value in SI units; 0 and a diagnostic if it is not a finite number.
  T number(const TomlValue& value, std::string_view owner, std::string_view key,
           RecipeUnit unit = RecipeUnit::none) {
    const auto parsed = expression(value, owner, key);
    if (!parsed) return T(0);
    T result = evaluate<T>(*parsed, [this](const std::string& name) { return values_.at(name); });
    if (unit == RecipeUnit::length && mm_) result = T(result / ConstantsOf<T>::ratio(1000, 1));
    if (unit == RecipeUnit::angle && deg_) {
      result = T(result * ConstantsOf<T>::pi() / ConstantsOf<T>::ratio(180, 1));
    }
    if constexpr (Real<T>) {
      if (!std::isfinite(result)) {
        error(value, "recipe-not-finite",
              fmt::format("{}: {} = '{}' is {}, expected a finite number", owner, key,
                          value.text.substr(0, 60), double(result)));
        return T(0);
      }
    }
    return result;
  }
  std::optional<T> optional_number(const TomlValue& table, std::string_view owner,
                                   std::string_view key, RecipeUnit unit = RecipeUnit::none) {
    const TomlValue* value = table.find(key);
    if (value == nullptr) return std::nullopt;
    return number(*value, owner, key, unit);
  }
  T number_or(const TomlValue& table, std::string_view owner, std::string_view key, RecipeUnit unit,
              const T& fallback) {
    return optional_number(table, owner, key, unit).value_or(fallback);
  }
  T required_number(const TomlValue& table, std::string_view owner, std::string_view key,
                    RecipeUnit unit = RecipeUnit::none) {
    if (table.find(key) == nullptr) missing(table, owner, key, "a number or an expression");
    return number_or(table, owner, key, unit, T(0));
  }

  /// An array of exactly n numbers; otherwise nullopt and a diagnostic.
  std::optional<std::vector<T>> numbers(const TomlValue& value, std::string_view owner,
                                        std::string_view key, std::size_t n, RecipeUnit unit) {
    if (value.kind != TomlValue::Kind::array) {
      wrong_type(value, owner, key, fmt::format("an array of {} numbers", n));
      return std::nullopt;
    }
    if (value.items.size() != n) {
      error(value, "recipe-wrong-size",
            fmt::format("{}: {} has {} entries, expected {}", owner, key, value.items.size(), n));
      return std::nullopt;
    }
    std::vector<T> result;
    for (std::size_t i = 0; i < n; ++i) {
      result.push_back(number(value.items[i], owner, fmt::format("{}[{}]", key, i), unit));
    }
    return result;
  }
  std::optional<Vector3<T>> vector(const TomlValue& table, std::string_view owner,
                                   std::string_view key, RecipeUnit unit = RecipeUnit::none) {
    const TomlValue* value = table.find(key);
    if (value == nullptr) return std::nullopt;
    const auto entries = numbers(*value, owner, key, 3, unit);
    if (!entries) return Vector3<T>(Vector3<T>::Zero());
    return Vector3<T>((*entries)[0], (*entries)[1], (*entries)[2]);
  }
  Vector3<T> required_vector(const TomlValue& table, std::string_view owner, std::string_view key,
                             RecipeUnit unit = RecipeUnit::none) {
    if (table.find(key) == nullptr) missing(table, owner, key, "an array of 3 numbers");
    return vector(table, owner, key, unit).value_or(Vector3<T>(Vector3<T>::Zero()));
  }

  /// xyz and one of rpy, quat, axis_angle, matrix among the keys of a table.
  Pose<T> placement(const TomlValue& table, std::string_view owner) {
    Pose<T> X;
    if (const auto xyz = vector(table, owner, "xyz", RecipeUnit::length)) X.p = *xyz;
    int count = 0;
    for (const char* key : {"rpy", "quat", "axis_angle", "matrix"}) {
      const TomlValue* value = table.find(key);
      if (value == nullptr) continue;
      if (++count == 2) {
        error(
            *value, "recipe-bad-value",
            fmt::format("{}: two rotations, expected one of rpy, quat, axis_angle, matrix", owner));
      }
      X.R = rotation(*value, owner, key);
    }
    return X;
  }
  /// A table with only the keys of a placement; identity if it is absent.
  Pose<T> placement_at(const TomlValue& table, std::string_view owner, std::string_view key) {
    const TomlValue* value = table.find(key);
    if (value == nullptr || !expect_table(*value, owner, key)) return {};
    const std::string inner = fmt::format("{}: {}", owner, key);
    expect_keys(*value, inner, kPlacementKeys);
    return placement(*value, inner);
  }

  /// The vector normalized to rounding precision; a diagnostic if its length is not near 1.
  Vector3<T> unit_vector(const TomlValue& at, std::string_view owner, std::string_view key,
                         const Vector3<T>& v) {
    if constexpr (Real<T>) {
      const T length = v.norm();
      if (!(std::abs(length - T(1)) <= T(1e-6))) {
        error(at, "recipe-bad-value",
              fmt::format("{}: {} has length {}, expected 1", owner, key, double(length)));
        return Vector3<T>::UnitZ();
      }
      // An exact unit vector is kept.
      return std::abs(length - T(1)) <= epsilon<T>() ? v : Vector3<T>(v / length);
    } else {
      return v;
    }
  }

  /// Rotation about x, y or z (0, 1, 2) with exact quarter turns.
  Matrix3<T> rotation_about(int axis, const T& angle, std::string_view owner) const {
    const auto [c, s] = cos_sin(angle, owner);
    return axis_rotation<T>(axis, c, s);
  }

 private:
  std::pair<T, T> cos_sin(const T& angle, std::string_view owner) const {
    return recipe_cos_sin<T>(angle_ ? angle_(std::string(owner), angle) : angle);
  }

  Matrix3<T> rotation(const TomlValue& value, std::string_view owner, std::string_view key) {
    if (key == "rpy") {
      const auto e = numbers(value, owner, key, 3, RecipeUnit::angle);
      if (!e) return Matrix3<T>::Identity();
      return rotation_about(2, (*e)[2], owner) * rotation_about(1, (*e)[1], owner) *
             rotation_about(0, (*e)[0], owner);
    }
    if (key == "quat") return from_quat(value, owner);
    if (key == "axis_angle") return from_axis_angle(value, owner);
    return from_rows(value, owner);
  }

  Matrix3<T> from_quat(const TomlValue& value, std::string_view owner) {
    const auto e = numbers(value, owner, "quat", 4, RecipeUnit::none);
    if (!e) return Matrix3<T>::Identity();
    auto q = quat_xyzw<T>((*e)[0], (*e)[1], (*e)[2], (*e)[3]);
    if constexpr (Real<T>) {
      if (!(std::abs(q.norm() - T(1)) <= T(1e-6))) {
        error(value, "recipe-bad-value",
              fmt::format("{}: quat has length {}, expected 1 (order x, y, z, w)", owner,
                          double(q.norm())));
        return Matrix3<T>::Identity();
      }
      q = q.normalized();
    }
    return to_matrix(q);
  }

  Matrix3<T> from_axis_angle(const TomlValue& value, std::string_view owner) {
    if (!expect_table(value, owner, "axis_angle")) return Matrix3<T>::Identity();
    const std::string inner = fmt::format("{}: axis_angle", owner);
    expect_keys(value, inner, {"axis", "angle"});
    const Vector3<T> axis =
        unit_vector(value, inner, "axis", required_vector(value, inner, "axis"));
    const auto [c, s] = cos_sin(required_number(value, inner, "angle", RecipeUnit::angle), owner);
    const Matrix3<T> W = skew<T>(axis);
    return Matrix3<T>(Matrix3<T>::Identity() + s * W + (T(1) - c) * (W * W));
  }

  Matrix3<T> from_rows(const TomlValue& value, std::string_view owner) {
    if (value.kind != TomlValue::Kind::array || value.items.size() != 3) {
      wrong_type(value, owner, "matrix", "an array of 3 rows");
      return Matrix3<T>::Identity();
    }
    Matrix3<T> R = Matrix3<T>::Identity();
    for (int i = 0; i < 3; ++i) {
      const auto row = numbers(value.items[static_cast<std::size_t>(i)], owner,
                               fmt::format("matrix[{}]", i), 3, RecipeUnit::none);
      if (!row) return Matrix3<T>::Identity();
      R.row(i) << (*row)[0], (*row)[1], (*row)[2];
    }
    if constexpr (Real<T>) {
      if (!is_rotation<T>(R, T(1e-6))) {
        error(value, "recipe-bad-value",
              fmt::format("{}: matrix is not a rotation: |R^T R - 1| = {:.3g}, det = {:.6g}", owner,
                          double(rotation_error(R).orthogonality), double(R.determinant())));
        return Matrix3<T>::Identity();
      }
    }
    return R;
  }

  std::unordered_map<std::string, T> values_;
  RecipeAngle<T> angle_;
  bool mm_ = false, deg_ = false;
};

}  // namespace limb
