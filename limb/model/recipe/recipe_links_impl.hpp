#pragma once

#include "limb/base/without_call.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/model/recipe/recipe_values_impl.hpp"

/// Mass properties and shapes of a recipe's links.
namespace limb {

/// Keys that give a link its mass, in [[link]] and in the rows of DH and screw recipes.
inline const RecipeFields::Keys kInertialKeys = {
    "mass",         "com",   "inertia", "inertia_entries", "inertia_products",
    "inertia_axes", "solid", "solids",  "geometry"};

template <typename T>
class RecipeLinks : public RecipeValues<T> {
 public:
  using Base = RecipeValues<T>;
  using Base::Base;

  LinkDescription<T> link(const TomlValue& table, std::string_view owner, std::string name) {
    LinkDescription<T> result;
    result.name = std::move(name);
    result.source = this->source(table);
    const TomlValue* solid = table.find("solid");
    const TomlValue* solids = table.find("solids");
    const bool plain = has_plain_inertia(table);
    if (solid != nullptr || solids != nullptr) {
      const TomlValue& at = solid ? *solid : *solids;
      if (plain || (solid && solids)) {
        this->error(at, "recipe-bad-value",
                    fmt::format("{}: two sources of inertia, expected one of: mass with com and "
                                "inertia; solid; solids",
                                owner));
      }
      result.inertial = from_solids(at, owner, solid != nullptr, result.geometry);
    } else if (plain) {
      result.inertial = from_numbers(table, owner);
    }
    read_geometry(table, owner, result.geometry);
    return result;
  }

 private:
  using Unit = RecipeUnit;
  using Kind = TomlValue::Kind;

  static bool has_plain_inertia(const TomlValue& table) {
    for (const char* key :
         {"mass", "com", "inertia", "inertia_entries", "inertia_products", "inertia_axes"}) {
      if (table.find(key) != nullptr) return true;
    }
    return false;
  }

  InertialDescription<T> from_numbers(const TomlValue& table, std::string_view owner) {
    InertialDescription<T> result;
    result.mass = this->required_number(table, owner, "mass");
    const TomlValue* mass = table.find("mass");
    result.source = this->source(mass ? *mass : table);
    result.X_LI = this->placement_at(table, owner, "inertia_axes");
    if (const TomlValue* axes = table.find("inertia_axes"); axes && axes->find("xyz")) {
      this->error(*axes, "recipe-bad-value",
                  fmt::format("{}: inertia_axes has xyz, expected a rotation only; the position of "
                              "the mass centre is com",
                              owner));
    }
    result.X_LI.p =
        this->vector(table, owner, "com", Unit::length).value_or(Vector3<T>(Vector3<T>::Zero()));
    int count = 0;
    for (const char* key : {"inertia", "inertia_entries", "inertia_products"}) {
      const TomlValue* value = table.find(key);
      if (value == nullptr) continue;
      if (++count == 2) {
        this->error(*value, "recipe-bad-value",
                    fmt::format("{}: inertia given twice, expected one of inertia, "
                                "inertia_entries, inertia_products",
                                owner));
      }
      result.tensor = tensor(*value, owner, key);
    }
    return result;
  }

  Matrix3<T> tensor(const TomlValue& value, std::string_view owner, std::string_view key) {
    const T none(0);
    if (key == "inertia") {
      const auto d = this->numbers(value, owner, key, 3, Unit::none);
      if (!d) return Matrix3<T>::Zero();
      return tensor_from_entries<T>((*d)[0], (*d)[1], (*d)[2], none, none, none);
    }
    if (!this->expect_table(value, owner, key)) return Matrix3<T>::Zero();
    const std::string inner = fmt::format("{}: {}", owner, key);
    this->expect_keys(value, inner, {"xx", "yy", "zz", "xy", "xz", "yz"});
    const T xx = this->required_number(value, inner, "xx");
    const T yy = this->required_number(value, inner, "yy");
    const T zz = this->required_number(value, inner, "zz");
    const T xy = this->number_or(value, inner, "xy", Unit::none, none);
    const T xz = this->number_or(value, inner, "xz", Unit::none, none);
    const T yz = this->number_or(value, inner, "yz", Unit::none, none);
    return key == "inertia_products" ? tensor_from_products<T>(xx, yy, zz, xy, xz, yz)
                                     : tensor_from_entries<T>(xx, yy, zz, xy, xz, yz);
  }

