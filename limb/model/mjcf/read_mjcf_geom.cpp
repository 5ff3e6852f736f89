#include "limb/model/mjcf/read_mjcf_geom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace limb::mjcf {
namespace {

using Shape = Geometry::Shape;

std::optional<Shape> primitive(std::string_view type) {
  if (type == "sphere") return Shape::sphere;
  if (type == "capsule") return Shape::capsule;
  if (type == "cylinder") return Shape::cylinder;
  if (type == "ellipsoid") return Shape::ellipsoid;
  if (type == "box") return Shape::box;
  return std::nullopt;
}

/// Number of required sizes; `fromto` replaces the last.
std::size_t sizes_of(Shape shape) {
  return shape == Shape::sphere ? 1 : shape == Shape::capsule || shape == Shape::cylinder ? 2 : 3;
}

/// MJCF has half lengths; Geometry has full lengths except for radii and the ellipsoid.
Vector3<double> geometry_size(Shape shape, const Vector3<double>& half) {
  switch (shape) {
    case Shape::box:
      return 2 * half;
    case Shape::capsule:
    case Shape::cylinder:
      return {half[0], 2 * half[1], 0};
    case Shape::sphere:
      return {half[0], 0, 0};
    default:
      return half;
  }
}

/// Half sizes of a primitive, all positive; otherwise nullopt and a diagnostic.
std::optional<Vector3<double>> half_sizes(const Attributes& a, Shape shape,
                                          const std::optional<Segment>& segment) {
  std::vector<double> size = {0, 0, 0};
  (void)a.overlay("size", size);
  if (segment) {
    // The cross-section is round or square: only the first number is used.
    size[sizes_of(shape) - 1] = segment->half_length;
    if (sizes_of(shape) == 3) size[1] = size[0];
  }
  const auto count = static_cast<std::ptrdiff_t>(sizes_of(shape));
  if (std::all_of(size.begin(), size.begin() + count, [](double x) { return x > 0; })) {
    return Vector3<double>(size.data());
  }
  a.error("geom-size",
          fmt::format("size is [{}], expected {} positive number{}",
                      fmt::join(size.begin(), size.begin() + count, ", "), count,
                      count == 1 ? "" : "s"),
          "a solid without extent has no inertia");
  return std::nullopt;
}

/// A bit mask of contact, 0 to 2^31 - 1.
unsigned mask(const Attributes& a, const char* name) {
  const double value = a.number(name, 1);
  if (value >= 0 && value <= std::numeric_limits<std::int32_t>::max()) {
    return static_cast<unsigned>(value);
  }
  a.error("contact-mask",
          fmt::format("attribute '{}' is {}, expected 0 to 2147483647", name, value),
          "it is a set of bits");
  return 1;
}

/// friction, condim and priority.
void read_friction(const Attributes& a, Geometry& geometry) {
  const std::vector<double> friction = contact_friction(a, {1, 0.005, 0.0001});
  geometry.friction = friction[0];
  geometry.torsion = friction[1];
  geometry.rolling = friction[2];
  geometry.contact_dimension = contact_dimension(a);
  const double priority = a.number("priority", 0);
  constexpr double kMost = std::numeric_limits<int>::max();
  if (priority == std::round(priority) && std::abs(priority) <= kMost) {
    geometry.priority = static_cast<int>(priority);
  } else {
    a.error("priority", fmt::format("priority is {}, expected an integer", priority),
            "its friction in a pair depends on it");
  }
}

/// nullopt if the geom has no mass.
std::optional<GeomMass> read_mass(const Attributes& a) {
  const double density = a.number("density", 1000), mass = a.number("mass", 0);
  if (mass < 0 || density < 0) {
    a.error("geom-mass-negative",
            fmt::format("{} is {}, expected 0 or more", mass < 0 ? "mass" : "density",
                        mass < 0 ? mass : density),
            "mass cannot be negative");
    return std::nullopt;
  }
  GeomMass result;
  result.is_mass = a.has("mass");
  result.value = result.is_mass ? mass : density;
  result.shell = a.keyword("shellinertia", {"true", "false"}, "false") == "true";
  return result;
}

/// The mesh that the geom names; null and a diagnostic if it does not exist.
const MeshAsset* mesh_of(const Attributes& a, const MeshLibrary& meshes) {
  const std::string name = a.text("mesh");
  const MeshAsset* asset = meshes.find(name);
  if (asset == nullptr) {
    std::vector<std::string> names;
    if (!a.has_many_diagnostics()) names = meshes.names();
    a.error("mesh-unknown",
            fmt::format("mesh '{}' is not in <asset>{}", name.substr(0, 60), closest(name, names)),
            "the shape is not known");
  }
  return asset;
}

void read_mesh_geom(const Attributes& a, const MeshLibrary& meshes, Geom& geom,
                    Geometry& geometry) {
  const MeshAsset* asset = mesh_of(a, meshes);
  if (asset == nullptr) return;
  const auto mass = read_mass(a);
  if (mass && mass->shell) {
    a.error("mesh-shell", "attribute 'shellinertia' does not apply to mesh geoms",
            "MuJoCo refuses it", "write inertia='shell' in the <mesh>");
  } else if (mass && mass->value > 0) {
    geom.mesh = MeshGeom{asset, *mass, std::nullopt, 1};
  }
  geometry.shape = Shape::mesh;
  geometry.mesh_uri = asset->file;
  geometry.mesh_scale = asset->scale;
  geometry.mesh_path = asset->path;
  geometry.X_GM = asset->X_GM;
  geometry.mesh_vertices = asset->vertices;
  geom.geometry = geometry;
}

/// A primitive whose size comes from a mesh. Its shape is not kept: the mesh is read only for mass.
void read_fitted_geom(const Attributes& a, Shape shape, const MeshLibrary& meshes, Geom& geom) {
  if (a.has("fromto")) {
    a.error("fitted-fromto", "attribute 'fromto' with attribute 'mesh'",
            "only one can be meant; MuJoCo refuses both");
    return;
  }
  const MeshAsset* asset = mesh_of(a, meshes);
  const auto mass = read_mass(a);
  if (asset == nullptr || !mass || !(mass->value > 0)) return;
  geom.mesh = MeshGeom{asset, *mass, shape, a.number("fitscale", 1)};
}

/// Bounding box of a body's primitives, its origin and those of its child bodies, in its axes.
Eigen::AlignedBox3d extent_of(const std::vector<Geom>& geoms,
                              const std::vector<Vector3<double>>& children) {
  Eigen::AlignedBox3d box(Vector3<double>::Zero().eval());
  for (const Vector3<double>& p : children) box.extend(p);
  for (const Geom& geom : geoms) {
    if (!geom.geometry) continue;
    const Geometry& g = *geom.geometry;
    const Matrix3<double>& R = g.X_LG.R;
    Vector3<double> half = Vector3<double>::Zero();  // along the axes of the body
    switch (g.shape) {
      case Shape::box:
        half = R.cwiseAbs() * g.size / 2;
        break;
      case Shape::sphere:
        half.setConstant(g.size[0]);
        break;
      case Shape::capsule:
        half = (R.col(2).cwiseAbs() * g.size[1] / 2).array() + g.size[0];
        break;
      case Shape::cylinder:
        for (int i = 0; i < 3; ++i) {
          half[i] = std::abs(R(i, 2)) * g.size[1] / 2 + std::hypot(R(i, 0), R(i, 1)) * g.size[0];
        }
        break;
      case Shape::ellipsoid:
        for (int i = 0; i < 3; ++i) half[i] = R.row(i).transpose().cwiseProduct(g.size).norm();
        break;
      default:
        continue;
    }
    box.extend(Vector3<double>(g.X_LG.p - half));
    box.extend(Vector3<double>(g.X_LG.p + half));
  }
  return box;
}

/// boundinertia and balanceinertia, which MuJoCo applies to the principal moments.
Matrix3<double> bounded(const Matrix3<double>& tensor, const Compiler& compiler) {
  if (compiler.boundinertia <= 0 && !compiler.balanceinertia) return tensor;
  PrincipalAxes<double> axes = principal_axes<double>(0.5 * (tensor + tensor.transpose()));
  Vector3<double>& I = axes.moments;
  const Vector3<double> written = I;
  I = I.cwiseMax(compiler.boundinertia);
  if (compiler.balanceinertia && I[0] + I[1] < I[2]) I.setConstant(I.sum() / 3);
  return I == written ? tensor : rotate_tensor<double>(axes.R, I.asDiagonal());
}

}  // namespace

