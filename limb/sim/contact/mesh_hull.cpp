#include "limb/sim/contact/mesh_hull.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "limb/base/error.hpp"
#include "limb/model/mesh/convex_hull.hpp"
#include "limb/model/mesh/read_mesh.hpp"
#include "limb/sim/contact/nearest.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Directions spread evenly over the sphere (a Fibonacci lattice), and the axes.
std::vector<Vector> spread_directions(int count) {
  std::vector<Vector> directions;
  for (int axis = 0; axis < 3; ++axis) {
    directions.emplace_back(Vector::Unit(axis));
    directions.emplace_back(-Vector::Unit(axis));
  }
  const int n = count - 6;
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0));  // golden angle
  for (int i = 0; i < n; ++i) {
    const double z = 1 - (2 * i + 1.0) / n, r = std::sqrt(1 - z * z);
    directions.emplace_back(r * std::cos(turn * i), r * std::sin(turn * i), z);
  }
  return directions;
}

/// The points that are corners of the triangles, in the order of their indices.
std::vector<Vector> corners(std::span<const Vector> points,
                            const std::vector<std::array<int, 3>>& triangles) {
  std::vector<bool> used(points.size());
  for (const auto& triangle : triangles) {
    for (const int i : triangle) used[at(i)] = true;
  }
  std::vector<Vector> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (used[i]) result.push_back(points[i]);
  }
  return result;
}

std::vector<Vector> extreme_points(const std::vector<Vector>& points) {
  std::vector<bool> used(points.size());
  for (const Vector& direction : spread_directions(MeshHull::kMaxVertices)) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (direction.dot(points[i]) > direction.dot(points[best])) best = i;
    }
    used[best] = true;
  }
  std::vector<Vector> result;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (used[i]) result.push_back(points[i]);
  }
  return result;
}

}  // namespace

MeshHull make_hull(std::span<const Vector> points) {
  std::vector<Vector> vertices = corners(points, convex_hull(points));
  if (std::ssize(vertices) > MeshHull::kMaxVertices) vertices = extreme_points(vertices);
  MeshHull hull;
  hull.triangles = convex_hull(vertices);
  Eigen::AlignedBox3d box;
  for (const Vector& p : vertices) box.extend(p);
  hull.centre = box.center();
  hull.size = box.sizes();
  // Slivers between points that are nearly in one line have no usable normal; what they cover is
  // covered by their neighbours.
  const double scale = hull.size.norm();
  std::erase_if(hull.triangles, [&](const std::array<int, 3>& t) {
    const Vector &a = vertices[at(t[0])], &b = vertices[at(t[1])], &c = vertices[at(t[2])];
    return !((b - a).cross(c - a).norm() > 1e-12 * scale * scale);
  });
  hull.vertices.resize(3, std::ssize(vertices));
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    hull.vertices.col(static_cast<Eigen::Index>(i)) = vertices[i] - hull.centre;
  }
  const auto n = std::ssize(hull.triangles);
  hull.normals.resize(3, n);
  hull.offsets.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& t = hull.triangles[static_cast<std::size_t>(i)];
    const Vector a = hull.vertices.col(t[0]);
    hull.normals.col(i) =
        (hull.vertices.col(t[1]) - a).cross(hull.vertices.col(t[2]) - a).normalized();
    hull.offsets[i] = hull.normals.col(i).dot(a);
  }
  return hull;
}

MeshHull::Nearest MeshHull::nearest(const Vector& p, double cutoff) const {
  Nearest best{-std::numeric_limits<double>::infinity(), p, Vector::UnitZ(), 0};
  for (Eigen::Index i = 0; i < offsets.size(); ++i) {
    const double distance = normals.col(i).dot(p) - offsets[i];
    if (distance > best.distance) {
      best.distance = distance;
      best.face = i;
    }
  }
  best.normal = normals.col(best.face);
  best.p = p - best.distance * best.normal;
  if (best.distance <= 0 || best.distance > cutoff) return best;
  // Outside: the nearest triangle is one of those that face the point.
  double nearest = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < offsets.size(); ++i) {
    const double height = normals.col(i).dot(p) - offsets[i];
    if (height <= 0 || height >= nearest) continue;
    const auto& t = triangles[static_cast<std::size_t>(i)];
    bool inside = false;
    const Vector q =
        nearest_on_triangle(p, vertices.col(t[0]), vertices.col(t[1]), vertices.col(t[2]), inside);
    if (inside) {  // the normal of the plane has no rounding error of a small difference
      nearest = height;
      best.p = p - height * normals.col(i);
      best.normal = normals.col(i);
      best.face = i;
      continue;
    }
    const double distance = (p - q).norm();
    if (distance >= nearest) continue;
    nearest = distance;
    best.p = q;
    best.normal = (p - q) / distance;
    // On the common edge of two triangles of one plane it is still that of the plane.
    constexpr double kInPlane = 1e-9;
    best.face = best.normal.dot(normals.col(i)) > 1 - kInPlane ? i : -1;
    if (best.face >= 0) best.normal = normals.col(i);
  }
  best.distance = nearest;
  return best;
}

std::shared_ptr<const MeshHull> HullLibrary::find(const Geometry& mesh, std::string* why) {
  Key key{mesh.mesh_path, mesh.mesh_vertices.get(), {}};
  double* numbers = std::get<2>(key).data();
  std::copy_n(mesh.mesh_scale.data(), 3, numbers);
  std::copy_n(mesh.X_GM.p.data(), 3, numbers + 3);
  std::copy_n(mesh.X_GM.R.data(), 9, numbers + 6);
  const auto [entry, is_new] = entries_.try_emplace(key);
  Entry& result = entry->second;
  if (is_new) {
    try {
      if (mesh.mesh_vertices == nullptr && mesh.mesh_path.empty()) {
        throw Error("read_mesh: the file was not found");
      }
      std::vector<Vector> points =
          mesh.mesh_vertices != nullptr ? *mesh.mesh_vertices : read_mesh(mesh.mesh_path).vertices;
      for (Vector& p : points) p = mesh.mesh_scale.cwiseProduct(mesh.X_GM * p).eval();
      result.hull = std::make_shared<MeshHull>(make_hull(points));
    } catch (const Error& error) {
      const std::string text = error.what();
      const std::size_t colon = text.find(": ");  // after the name of the call
      result.why = colon == text.npos ? text : text.substr(colon + 2);
    }
  }
  if (result.hull == nullptr && why != nullptr) *why = result.why;
  return result.hull;
}

}  // namespace limb
