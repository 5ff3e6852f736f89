#include "limb/model/lint/link_size.hpp"

#include <algorithm>

#include "limb/math/inertia_solids.hpp"

namespace limb {
namespace {

using Shape = Geometry::Shape;

bool is_primitive(const Geometry& g) {
  return g.shape != Shape::mesh && g.shape != Shape::plane;
}

bool has_size(const Geometry& g, const MeshBoxes& meshes) {
  return is_primitive(g) || (g.shape == Shape::mesh && meshes.contains(g.mesh_path));
}

/// Half edges of the bounding box of a primitive in axes of the shape.
Vector3<double> half_edges(const Geometry& g) {
  const Vector3<double>& s = g.size;
  switch (g.shape) {
    case Shape::box:
      return s / 2;
    case Shape::cylinder:
      return {s[0], s[0], s[1] / 2};
    case Shape::capsule:
      return {s[0], s[0], s[1] / 2 + s[0]};
    case Shape::sphere:
      return Vector3<double>::Constant(s[0]);
    case Shape::ellipsoid:
      return s;
    case Shape::plane:
    case Shape::mesh:
      break;
  }
  return Vector3<double>::Zero();
}

/// Bounding box of a shape with size, in axes of the shape.
Box own_box(const Geometry& g, const MeshBoxes& meshes) {
  if (is_primitive(g)) {
    const Vector3<double> half = half_edges(g);
    return Box(-half, half);
  }
  const Box& file = meshes.at(g.mesh_path);
  if (file.isEmpty()) return file;
  Box box;  // a negative scale exchanges the corners
  box.extend(Vector3<double>(file.min().cwiseProduct(g.mesh_scale)));
  box.extend(Vector3<double>(file.max().cwiseProduct(g.mesh_scale)));
  return box;
}

/// Box of a box that is turned and moved.
Box moved(const Pose<double>& X, const Box& box) {
  const Vector3<double> centre = X * Vector3<double>(box.center());
  const Vector3<double> reach = X.R.cwiseAbs() * (box.sizes() / 2);
  return Box(centre - reach, centre + reach);
}

/// Unit density; nullopt if the shape has no volume.
std::optional<Inertia<double>> solid(const Geometry& g) {
  if (!is_primitive(g) || !((half_edges(g).array() > 0).all())) return std::nullopt;
  const Density<double> one{1.0};
  const Vector3<double>& s = g.size;
  switch (g.shape) {
    case Shape::box:
      return box_inertia(one, s).transformed(g.X_LG);
    case Shape::cylinder:
      return cylinder_inertia(one, s[0], s[1]).transformed(g.X_LG);
    case Shape::capsule:
      return capsule_inertia(one, s[0], s[1]).transformed(g.X_LG);
    case Shape::sphere:
      return sphere_inertia(one, s[0]).transformed(g.X_LG);
    case Shape::ellipsoid:
      return ellipsoid_inertia(one, s).transformed(g.X_LG);
    case Shape::plane:
    case Shape::mesh:
      break;
  }
  return std::nullopt;
}

}  // namespace

Box shape_box(const LinkDescription<double>& link, const MeshBoxes& meshes) {
  Box box;
  for (const Geometry& g : link.geometry) {
    if (!has_size(g, meshes)) continue;
    const Box own = own_box(g, meshes);
    if (!own.isEmpty()) box.extend(moved(g.X_LG, own));
  }
  return box;
}

bool has_known_shape(const LinkDescription<double>& link, const MeshBoxes& meshes) {
  return !link.geometry.empty() &&
         std::all_of(link.geometry.begin(), link.geometry.end(),
                     [&](const Geometry& g) { return has_size(g, meshes); });
}

bool has_plausible_shape(const LinkDescription<double>& link, const MeshBoxes& meshes) {
  if (!has_known_shape(link, meshes) || !link.inertial) return false;
  const double volume = shape_box(link, meshes).volume(), mass = link.inertial->mass;
  return volume > 0 && mass > volume && mass < kMaxDensity * volume;
}

std::vector<Box> link_boxes(const Description<double>& robot, const LinkTree& tree,
                            const MeshBoxes& meshes) {
  std::vector<Box> boxes;
  for (const auto& link : robot.links) {
    Box box = shape_box(link, meshes);
    box.extend(Vector3<double>(Vector3<double>::Zero()));
    if (link.inertial) box.extend(link.inertial->X_LI.p);
    boxes.push_back(box);
  }
  for (std::size_t i = 0; i < robot.links.size(); ++i) {
    if (tree.parent[i] == LinkTree::kNone) continue;
    boxes[static_cast<std::size_t>(tree.parent[i])].extend(
        robot.joints[static_cast<std::size_t>(tree.joint[i])].X_PJ.p);
  }
  return boxes;
}

Box robot_box(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes) {
  const std::vector<Box> boxes = link_boxes(robot, tree, meshes);
  Box all;
  for (const int link : tree.order) {
    const auto i = static_cast<std::size_t>(link);
    all.extend(moved(tree.X_RL[i], boxes[i]));
  }
  return all;
}

std::optional<Inertia<double>> shape_inertia(const LinkDescription<double>& link) {
  for (const auto role : {Geometry::Role::visual, Geometry::Role::collision}) {
    Inertia<double> sum;
    bool known = true;
    for (const Geometry& g : link.geometry) {
      if (g.role != role) continue;
      const auto part = solid(g);
      known = known && part.has_value();
      if (part) sum = sum + *part;
    }
    if (known && sum.mass() > 0) return sum;
  }
  return std::nullopt;
}

}  // namespace limb