std::vector<double> contact_friction(const Attributes& a, std::vector<double> fallback) {
  std::vector<double> friction = fallback;
  (void)a.overlay("friction", friction);
  for (const double f : friction) {
    if (f >= 0) continue;
    a.error("friction-negative", fmt::format("friction is {}, expected 0 or more", f),
            "friction opposes motion");
    return fallback;
  }
  return friction;
}

int contact_dimension(const Attributes& a) {
  const double dimension = a.number("condim", 3);
  for (const int known : {1, 3, 4, 6}) {
    if (dimension == known) return known;
  }
  a.error("condim", fmt::format("condim is {}, expected 1, 3, 4 or 6", dimension),
          "it is the number of directions of a contact force");
  return 3;
}

std::optional<Segment> read_fromto(const Attributes& a) {
  const auto x = a.numbers("fromto", 6);
  if (!x) return std::nullopt;
  const Vector3<double> from((*x)[0], (*x)[1], (*x)[2]), to((*x)[3], (*x)[4], (*x)[5]);
  const double length = (to - from).norm();
  if (!(length > 1e-15)) {
    a.error("fromto-zero", "the two points of 'fromto' are the same", "they give no direction");
    return std::nullopt;
  }
  // MuJoCo's z axis points from the second point to the first.
  return Segment{{rotation_z_to(from - to), 0.5 * (from + to)}, 0.5 * length};
}

