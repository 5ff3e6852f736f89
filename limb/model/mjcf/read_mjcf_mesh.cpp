#include "limb/model/mjcf/read_mjcf_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "limb/base/number.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/model/mesh/convex_hull.hpp"
#include "limb/model/mesh/read_mesh.hpp"

namespace limb::mjcf {
namespace {

namespace fs = std::filesystem;
using Severity = Diagnostic::Severity;
using Shape = Geometry::Shape;

std::string shortened(const std::string& text) {
  return text.size() > 120 ? text.substr(0, 57) + "..." + text.substr(text.size() - 60) : text;
}

/// The message of an Error without the name of the call.
std::string reason_of(const Error& error) {
  const std::string text = error.what();
  const std::size_t colon = text.find(": ");
  return colon == text.npos ? text : text.substr(colon + 2);
}

/// Numbers of an attribute in groups of three.
std::vector<double> triples(const Attributes& a, const char* name) {
  const auto numbers = parse_numbers(a.text(name));
  if (!numbers || numbers->empty() || numbers->size() % 3 != 0) {
    throw Error(fmt::format("mesh: attribute '{}' is not a list of finite numbers, three per {}",
                            name, std::string_view(name) == "face" ? "triangle" : "vertex"));
  }
  return *numbers;
}

TriangleMesh inline_mesh(const Attributes& a) {
  TriangleMesh mesh;
  const auto vertices = triples(a, "vertex");
  for (std::size_t i = 0; i < vertices.size(); i += 3)
    mesh.vertices.emplace_back(vertices.data() + i);
  if (!a.has("face")) return mesh;
  const auto face = triples(a, "face");
  const auto index = [&](double x) {
    if (!(x >= 0 && x < static_cast<double>(mesh.vertices.size()) && x == std::floor(x))) {
      throw Error(fmt::format("mesh: attribute 'face' has the index {}, expected 0 to {}", x,
                              mesh.vertices.size() - 1));
    }
    return static_cast<int>(x);
  };
  for (std::size_t i = 0; i < face.size(); i += 3) {
    mesh.triangles.push_back({index(face[i]), index(face[i + 1]), index(face[i + 2])});
  }
  return mesh;
}

/// MuJoCo stores the vertices of every mesh as float.
void round_to_float(TriangleMesh& mesh) {
  for (auto& vertex : mesh.vertices) {
    for (double& x : vertex) {
      // gcc 12 vectorizes the conversion to float and back away, except for a volatile one.
      const volatile float rounded = static_cast<float>(x);
      x = rounded;
    }
    if (!vertex.allFinite()) throw Error("mesh: a coordinate is too large for a float");
  }
}

/// Replaces the triangles by the hull of all vertices.
void replace_by_hull(TriangleMesh& mesh, double max_vertices) {
  mesh.triangles = convex_hull(mesh.vertices);
  if (!(max_vertices > 0)) return;
  std::set<int> used;
  for (const auto& triangle : mesh.triangles) used.insert(triangle.begin(), triangle.end());
  if (static_cast<double>(used.size()) > max_vertices) {
    throw Error(fmt::format(
        "mesh: attribute 'maxhullvert' is {}, expected at least the {} vertices of the convex hull "
        "(which of them MuJoCo drops is not known)",
        max_vertices, used.size()));
  }
}

/// refpos and refquat; nullopt if the latter is zero.
std::optional<Pose<double>> reference_pose(const Attributes& a) {
  Pose<double> X{Matrix3<double>::Identity(), a.vector("refpos")};
  if (const auto q = a.numbers("refquat", 4)) {
    const Eigen::Quaterniond quaternion((*q)[0], (*q)[1], (*q)[2], (*q)[3]);
    if (!(quaternion.norm() > 1e-15)) return std::nullopt;
    X.R = quaternion.normalized().toRotationMatrix();
  }
  return X;
}

/// refpos, refquat, then scale.
void place(TriangleMesh& mesh, const Attributes& a, const Vector3<double>& scale) {
  const auto X = reference_pose(a);
  if (!X) throw Error("mesh: attribute 'refquat' is zero");
  for (auto& vertex : mesh.vertices) {
    vertex = scale.cwiseProduct(X->R.transpose() * (vertex - X->p)).eval();
  }
  if (scale.prod() < 0) {
    for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  }
}

/// Sums over the geoms of a body and moves of its frame cannot overflow below these limits.
bool is_moderate(const Inertia<double>& inertia, const Vector3<double>& position) {
  return inertia.mass() < 1e120 && position.norm() < 1e60 && inertia.tensor().norm() < 1e240;
}

MeshShape measure(const TriangleMesh& mesh, MeshInertiaMode mode) {
  MeshShape shape;
  shape.unit = mesh_mass_properties(mesh, mode);
  const auto [moments, R] = principal_axes<double>(shape.unit.I_com);
  shape.axes << R.col(2), R.col(1), -R.col(0);
  const Vector3<double> I(moments[2], moments[1], moments[0]);
  constexpr double kEqual = 1e-6;
  shape.axes_unique = I[0] - I[1] > kEqual * I[0] && I[1] - I[2] > kEqual * I[0];
  for (int k = 0; k < 3; ++k) {
    const double square = 6 * (I.sum() - 2 * I[k]) / shape.unit.mass;
    shape.inertia_box[k] = 0.5 * std::sqrt(std::max(0.0, square));
  }
  Eigen::AlignedBox<double, 3> box;
  for (const auto& vertex : mesh.vertices) {
    box.extend(Vector3<double>(shape.axes.transpose() * (vertex - shape.unit.com)));
  }
  shape.box_centre = box.center();
  shape.box_half = 0.5 * box.sizes();
  return shape;
}

/// Sizes of the primitive for the half edges of a box.
Vector3<double> fitted_half(Shape shape, const Vector3<double>& b, bool to_bounding_box) {
  const double radius = to_bounding_box ? std::max(b[0], b[1]) : (b[0] + b[1]) / 2;
  switch (shape) {
    case Shape::sphere:
      return {to_bounding_box ? b.maxCoeff() : b.mean(), 0, 0};
    case Shape::capsule:
      return {radius, std::max(0.0, b[2] - (to_bounding_box ? radius : radius / 2)), 0};
    case Shape::cylinder:
      return {radius, b[2], 0};
    default:
      return b;
  }
}

}  // namespace

void MeshLibrary::read(const Node& section, const Compiler& compiler, const Defaults& defaults,
                       const Document& document, Diagnostics& diagnostics) {
  for (const Node& node : section.children) {
    if (node.tag() != "mesh") continue;
    MeshAsset mesh;
    mesh.node = &node;
    mesh.default_class = &defaults.named_by(node, "class", defaults.main(), diagnostics);
    const Attributes a(node, "mesh", *mesh.default_class, diagnostics);
    const fs::path file = a.text("file");
    if (!file.empty()) {
      mesh.file = (fs::path(compiler.meshdir) / (compiler.strippath ? file.filename() : file))
                      .generic_string();
      if (const auto path = document.resolve_asset(node, mesh.file, file)) {
        mesh.path = path->string();
      } else {
        mesh.folder_outside = document.folder_outside(mesh.file).string();
      }
    }
    mesh.scale = a.vector("scale", Vector3<double>::Ones());
    Diagnostics repeated;  // where a mass needs the mesh
    const Attributes placement(node, "mesh", *mesh.default_class, repeated);
    if (const auto X_MG = reference_pose(placement)) mesh.X_GM = X_MG->inverse();
    if (file.empty() && a.has("vertex")) {
      try {
        mesh.vertices =
            std::make_shared<std::vector<Vector3<double>>>(inline_mesh(placement).vertices);
      } catch (const Error&) {
      }
    }
    // Without a name a mesh has that of its file, without folder and extension.
    mesh.name = a.text("name", file.stem().string());
    const auto [entry, is_new] = assets_.emplace(mesh.name, mesh);
    if (is_new && !mesh.path.empty()) ++uses_[mesh.path];
  }
}

const MeshAsset* MeshLibrary::find(std::string_view name) const {
  const auto found = assets_.find(name);
  return found == assets_.end() ? nullptr : &found->second;
}

std::vector<std::string> MeshLibrary::names() const {
  std::vector<std::string> result;
  for (const auto& [name, unused] : assets_) result.push_back(name);
  return result;
}

TriangleMesh MeshLibrary::load(const MeshAsset& asset, Diagnostics& diagnostics) {
  const Attributes a(*asset.node, "mesh", *asset.default_class, diagnostics);
  if (asset.file.empty()) {
    if (a.has("builtin")) {
      throw Error(fmt::format("mesh: meshes that MuJoCo makes itself (builtin='{}') are not read",
                              a.text("builtin").substr(0, 20)));
    }
    if (!a.has("vertex")) throw Error("mesh: it has neither 'file' nor 'vertex'");
    return inline_mesh(a);
  }
  if (asset.path.empty() && !asset.folder_outside.empty()) {
    throw Error(fmt::format(
        "mesh: file '{}' is outside the folder of the model and the given roots; to read it, "
        "give its folder as a root: {}",
        shortened(asset.file), asset.folder_outside));
  }
  if (asset.path.empty()) {
    throw Error(
        fmt::format("mesh: file '{}' was not found in the folder of the model or the "
                    "given roots",
                    shortened(asset.file)));
  }
  const auto known = files_.find(asset.path);
  if (known != files_.end()) return known->second;
  TriangleMesh mesh = read_mesh(asset.path);
  if (mesh.first_object < mesh.triangles.size()) {
    a.warn("mesh-objects",
           fmt::format("file '{}' has several objects (o, g), of which only the first counts",
                       shortened(asset.file)),
           "MuJoCo reads only the first object of an OBJ file; the mass of the others is missing",
           "join the objects in the file");
    mesh.triangles.resize(mesh.first_object);
  }
  if (uses_[asset.path] > 1) files_.emplace(asset.path, mesh);
  return mesh;
}

const MeshShape* MeshLibrary::shape(const MeshAsset& asset, const Compiler& compiler,
                                    const Node& body, Diagnostics& diagnostics) {
  const auto [entry, is_new] = shapes_.try_emplace(&asset);
  if (is_new) {
    try {
      const Attributes a(*asset.node, "mesh", *asset.default_class, diagnostics);
      const std::string word = a.keyword("inertia", {"convex", "exact", "legacy", "shell"},
                                         compiler.exactmeshinertia ? "exact" : "legacy");
      TriangleMesh mesh = load(asset, diagnostics);
      round_to_float(mesh);
      // Before the scale, which rounds: flat faces of the file stay flat.
      if (word == "convex" || mesh.triangles.empty()) {
        replace_by_hull(mesh, a.number("maxhullvert", -1));
      }
      place(mesh, a, asset.scale);
      entry->second = measure(mesh, word == "legacy"  ? MeshInertiaMode::legacy
                                    : word == "shell" ? MeshInertiaMode::shell
                                                      : MeshInertiaMode::exact);
    } catch (const Error& error) {
      report(asset, body, reason_of(error), diagnostics);
    }
  }
  return entry->second ? &*entry->second : nullptr;
}

void MeshLibrary::report(const MeshAsset& asset, const Node& body, const std::string& what,
                         Diagnostics& diagnostics) {
  if (missing_ == MissingMeshes::box) {
    unusable_.emplace(&asset, what);
    return;
  }
  const std::string message = fmt::format("mesh '{}': {}", shortened(asset.name), what);
  if (missing_ == MissingMeshes::ignore) {
    add(diagnostics, Severity::warning, *asset.node, "mesh-mass-ignored", message,
        fmt::format("mass and inertia of {} are too small by it, as asked for", body.title()));
    return;
  }
  add(diagnostics, Severity::error, *asset.node, "mesh-mass-unknown", message,
      fmt::format("mass and inertia of {} depend on it", body.title()),
      "provide the mesh, name its folder as a root, write an <inertial> for the body, or ignore "
      "such meshes: --missing-meshes ignore, or box");
}

/// The box in place of a mesh that cannot be used.
std::optional<Inertia<double>> MeshLibrary::box_inertia(const MeshGeom& geom, Pose<double>& X_BG,
                                                        const Node& body, ReplacementBox& box,
                                                        Diagnostics& diagnostics) const {
  constexpr double kSmallest = 0.01;  // m
  const Vector3<double> edges = box.extent.sizes().cwiseMax(kSmallest), p = box.extent.center();
  std::optional<Inertia<double>> result;
  // Several meshes with a density fill the box together.
  if (geom.mass.is_mass || !box.has_density) {
    GeomMass mass = geom.mass;
    mass.shell = false;
    X_BG = {Matrix3<double>::Identity(), p};
    result = primitive_inertia(Shape::box, edges / 2, mass);
    box.has_density = box.has_density || !mass.is_mass;
  }
  if (result && !is_moderate(*result, p)) {
    add(diagnostics, Severity::error, *geom.asset->node, "mesh-mass-unknown",
        fmt::format("mesh '{}': {}", shortened(geom.asset->name), unusable_.at(geom.asset)),
        fmt::format("a box in its place would be too large in {}", body.title()));
    return std::nullopt;
  }
  add(diagnostics, Severity::warning, *geom.asset->node, "mesh-mass-box",
      fmt::format("mesh '{}': {}; {}", shortened(geom.asset->name), unusable_.at(geom.asset),
                  result
                      ? fmt::format("in {} a box of {:.4g} x {:.4g} x {:.4g} m at [{:.4g}, "
                                    "{:.4g}, {:.4g}] has its mass, {:.4g} kg",
                                    body.title(), edges[0], edges[1], edges[2], p[0], p[1], p[2],
                                    result->mass())
                      : fmt::format("it is part of the box of another mesh of {}", body.title())),
      fmt::format("mass and inertia of {} are a guess, as asked for", body.title()),
      "provide the mesh");
  return result;
}

std::optional<Inertia<double>> MeshLibrary::inertia(const MeshGeom& geom, Pose<double>& X_BG,
                                                    const Compiler& compiler, const Node& body,
                                                    ReplacementBox& box, Diagnostics& diagnostics) {
  const auto replace = [&]() -> std::optional<Inertia<double>> {
    if (missing_ != MissingMeshes::box) return std::nullopt;
    return box_inertia(geom, X_BG, body, box, diagnostics);
  };
  const MeshShape* mesh = shape(*geom.asset, compiler, body, diagnostics);
  if (mesh == nullptr) return replace();
  const auto refuse = [&](const char* what) {
    report(*geom.asset, body, what, diagnostics);
    return replace();
  };
  X_BG.p = X_BG * mesh->unit.com;
  Inertia<double> result;
  if (!geom.fitted) {
    const double m = geom.mass.is_mass ? geom.mass.value : geom.mass.value * mesh->unit.mass;
    const double density = geom.mass.is_mass ? m / mesh->unit.mass : geom.mass.value;
    result = {m, Vector3<double>::Zero(), density * mesh->unit.I_com};
  } else {
    X_BG.R = (X_BG.R * mesh->axes).eval();
    if (compiler.fitaabb) {
      if (!mesh->axes_unique) {
        return refuse(
            "a geom is fitted to its bounding box (fitaabb), but two principal moments are equal "
            "and do not determine its axes");
      }
      X_BG.p = X_BG * mesh->box_centre;
    }
    const Vector3<double>& edges = compiler.fitaabb ? mesh->box_half : mesh->inertia_box;
    const Vector3<double> half = geom.fitscale * fitted_half(*geom.fitted, edges, compiler.fitaabb);
    try {
      result = primitive_inertia(*geom.fitted, half, geom.mass);
    } catch (const Error&) {
      return refuse("the size of a geom fitted to it is not positive");
    }
  }
  if (!is_moderate(result, X_BG.p)) return refuse("it is too large for its unit");
  return result;
}

}  // namespace limb::mjcf