  std::optional<InertialDescription<T>> from_solids(const TomlValue& value, std::string_view owner,
                                                    bool single, std::vector<Geometry>& geometry) {
    InertialDescription<T> result;
    result.source = this->source(value);
    if (single) {
      if (!this->expect_table(value, owner, "solid")) return std::nullopt;
      Pose<T> X_LS;
      const Inertia<T> I = solid(value, fmt::format("{}: solid", owner), X_LS, geometry);
      result.mass = I.mass();
      result.X_LI = X_LS;
      result.tensor = I.tensor();
      return result;
    }
    if (value.kind != Kind::array || value.items.empty()) {
      this->wrong_type(value, owner, "solids", "an array of tables, at least one");
      return std::nullopt;
    }
    Inertia<T> sum;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (!this->expect_table(value.items[i], owner, "an entry of solids")) continue;
      Pose<T> X_LS;
      const Inertia<T> I =
          solid(value.items[i], fmt::format("{}: solids[{}]", owner, i), X_LS, geometry);
      sum = sum + I.transformed(X_LS);
    }
    if constexpr (Real<T>) {
      if (!(sum.mass() > T(0))) {
        this->error(value, "recipe-bad-value",
                    fmt::format("{}: the total mass of solids is not positive", owner));
        return std::nullopt;
      }
    }
    result.mass = sum.mass();
    result.X_LI.p = sum.first_moment() / sum.mass();
    result.tensor = parallel_axis_to_com<T>(sum.tensor(), sum.mass(), result.X_LI.p);
    return result;
  }

  /// The solid about its mass centre, with X_LS its pose in the link.
  Inertia<T> solid(const TomlValue& table, const std::string& owner, Pose<T>& X_LS,
                   std::vector<Geometry>& geometry) {
    static const std::vector<std::pair<std::string, RecipeFields::Keys>> kShapes = {
        {"point", {}},
        {"box", {"size"}},
        {"cylinder", {"radius", "length"}},
        {"tube", {"inner_radius", "outer_radius", "length"}},
        {"sphere", {"radius"}},
        {"hollow_sphere", {"inner_radius", "outer_radius"}},
        {"shell", {"radius"}},
        {"capsule", {"radius", "length"}},
        {"ellipsoid", {"half_axes"}},
        {"cone", {"radius", "height"}}};
    RecipeFields::Keys names, keys;
    for (const auto& shape : kShapes) names.push_back(shape.first);
    const std::string shape = this->choice(table, owner, "shape", names);
    for (const auto& [name, own] : kShapes) {
      if (name == shape) keys = join_keys({own, kPlacementKeys, {"shape", "mass", "density"}});
    }
    this->expect_keys(table, owner, keys);
    X_LS = this->placement(table, owner);
    const bool dense = table.find("density") != nullptr;
    if (dense == (table.find("mass") != nullptr)) {
      this->error(table, "recipe-missing-key",
                  fmt::format("{}: has {}, expected one of mass, density", owner,
                              dense ? "both mass and density" : "no mass and no density"));
      return {};
    }
    if (dense && (shape == "point" || shape == "shell")) {
      this->error(
          table, "recipe-bad-value",
          fmt::format("{}: a {} has no volume, expected mass instead of density", owner, shape));
      return {};
    }
    const T amount = this->required_number(table, owner, dense ? "density" : "mass");
    try {
      Inertia<T> I = dense ? solid_inertia(table, owner, shape, Density<T>{amount}, X_LS, geometry)
                           : solid_inertia(table, owner, shape, Mass<T>{amount}, X_LS, geometry);
      if (shape != "cone") return I;
      const Vector3<T> com(T(0), T(0),
                           this->number_or(table, owner, "height", Unit::length, T(0)) / T(4));
      X_LS.p = X_LS * com;
      return {I.mass(), Vector3<T>::Zero(), parallel_axis_to_com<T>(I.tensor(), I.mass(), com)};
    } catch (const Error& wrong) {
      this->error(table, "recipe-bad-value",
                  fmt::format("{}: {}", owner, without_call(wrong.what())));
      return {};
    }
  }

