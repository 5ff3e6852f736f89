// Shapes against a height field.
#include <algorithm>
#include <cmath>

#include "limb/sim/contact/capsule.hpp"
#include "limb/sim/contact/collide.hpp"
#include "limb/sim/contact/collide_mesh.hpp"
#include "limb/sim/contact/nearest.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;
using Field = Ground::HeightField;

}  // namespace

Cells cells_near(const Field& field, const Vector& p, double distance) {
  const auto cell_range = [](double x, double corner, double cell, double cutoff,
                             Eigen::Index points, Eigen::Index& first, Eigen::Index& last) {
    const double limit = double(points - 1);
    first =
        static_cast<Eigen::Index>(std::clamp(std::floor((x - cutoff - corner) / cell), 0.0, limit));
    last =
        static_cast<Eigen::Index>(std::clamp(std::ceil((x + cutoff - corner) / cell), 0.0, limit));
  };
  Cells cells;
  cell_range(p[0], field.corner[0], field.cell[0], distance, field.heights.rows(), cells.i0,
             cells.i1);
  cell_range(p[1], field.corner[1], field.cell[1], distance, field.heights.cols(), cells.j0,
             cells.j1);
  return cells;
}

Vector field_vertex(const Field& field, Eigen::Index i, Eigen::Index j) {
  return {field.corner[0] + double(i) * field.cell[0], field.corner[1] + double(j) * field.cell[1],
          field.heights(i, j)};
}

bool is_over(const Field& field, const Vector& p) {
  const double u = (p[0] - field.corner[0]) / field.cell[0];
  const double v = (p[1] - field.corner[1]) / field.cell[1];
  return u >= 0 && v >= 0 && u <= double(field.heights.rows() - 1) &&
         v <= double(field.heights.cols() - 1);
}

// [Ericson 2005, Sec. 5.1.5]
Vector nearest_on_triangle(const Vector& p, const Vector& a, const Vector& b, const Vector& c,
                           bool& inside) {
  inside = false;
  const Vector ab = b - a, ac = c - a, ap = p - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vector bp = p - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + d1 / (d1 - d3) * ab;
  const Vector cp = p - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + d2 / (d2 - d6) * ac;
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 >= d3 && d5 >= d6) return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b);
  inside = true;
  const double scale = 1 / (va + vb + vc);
  return a + ab * (vb * scale) + ac * (vc * scale);
}

