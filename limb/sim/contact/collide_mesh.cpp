#include "limb/sim/contact/collide_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "limb/sim/contact/capsule.hpp"
#include "limb/sim/contact/contact_manifold.hpp"
#include "limb/sim/contact/mesh_hull.hpp"
#include "limb/sim/contact/nearest.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// A sphere against a hull; p in the world.
void collide_sphere(const PlacedShape& mesh, const Vector& p, double radius, double margin,
                    double sign, int feature, CollisionPoints& points) {
  const Vector local = mesh.X_WS.R.transpose() * (p - mesh.X_WS.p);
  const MeshHull::Nearest nearest = mesh.hull->nearest(local, radius + margin);
  const double gap = nearest.distance - radius;
  if (gap > margin) return;
  const Vector n = mesh.X_WS.R * nearest.normal;  // from the hull to the sphere
  points.add({p - (radius + gap / 2) * n, -sign * n, gap, feature});
}

/// The part of a segment that is as close to the hull as its closest point: parameters from 0 to 1.
/// A segment along a flat face, longer than it, has two ends there; otherwise it is one point.
struct ClosestPart {
  double begin, end;
};

/// nullopt if the segment is farther away than `cutoff`.
std::optional<ClosestPart> closest_part(const MeshHull& hull, const Vector& a, const Vector& b,
                                        double cutoff) {
  const Vector d = b - a;
  const double length = d.norm();
  const auto distance = [&](double t) {
    return hull.nearest(a + t * d, std::numeric_limits<double>::infinity()).distance;
  };
  // The distance to a convex solid is convex along the segment: search by golden sections.
  constexpr double kSection = 0.6180339887498949;
  double low = 0, high = 1, left = 1 - kSection, right = kSection;
  double at_left = distance(left), at_right = distance(right);
  while (high - low > 1e-5) {
    // It changes by at most the distance between two points.
    if (std::min(at_left, at_right) - (high - low) * length > cutoff) return std::nullopt;
    if (at_left > at_right) {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kSection * (high - low);
      at_right = distance(right);
    } else {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kSection * (high - low);
      at_left = distance(left);
    }
  }
  const double t = (low + high) / 2;
  const MeshHull::Nearest nearest =
      hull.nearest(a + t * d, std::numeric_limits<double>::infinity());
  if (nearest.distance > cutoff) return std::nullopt;
  if (nearest.face < 0) return ClosestPart{t, t};
  // Points over the face: their projection on its plane is on the same side of all other planes.
  constexpr double kSame = 1e-5;  // m
  const Vector n = hull.normals.col(nearest.face);
  const double offset = hull.offsets[nearest.face];
  ClosestPart part{0, 1};
  const auto clip = [&](const Vector& normal, double level) {
    const double slope = normal.dot(d), rise = level - normal.dot(a);
    if (slope > 0) part.end = std::min(part.end, rise / slope);
    if (slope < 0) part.begin = std::max(part.begin, rise / slope);
  };
  clip(n, offset + nearest.distance + kSame);
  for (Eigen::Index i = 0; i < hull.offsets.size(); ++i) {
    const double along = n.dot(hull.normals.col(i));
    if (along > 1 - 1e-9) continue;
    clip(hull.normals.col(i) - along * n, hull.offsets[i] - along * offset);
  }
  return ClosestPart{std::min(part.begin, t), std::max(part.end, t)};
}

void collide_capsule(const PlacedShape& mesh, const Capsule& capsule, double margin, double sign,
                     CollisionPoints& points) {
  const auto sphere_at = [&](double t, int feature) {
    const Vector p = capsule.a + t * (capsule.b - capsule.a);
    collide_sphere(mesh, p, capsule.radius, margin, sign, feature, points);
  };
  sphere_at(0, 0);
  if (capsule.a == capsule.b) return;
  sphere_at(1, 1);
  const auto local = [&](const Vector& p) {
    return Vector(mesh.X_WS.R.transpose() * (p - mesh.X_WS.p));
  };
  const auto part =
      closest_part(*mesh.hull, local(capsule.a), local(capsule.b), capsule.radius + margin);
  if (!part) return;
  constexpr double kApart = 1e-2;  // of the length; closer points are one
  if (part->begin > kApart && part->begin < 1 - kApart) sphere_at(part->begin, 2);
  if (part->end > kApart && part->end < 1 - kApart && part->end - part->begin > kApart) {
    sphere_at(part->end, 3);
  }
}

}  // namespace