  template <typename A>
  Inertia<T> solid_inertia(const TomlValue& table, const std::string& owner,
                           const std::string& shape, const A& amount, const Pose<T>& X_LS,
                           std::vector<Geometry>& geometry) {
    const auto length = [&](const char* key) {
      return this->required_number(table, owner, key, Unit::length);
    };
    using Shape = Geometry::Shape;
    const T none(0);
    const auto with_geometry = [&](Shape geometry_shape, const Vector3<T>& size,
                                   const Inertia<T>& I) {
      add_geometry(table, geometry_shape, size, X_LS, geometry);
      return I;
    };
    if (shape == "box") {
      const Vector3<T> size = this->required_vector(table, owner, "size", Unit::length);
      return with_geometry(Shape::box, size, box_inertia(amount, size));
    }
    if (shape == "ellipsoid") {
      const Vector3<T> half = this->required_vector(table, owner, "half_axes", Unit::length);
      return with_geometry(Shape::ellipsoid, half, ellipsoid_inertia(amount, half));
    }
    if (shape == "tube" || shape == "hollow_sphere") {
      const T r1 = length("inner_radius"), r2 = length("outer_radius");
      if (shape == "hollow_sphere") {
        return with_geometry(Shape::sphere, {r2, none, none},
                             hollow_sphere_inertia(amount, r1, r2));
      }
      const T l = length("length");
      return with_geometry(Shape::cylinder, {r2, l, none},
                           hollow_cylinder_inertia(amount, r1, r2, l));
    }
    if constexpr (std::same_as<A, Mass<T>>) {
      if (shape == "point") {
        const Inertia<T> I(amount.m, Vector3<T>::Zero(), Matrix3<T>::Zero());
        if constexpr (Real<T>) check_not_negative("point", "mass", double(amount.m));
        return I;
      }
      if (shape == "shell") {
        const T shell_radius = length("radius");
        return with_geometry(Shape::sphere, {shell_radius, none, none},
                             spherical_shell_inertia(amount, shell_radius));
      }
    }
    const T r = length("radius");
    if (shape == "sphere")
      return with_geometry(Shape::sphere, {r, none, none}, sphere_inertia(amount, r));
    if (shape == "cone") return cone_inertia(amount, r, length("height"));
    const T l = length("length");
    if (shape == "capsule") {
      return with_geometry(Shape::capsule, {r, l, none}, capsule_inertia(amount, r, l));
    }
    return with_geometry(Shape::cylinder, {r, l, none}, cylinder_inertia(amount, r, l));
  }

  // Geometry has machine numbers; other scalars have none.
  void add_geometry(const TomlValue& table, Geometry::Shape shape, const Vector3<T>& size,
                    const Pose<T>& X_LG, std::vector<Geometry>& geometry) {
    if constexpr (Real<T>) {
      Geometry g;
      g.shape = shape;
      g.size = size.template cast<double>();
      g.X_LG = X_LG.template cast<double>();
      g.source = this->source(table);
      geometry.push_back(std::move(g));
    }
  }

  void read_geometry(const TomlValue& table, std::string_view owner,
                     std::vector<Geometry>& geometry) {
    const TomlValue* array = table.find("geometry");
    if (array == nullptr) return;
    if (array->kind != Kind::array) {
      return this->wrong_type(*array, owner, "geometry", "an array of tables");
    }
    for (std::size_t i = 0; i < array->items.size(); ++i) {
      const TomlValue& item = array->items[i];
      const std::string inner = fmt::format("{}: geometry[{}]", owner, i);
      if (!this->expect_table(item, owner, fmt::format("geometry[{}]", i))) continue;
      this->expect_keys(item, inner,
                        join_keys({kPlacementKeys, {"shape", "role", "size", "uri", "scale"}}));
      static const RecipeFields::Keys kShapes = {"box",       "cylinder", "sphere", "capsule",
                                                 "ellipsoid", "plane",    "mesh"};
      const std::string shape = this->choice(item, inner, "shape", kShapes);
      const auto index = std::find(kShapes.begin(), kShapes.end(), shape) - kShapes.begin();
      const bool mesh = shape == "mesh";
      const Vector3<T> size = mesh ? Vector3<T>(Vector3<T>::Zero())
                                   : this->required_vector(item, inner, "size", Unit::length);
      const Pose<T> X_LG = this->placement(item, inner);
      const bool collision = item.find("role") != nullptr &&
                             this->choice(item, inner, "role", {"visual", "collision"}) != "visual";
      const std::string uri = mesh ? this->required_text(item, inner, "uri") : "";
      const auto scale = this->vector(item, inner, "scale");
      if constexpr (Real<T>) {
        add_geometry(item, static_cast<Geometry::Shape>(index), size, X_LG, geometry);
        Geometry& g = geometry.back();
        if (collision) g.role = Geometry::Role::collision;
        g.mesh_uri = uri;
        g.mesh_path = this->mesh_path(item, uri);
        if (scale) g.mesh_scale = scale->template cast<double>();
      }
    }
  }
};

}  // namespace limb