Geom read_geom(const Attributes& a, const Pose<double>& X_BF, const Compiler& compiler,
               const MeshLibrary& meshes, const HeightFieldLibrary& height_fields) {
  Geom geom;
  const std::string type = a.keyword(
      "type",
      {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"},
      "sphere");
  geom.group = a.number("group", 0);
  const auto shape = primitive(type);
  const bool along_segment = shape && *shape != Shape::sphere && a.has("fromto");
  const auto segment = along_segment ? read_fromto(a) : std::nullopt;
  geom.X_BG = X_BF * (segment ? segment->X : pose(a, compiler));

  Geometry geometry;
  geometry.source = a.node().source();
  geometry.X_LG = geom.X_BG;
  geometry.contact_type = mask(a, "contype");
  geometry.contact_affinity = mask(a, "conaffinity");
  const bool collides = geometry.contact_type != 0 || geometry.contact_affinity != 0;
  geometry.role = collides ? Geometry::Role::collision : Geometry::Role::visual;
  read_friction(a, geometry);

  if (type == "mesh" || type == "sdf") {
    read_mesh_geom(a, meshes, geom, geometry);
  } else if (type == "plane") {
    geometry.shape = Shape::plane;
    geom.geometry = geometry;
  } else if (type == "hfield") {
    if (collides) geom.height_field = height_fields.find(a);
    if (geom.height_field) geom.height_field->geometry = geometry;
  } else if (shape && a.has("mesh")) {
    read_fitted_geom(a, *shape, meshes, geom);
  } else if (shape && !(along_segment && !segment)) {
    if (const auto half = half_sizes(a, *shape, segment)) {
      geometry.shape = *shape;
      geometry.size = geometry_size(*shape, *half);
      geom.geometry = geometry;
      if (const auto mass = read_mass(a)) geom.inertia = primitive_inertia(*shape, *half, *mass);
    }
  }
  return geom;
}

std::optional<InertialDescription<double>> read_inertial(const Attributes& a,
                                                         const Pose<double>& X_BF,
                                                         const Compiler& compiler) {
  InertialDescription<double> inertial;
  inertial.source = a.node().source();
  for (const char* name : {"mass", "pos"}) {
    if (!a.has(name)) {
      a.error("attribute-missing", fmt::format("has no attribute '{}'", name),
              "MuJoCo requires it");
    }
  }
  inertial.mass = a.number("mass", 0);
  inertial.X_LI = X_BF * pose(a, compiler);
  const auto full = a.numbers("fullinertia", 6);
  const auto diagonal = a.numbers("diaginertia", 3);
  if (full && diagonal) {
    a.error("inertial-twice", "both 'diaginertia' and 'fullinertia' are given",
            "only one can be meant; 'fullinertia' is used");
  }
  if (full) {
    const auto& I = *full;
    inertial.tensor = tensor_from_entries<double>(I[0], I[1], I[2], I[3], I[4], I[5]);
  } else if (diagonal) {
    inertial.tensor = Vector3<double>(diagonal->data()).asDiagonal();
  }
  return inertial;
}

std::optional<InertialDescription<double>> body_inertial(
    const std::optional<InertialDescription<double>>& written, std::vector<Geom>& geoms,
    MeshLibrary& meshes, const Compiler& compiler, const Pose<double>& pose_written,
    const std::vector<Vector3<double>>& children, const Node& body, Diagnostics& diagnostics) {
  using FromGeom = Compiler::InertiaFromGeom;
  std::optional<InertialDescription<double>> result = written;
  const bool from_geoms = compiler.inertiafromgeom == FromGeom::yes ||
                          (compiler.inertiafromgeom == FromGeom::automatic && !written);
  const auto counts = [&](const Geom& geom) {
    return compiler.inertia_group_min <= geom.group && geom.group <= compiler.inertia_group_max;
  };
  if (from_geoms) {
    double mass = 0;
    Vector3<double> first_moment = Vector3<double>::Zero();
    MeshLibrary::ReplacementBox box{extent_of(geoms, children)};
    for (Geom& geom : geoms) {
      if (!counts(geom)) continue;
      if (geom.mesh) {
        geom.inertia = meshes.inertia(*geom.mesh, geom.X_BG, compiler, body, box, diagnostics);
      }
      if (!geom.inertia) continue;
      mass += geom.inertia->mass();
      first_moment += geom.inertia->mass() * geom.X_BG.p;
    }
    if (mass > 0) {
      result.emplace();
      result->source = body.source();
      result->mass = mass;
      result->X_LI.p = first_moment / mass;
      // Summed about the mass centre: no cancellation for bodies far from the origin.
      for (const Geom& geom : geoms) {
        if (!counts(geom) || !geom.inertia) continue;
        const Pose<double> X_IG{geom.X_BG.R, geom.X_BG.p - result->X_LI.p};
        result->tensor += geom.inertia->transformed(X_IG).tensor();
      }
      result->tensor = (0.5 * (result->tensor + result->tensor.transpose())).eval();
    }
  }
  if (!result && (compiler.boundmass > 0 || compiler.boundinertia > 0)) {
    // Without mass, MuJoCo places the bound at the body's pos and quat, now read in the body's
    // frame.
    result.emplace();
    result->source = body.source();
    result->X_LI = pose_written;
  }
  if (result) {
    result->mass = std::max(result->mass, compiler.boundmass);
    result->tensor = bounded(result->tensor, compiler);
  }
  return result;
}

}  // namespace limb::mjcf