void collide_mesh(const PlacedShape& a, const Ground::HalfSpace& b, double margin,
                  CollisionPoints& points) {
  const MeshHull& hull = *a.hull;
  const Vector n_S = a.X_WS.R.transpose() * b.normal;
  const double level = b.level - b.normal.dot(a.X_WS.p);
  ContactManifold manifold;
  for (Eigen::Index i = 0; i < hull.vertices.cols(); ++i) {
    const double gap = n_S.dot(hull.vertices.col(i)) - level;
    if (gap > margin) continue;
    const Vector p = a.X_WS * Vector(hull.vertices.col(i));
    manifold.add({p - gap / 2 * b.normal, b.normal, gap, static_cast<int>(i)});
  }
  manifold.select(points);
}

void collide_mesh_box(const PlacedShape& mesh, const Pose<double>& X_WG, const Vector& half,
                      double margin, double sign, CollisionPoints& points) {
  const MeshHull& hull = *mesh.hull;
  const Pose<double> X_GS = X_WG.inverse() * mesh.X_WS;
  ContactManifold manifold;
  // Vertices of the hull in or near the box.
  for (Eigen::Index i = 0; i < hull.vertices.cols(); ++i) {
    const Vector local = X_GS * Vector(hull.vertices.col(i));
    const Vector outside = local.cwiseAbs() - half;
    int face = 0;
    const double farthest = outside.maxCoeff(&face);
    if (farthest > margin) continue;
    Vector n_G = local - local.cwiseMax(-half).cwiseMin(half);
    double gap = n_G.norm();
    if (gap > 0) {
      n_G /= gap;
    } else {  // inside: out through the nearest face
      gap = farthest;
      n_G = Vector::Zero();
      n_G[face] = local[face] >= 0 ? 1 : -1;
    }
    if (gap > margin) continue;
    const Vector n = X_WG.R * n_G;
    manifold.add({X_WG * local - gap / 2 * n, sign * n, gap, static_cast<int>(i)});
  }
  // Corners of the box in or near the hull.
  const Pose<double> X_SG = X_GS.inverse();
  for (int k = 0; k < 8; ++k) {
    const Vector corner((k & 1 ? 1 : -1) * half[0], (k & 2 ? 1 : -1) * half[1],
                        (k & 4 ? 1 : -1) * half[2]);
    const MeshHull::Nearest nearest = hull.nearest(X_SG * corner, margin);
    if (nearest.distance > margin) continue;
    const Vector n = mesh.X_WS.R * nearest.normal;
    manifold.add({X_WG * corner - nearest.distance / 2 * n, -sign * n, nearest.distance,
                  MeshHull::kMaxVertices + k});
  }
  manifold.select(points);
}

void collide_mesh(const PlacedShape& a, const Ground::HeightField& b, double margin,
                  CollisionPoints& points) {
  const MeshHull& hull = *a.hull;
  ContactManifold manifold;
  double lowest = std::numeric_limits<double>::infinity();
  // Vertices of the hull below or near the surface.
  for (Eigen::Index i = 0; i < hull.vertices.cols(); ++i) {
    const Vector p = a.X_WS * Vector(hull.vertices.col(i));
    lowest = std::min(lowest, p[2]);
    if (!is_over(b, p)) continue;
    Vector n;
    const double gap = (p[2] - b.height(p[0], p[1], &n)) * n[2];
    if (gap <= margin) manifold.add({p - gap / 2 * n, n, gap, static_cast<int>(i)});
  }
  // Vertices of the field in the hull, which leave it through a side that faces down.
  const Cells cells = cells_near(b, a.X_WS.p, bounding_radius(a.kind, a.size) + margin);
  for (Eigen::Index i = cells.i0; i <= cells.i1; ++i) {
    for (Eigen::Index j = cells.j0; j <= cells.j1; ++j) {
      const Vector p = field_vertex(b, i, j);
      if (p[2] < lowest - margin) continue;
      const Vector local = a.X_WS.R.transpose() * (p - a.X_WS.p);
      const MeshHull::Nearest nearest = hull.nearest(local, margin);
      const Vector n = a.X_WS.R * nearest.normal;
      if (nearest.distance > margin || n[2] > -0.3) continue;
      const auto index = static_cast<int>(i * b.heights.cols() + j);
      manifold.add(
          {p - nearest.distance / 2 * n, -n, nearest.distance, MeshHull::kMaxVertices + index});
    }
  }
  manifold.select(points);
}

void collide_mesh(const PlacedShape& mesh, const PlacedShape& other, double margin, double sign,
                  CollisionPoints& points) {
  const double cutoff =
      bounding_radius(mesh.kind, mesh.size) + bounding_radius(other.kind, other.size) + margin;
  if ((mesh.X_WS.p - other.X_WS.p).squaredNorm() > cutoff * cutoff) return;
  if (other.kind == ContactShape::Kind::mesh) return;
  if (other.kind == ContactShape::Kind::box) {
    collide_mesh_box(mesh, other.X_WS, other.size / 2, margin, sign, points);
  } else {
    collide_capsule(mesh, to_capsule(other), margin, sign, points);
  }
}

}  // namespace limb