namespace {

/// A point on or below the surface: pushed out along the normal of the triangle.
void under_surface(const Field& field, const Vector& p, double radius, double margin, int feature,
                   CollisionPoints& points) {
  Vector n;
  const double gap = (p[2] - field.height(p[0], p[1], &n)) * n[2] - radius;
  if (gap <= margin) points.add({p - (radius + gap / 2) * n, n, gap, feature});
}

/// A sphere: every face whose nearest point is interior, so that it rests on two faces in a valley;
/// or the nearest edge or corner, on a ridge.
void sphere_field(const Vector& p, double radius, const Field& field, double margin, int feature,
                  CollisionPoints& points) {
  if (is_over(field, p) && p[2] <= field.height(p[0], p[1])) {
    under_surface(field, p, radius, margin, feature, points);
    return;
  }
  const double cutoff = radius + margin;
  const Cells cells = cells_near(field, p, cutoff);
  CollisionPoints faces;
  CollisionPoint nearest;
  nearest.gap = margin;
  bool ridge = false;
  for (Eigen::Index i = cells.i0; i < cells.i1; ++i) {
    for (Eigen::Index j = cells.j0; j < cells.j1; ++j) {
      for (int half = 0; half < 2; ++half) {
        const Vector b = field_vertex(field, i + 1, j), c = field_vertex(field, i, j + 1);
        const Vector a = half == 0 ? field_vertex(field, i, j) : field_vertex(field, i + 1, j + 1);
        bool inside = false;
        const Vector q = nearest_on_triangle(p, a, b, c, inside);
        const double distance = (p - q).norm(), gap = distance - radius;
        if (gap > margin || distance == 0) continue;
        const Vector n = (p - q) / distance;
        if (n[2] <= 0) continue;
        const CollisionPoint point{p - (radius + gap / 2) * n, n, gap, feature};
        if (inside) faces.add(point);
        if (gap < nearest.gap - 1e-12) {
          nearest = point;
          ridge = !inside;
        }
      }
    }
  }
  if (ridge) points.add(nearest);
  faces.keep_nearest(ridge ? 2 : 3);
  for (int k = 0; k < faces.size(); ++k) {
    faces[k].feature = feature + 1 + k;
    points.add(faces[k]);
  }
}

/// Corners of the box in the field, and corners of the field in the box.
void box_field(const PlacedShape& a, const Field& field, double margin, CollisionPoints& points) {
  const Matrix3<double>& R = a.X_WS.R;
  const Vector half = a.size / 2;
  CollisionPoints found;
  for (int k = 0; k < 8; ++k) {
    const Vector p = a.X_WS * Vector((k & 1 ? 1 : -1) * half[0], (k & 2 ? 1 : -1) * half[1],
                                     (k & 4 ? 1 : -1) * half[2]);
    if (is_over(field, p)) under_surface(field, p, 0, margin, k, found);
  }
  const Cells cells = cells_near(field, a.X_WS.p, half.norm() + margin);
  for (Eigen::Index i = cells.i0; i <= cells.i1; ++i) {
    for (Eigen::Index j = cells.j0; j <= cells.j1; ++j) {
      const Vector p = field_vertex(field, i, j), local = R.transpose() * (p - a.X_WS.p);
      // The face through which a vertex of the field leaves the box; it must face down.
      int face = -1;
      double gap = -1e300;
      for (int axis = 0; axis < 3; ++axis) {
        const double sign = R(2, axis) > 0 ? -1 : 1;
        if (std::abs(R(2, axis)) < 0.3) continue;
        const double out = sign * local[axis] - half[axis];
        if (out > gap) {
          gap = out;
          face = axis;
        }
      }
      if (face < 0 || gap > margin) continue;
      const int u = (face + 1) % 3, v = (face + 2) % 3;
      if (std::abs(local[u]) > half[u] || std::abs(local[v]) > half[v]) continue;
      const Vector n = (R(2, face) > 0 ? 1 : -1) * R.col(face);
      const int index = static_cast<int>(i * field.heights.cols() + j);
      found.add({p + gap / 2 * n, n, gap, 8 + index});
    }
  }
  found.keep_nearest(6);
  for (int k = 0; k < found.size(); ++k) points.add(found[k]);
}

}  // namespace

void collide(const PlacedShape& a, const Ground::HeightField& b, double margin,
             CollisionPoints& points) {
  const double radius = bounding_radius(a.kind, a.size);
  if (a.X_WS.p[2] - radius - margin > b.heights.maxCoeff()) return;
  if (a.kind == ContactShape::Kind::mesh) {
    collide_mesh(a, b, margin, points);
    return;
  }
  if (a.kind == ContactShape::Kind::box) {
    box_field(a, b, margin, points);
    return;
  }
  // A capsule is sampled by spheres along its length, no coarser than the cells.
  const Capsule capsule = to_capsule(a);
  const double length = (capsule.b - capsule.a).norm();
  constexpr double kMostSteps = 6;
  const int steps =
      length > 0
          ? static_cast<int>(std::clamp(std::ceil(length / b.cell.minCoeff()), 1.0, kMostSteps))
          : 0;
  for (int k = 0; k <= steps; ++k) {
    const double t = steps > 0 ? double(k) / steps : 0;
    sphere_field(capsule.a + t * (capsule.b - capsule.a), capsule.radius, b, margin, 8 * k, points);
  }
}

}  // namespace limb
