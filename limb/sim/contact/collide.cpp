#include "limb/sim/contact/collide.hpp"

#include "limb/sim/contact/collide_mesh.hpp"

#include <cmath>

namespace limb {
namespace {

using Kind = ContactShape::Kind;
using Vector = Vector3<double>;

/// A surface point of the shape against a half space.
void add_point(const Vector& p, const Ground::HalfSpace& b, double margin, int feature,
               CollisionPoints& points) {
  const double gap = b.normal.dot(p) - b.level;
  if (gap > margin) return;
  points.add({p - gap / 2 * b.normal, b.normal, gap, feature});
}

}  // namespace

void CollisionPoints::add(const CollisionPoint& point) {
  if (count_ < kCapacity) {
    items_[static_cast<std::size_t>(count_++)] = point;
    return;
  }
  int farthest = 0;
  for (int i = 1; i < count_; ++i) {
    if ((*this)[i].gap > (*this)[farthest].gap) farthest = i;
  }
  if (point.gap < (*this)[farthest].gap) (*this)[farthest] = point;
}

void CollisionPoints::keep_nearest(int most) {
  while (count_ > most) {
    int farthest = 0;
    for (int i = 1; i < count_; ++i) {
      if ((*this)[i].gap >= (*this)[farthest].gap) farthest = i;
    }
    for (int i = farthest; i + 1 < count_; ++i) (*this)[i] = (*this)[i + 1];
    --count_;
  }
}

double bounding_radius(Kind kind, const Vector& size) {
  switch (kind) {
    case Kind::sphere:
      return size[0];
    case Kind::capsule:
      return size[0] + size[1] / 2;
    case Kind::cylinder:
      return std::hypot(size[0], size[1] / 2);
    case Kind::box:
    case Kind::mesh:
      return size.norm() / 2;
    default:
      return size.maxCoeff();
  }
}

void collide(const PlacedShape& a, const Ground::HalfSpace& b, double margin,
             CollisionPoints& points) {
  const Vector& c = a.X_WS.p;
  const double height = b.normal.dot(c) - b.level;
  if (height - bounding_radius(a.kind, a.size) > margin) return;
  const Matrix3<double>& R = a.X_WS.R;
  switch (a.kind) {
    case Kind::sphere:
      add_point(c - a.size[0] * b.normal, b, margin, 0, points);
      return;
    case Kind::capsule:
      for (int end = 0; end < 2; ++end) {
        const Vector p = c + (end == 0 ? -0.5 : 0.5) * a.size[1] * R.col(2);
        add_point(p - a.size[0] * b.normal, b, margin, end, points);
      }
      return;
    case Kind::cylinder: {
      // The lowest point of each rim, and the three others on which an upright cylinder rests.
      const Vector axis = R.col(2);
      Vector down = axis * axis.dot(b.normal) - b.normal;
      const double length = down.norm();
      // Nearly upright, the lowest point is ill-defined; the x axis of the cylinder replaces it.
      down = length > 1e-3 ? Vector(down / length) : Vector(R.col(0));
      const Vector side = axis.cross(down);
      CollisionPoints rim;
      for (int end = 0; end < 2; ++end) {
        const Vector p = c + (end == 0 ? -0.5 : 0.5) * a.size[1] * axis;
        for (int k = 0; k < 4; ++k) {
          const Vector out = k == 0 ? down : k == 1 ? side : k == 2 ? Vector(-down) : Vector(-side);
          add_point(p + a.size[0] * out, b, margin, 4 * end + k, rim);
        }
      }
      rim.keep_nearest(4);
      for (int i = 0; i < rim.size(); ++i) points.add(rim[i]);
      return;
    }
    case Kind::box: {
      CollisionPoints corners;
      for (int k = 0; k < 8; ++k) {
        const Vector p = c + 0.5 * ((k & 1 ? 1 : -1) * a.size[0] * R.col(0) +
                                    (k & 2 ? 1 : -1) * a.size[1] * R.col(1) +
                                    (k & 4 ? 1 : -1) * a.size[2] * R.col(2));
        add_point(p, b, margin, k, corners);
      }
      corners.keep_nearest(4);
      for (int i = 0; i < corners.size(); ++i) points.add(corners[i]);
      return;
    }
    case Kind::ellipsoid: {
      const Vector n_S = R.transpose() * b.normal;
      const Vector scaled = a.size.cwiseProduct(n_S);
      const Vector p_S = -a.size.cwiseProduct(scaled) / scaled.norm();
      add_point(c + R * p_S, b, margin, 0, points);
      return;
    }
    case Kind::mesh:
      collide_mesh(a, b, margin, points);
      return;
  }
}

}  // namespace limb
