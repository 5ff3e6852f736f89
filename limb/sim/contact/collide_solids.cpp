// Spheres, capsules and boxes against each other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/sim/contact/capsule.hpp"
#include "limb/sim/contact/collide.hpp"
#include "limb/sim/contact/collide_mesh.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

struct SolidBox {
  Pose<double> X;
  Vector half;
};

/// A sphere against a box; sign -1: the box is the first solid.
void collide_sphere_box(const Vector& p, double radius, const SolidBox& box, double margin,
                        double sign, int feature, CollisionPoints& points) {
  const Vector local = box.X.R.transpose() * (p - box.X.p);
  const Vector nearest = local.cwiseMax(-box.half).cwiseMin(box.half);
  Vector n_B = local - nearest;
  double distance = n_B.norm();
  if (distance > 0) {
    n_B /= distance;
  } else {  // inside: out through the nearest face
    int axis = 0;
    const Vector depth = box.half - local.cwiseAbs();
    depth.minCoeff(&axis);
    distance = -depth[axis];
    n_B = Vector::Zero();
    n_B[axis] = local[axis] >= 0 ? 1 : -1;
  }
  const double gap = distance - radius;
  if (gap > margin) return;
  const Vector n = box.X.R * n_B;
  points.add({p - (radius + gap / 2) * n, sign * n, gap, feature});
}

/// A capsule or sphere against a box: its ends, and the closest point between them if that is
/// closer than both.
void collide_capsule_box(const Capsule& a, const SolidBox& box, double margin, double sign,
                         CollisionPoints& points) {
  const double cutoff = (a.b - a.a).norm() / 2 + a.radius + box.half.norm() + margin;
  if (((a.a + a.b) / 2 - box.X.p).squaredNorm() > cutoff * cutoff) return;
  collide_sphere_box(a.a, a.radius, box, margin, sign, 0, points);
  if (a.a == a.b) return;
  collide_sphere_box(a.b, a.radius, box, margin, sign, 1, points);
  // The distance to a convex solid is convex along the segment.
  const auto distance = [&](double t) {
    const Vector local = box.X.R.transpose() * (a.a + t * (a.b - a.a) - box.X.p);
    return (local - local.cwiseMax(-box.half).cwiseMin(box.half)).squaredNorm();
  };
  double low = 0, high = 1;
  for (int k = 0; k < 60 && high - low > 1e-9; ++k) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (distance(left) > distance(right) ? low : high) =
        distance(left) > distance(right) ? left : right;
  }
  const double t = (low + high) / 2;
  const double ends = std::min(distance(0), distance(1));
  if (t < 1e-4 || t > 1 - 1e-4 || distance(t) > ends * (1 - 1e-6)) return;
  collide_sphere_box(a.a + t * (a.b - a.a), a.radius, box, margin, sign, 2, points);
}

/// The nearest points of two segments. [Ericson 2005, Sec. 5.1.9]
void nearest_on_segments(const Capsule& a, const Capsule& b, Vector& on_a, Vector& on_b) {
  const Vector d1 = a.b - a.a, d2 = b.b - b.a, r = a.a - b.a;
  const double A = d1.squaredNorm(), E = d2.squaredNorm(), f = d2.dot(r), c = d1.dot(r);
  const double B = d1.dot(d2), denominator = A * E - B * B;
  double s = 0, t = 0;
  if (A > 0) {
    s = denominator > 1e-12 * A * E ? std::clamp((B * f - c * E) / denominator, 0.0, 1.0) : 0.5;
  }
  if (E > 0) t = (B * s + f) / E;
  if (t < 0 || t > 1 || E == 0) {
    t = std::clamp(t, 0.0, 1.0);
    if (A > 0) s = std::clamp((t * B - c) / A, 0.0, 1.0);
  }
  on_a = a.a + s * d1;
  on_b = b.a + t * d2;
}

/// Adds the pair of surface points between two points of the axes. @returns the gap.
double add_between(const Vector& on_a, const Vector& on_b, const Capsule& a, const Capsule& b,
                   double margin, int feature, CollisionPoints& points) {
  Vector n = on_a - on_b;
  const double distance = n.norm(), gap = distance - a.radius - b.radius;
  if (gap > margin) return gap;
  n = distance > 0 ? Vector(n / distance) : Vector(Vector::UnitZ());
  points.add({on_b + (b.radius + gap / 2) * n, n, gap, feature});
  return gap;
}

/// The nearest points. Nearly parallel capsules touch along a line: then also the ends of their
/// common part, because a single point would jump from end to end.
void collide_capsules(const Capsule& a, const Capsule& b, double margin, CollisionPoints& points) {
  constexpr double kParallel = 1e-3;  // square of the sine of the angle
  Vector on_a, on_b;
  nearest_on_segments(a, b, on_a, on_b);
  const double nearest = (on_a - on_b).norm() - a.radius - b.radius;
  if (nearest > margin) return;
  const Vector d1 = a.b - a.a, d2 = b.b - b.a;
  const double A = d1.squaredNorm(), E = d2.squaredNorm(), B = d1.dot(d2);
  if (A > 0 && E > 0 && A * E - B * B < kParallel * A * E) {
    const double first = d1.dot(b.a - a.a) / A, second = d1.dot(b.b - a.a) / A;
    const double low = std::clamp(std::min(first, second), 0.0, 1.0),
                 high = std::clamp(std::max(first, second), 0.0, 1.0);
    if ((high - low) * std::sqrt(A) > kParallel * (a.radius + b.radius)) {
      double least = std::numeric_limits<double>::infinity();
      for (int end = 0; end < 2; ++end) {
        const Vector p = a.a + (end == 0 ? low : high) * d1;
        const Vector q = b.a + std::clamp(d2.dot(p - b.a) / E, 0.0, 1.0) * d2;
        least = std::min(least, add_between(p, q, a, b, margin, 1 + end, points));
      }
      if (nearest > least - 1e-6) return;  // the nearest points are at an end
    }
  }
  add_between(on_a, on_b, a, b, margin, 0, points);
}

/// Separating axes of two boxes, then the smaller face clipped by the larger one, or the two edges.
/// [Ericson 2005, Sec. 4.4.1]
class BoxBox {
 public:
  BoxBox(const SolidBox& a, const SolidBox& b) : a_(a), b_(b), d_(a.X.p - b.X.p) {}

  void find(double margin, CollisionPoints& points) {
    for (int i = 0; i < 3; ++i) try_axis(a_.X.R.col(i), i, 1);
    // Two faces in contact are equally close: the same one stays the reference, so that the points
    // keep their feature numbers.
    const double own = best_;
    for (int i = 0; i < 3; ++i) try_axis(b_.X.R.col(i), 3 + i, own + 1e-6);
    // An edge must be clearly better than a face: contact of faces is more stable.
    const double face = best_;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const Vector axis = a_.X.R.col(i).cross(b_.X.R.col(j));
        const double length = axis.norm();
        if (length < 1e-3) continue;
        try_axis(axis / length, 6 + 3 * i + j, face + 1e-4);
      }
    }
    if (best_ > margin) return;
    const int before = points.size();
    if (which_ < 3) {
      clip(a_, which_, b_, -1, margin, points);
    } else if (which_ < 6) {
      clip(b_, which_ - 3, a_, 1, margin, points);
    } else {
      edges(points);
    }
    double deepest = std::numeric_limits<double>::infinity();
    for (int k = before; k < points.size(); ++k) deepest = std::min(deepest, points[k].gap);
    if (best_ >= 0 || which_ >= 6 || deepest <= best_ + 1e-4) return;
    // A corner that extends beyond a side of the face.
    const SolidBox& other = which_ < 3 ? b_ : a_;
    const Vector inward = which_ < 3 ? n_ : Vector(-n_);
    Vector corner = other.X.p;
    for (int k = 0; k < 3; ++k) {
      const Vector axis = other.X.R.col(k);
      corner += (axis.dot(inward) > 0 ? 1 : -1) * other.half[k] * axis;
    }
    points.add({corner - best_ / 2 * inward, n_, best_, 3});
  }

 private:
  static double extent(const SolidBox& box, const Vector& axis) {
    return (box.X.R.transpose() * axis).cwiseAbs().dot(box.half);
  }
  void try_axis(Vector axis, int which, double needed) {
    if (axis.dot(d_) < 0) axis = -axis;  // from b to a
    const double gap = axis.dot(d_) - extent(a_, axis) - extent(b_, axis);
    if (which_ >= 0 && (gap <= best_ || (which >= 3 && gap <= needed))) return;
    best_ = gap;
    which_ = which;
    n_ = axis;
  }

  /// The face of `other` opposite to face `axis` of `reference`, clipped by the sides of that face.
  /// `side` is +1 if the normal n_ points out of the reference solid.
  void clip(const SolidBox& reference, int axis, const SolidBox& other, double side, double margin,
            CollisionPoints& points) {
    const Vector out = side * n_;  // out of the reference
    const Vector toward = other.X.R.transpose() * out;
    int face = 0;
    toward.cwiseAbs().maxCoeff(&face);
    const double sign = toward[face] > 0 ? -1 : 1;
    const int u = (face + 1) % 3, v = (face + 2) % 3;
    std::array<Vector, 16> polygon, next;
    int count = 4;
    for (int k = 0; k < 4; ++k) {
      polygon[static_cast<std::size_t>(k)] =
          other.X.p + sign * other.half[face] * other.X.R.col(face) +
          (k == 0 || k == 3 ? -1 : 1) * other.half[u] * other.X.R.col(u) +
          (k < 2 ? -1 : 1) * other.half[v] * other.X.R.col(v);
    }
    const int sides[2] = {(axis + 1) % 3, (axis + 2) % 3};
    for (const int s : sides) {
      for (const double direction : {1.0, -1.0}) {
        const Vector plane = direction * reference.X.R.col(s);
        const double level = plane.dot(reference.X.p) + reference.half[s];
        int kept = 0;
        for (int k = 0; k < count; ++k) {
          const Vector &p = polygon[static_cast<std::size_t>(k)],
                       &q = polygon[static_cast<std::size_t>((k + 1) % count)];
          const double at_p = plane.dot(p) - level, at_q = plane.dot(q) - level;
          if (at_p <= 0) next[static_cast<std::size_t>(kept++)] = p;
          if ((at_p < 0 && at_q > 0) || (at_p > 0 && at_q < 0)) {
            next[static_cast<std::size_t>(kept++)] = p + at_p / (at_p - at_q) * (q - p);
          }
        }
        std::swap(polygon, next);
        count = kept;
        if (count == 0) return;
      }
    }
    // From up to eight corners, takes those farthest along the diagonals of the reference face.
    const double level = out.dot(reference.X.p) + reference.half[axis];
    const Vector x = reference.X.R.col(sides[0]), y = reference.X.R.col(sides[1]);
    int chosen[4];
    for (int k = 0; k < 4; ++k) {
      const Vector along = (k & 1 ? -1 : 1) * x + (k & 2 ? -1 : 1) * y;
      int best = 0;
      for (int i = 1; i < count; ++i) {
        if (along.dot(polygon[static_cast<std::size_t>(i)]) >
            along.dot(polygon[static_cast<std::size_t>(best)]) + 1e-12) {
          best = i;
        }
      }
      chosen[k] = best;
      if (std::find(chosen, chosen + k, best) != chosen + k) continue;
      const Vector& p = polygon[static_cast<std::size_t>(best)];
      const double gap = out.dot(p) - level;
      if (gap <= margin) points.add({p - gap / 2 * out, n_, gap, 4 * (which_ + 1) + k});
    }
  }

  void edges(CollisionPoints& points) {
    const int i = (which_ - 6) / 3, j = (which_ - 6) % 3;
    const auto edge = [](const SolidBox& box, int along, const Vector& direction) {
      Vector middle = box.X.p;
      for (int k = 0; k < 3; ++k) {
        if (k == along) continue;
        const Vector axis = box.X.R.col(k);
        middle += (axis.dot(direction) > 0 ? 1 : -1) * box.half[k] * axis;
      }
      const Vector half = box.half[along] * box.X.R.col(along);
      return Capsule{middle - half, middle + half, 0};
    };
    Vector on_a, on_b;
    nearest_on_segments(edge(a_, i, -n_), edge(b_, j, n_), on_a, on_b);
    points.add({(on_a + on_b) / 2, n_, best_, 4 * (which_ + 1)});
  }

  const SolidBox &a_, &b_;
  Vector d_, n_ = Vector::UnitZ();
  double best_ = 0;
  int which_ = -1;
};

}  // namespace

Capsule to_capsule(const PlacedShape& shape) {
  const Vector axis = shape.X_WS.R.col(2), &c = shape.X_WS.p;
  switch (shape.kind) {
    case ContactShape::Kind::capsule:
      return {c - shape.size[1] / 2 * axis, c + shape.size[1] / 2 * axis, shape.size[0]};
    case ContactShape::Kind::cylinder: {
      const double radius = std::min(shape.size[0], shape.size[1] / 2);
      const double half = shape.size[1] / 2 - radius;
      return {c - half * axis, c + half * axis, radius};
    }
    case ContactShape::Kind::ellipsoid:
      return {c, c, shape.size.minCoeff()};
    default:
      return {c, c, shape.size[0]};
  }
}

void collide(const PlacedShape& a, const Ground::Box& b, double margin, CollisionPoints& points) {
  const double cutoff = bounding_radius(a.kind, a.size) + b.half.norm() + margin;
  if ((a.X_WS.p - b.X_WG.p).squaredNorm() > cutoff * cutoff) return;
  const SolidBox box{b.X_WG, b.half};
  if (a.kind == ContactShape::Kind::mesh) {
    collide_mesh_box(a, b.X_WG, b.half, margin, 1, points);
  } else if (a.kind == ContactShape::Kind::box) {
    const SolidBox own{a.X_WS, a.size / 2};
    BoxBox(own, box).find(margin, points);
  } else {
    collide_capsule_box(to_capsule(a), box, margin, 1, points);
  }
}

void collide(const PlacedShape& a, const PlacedShape& b, double margin, CollisionPoints& points) {
  if (a.kind == ContactShape::Kind::mesh || b.kind == ContactShape::Kind::mesh) {
    const bool mesh_a = a.kind == ContactShape::Kind::mesh;
    collide_mesh(mesh_a ? a : b, mesh_a ? b : a, margin, mesh_a ? 1 : -1, points);
    return;
  }
  const bool box_a = a.kind == ContactShape::Kind::box, box_b = b.kind == ContactShape::Kind::box;
  const SolidBox solid_a{a.X_WS, a.size / 2}, solid_b{b.X_WS, b.size / 2};
  if (box_a && box_b) {
    BoxBox(solid_a, solid_b).find(margin, points);
  } else if (box_b) {
    collide_capsule_box(to_capsule(a), solid_b, margin, 1, points);
  } else if (box_a) {
    collide_capsule_box(to_capsule(b), solid_a, margin, -1, points);
  } else {
    collide_capsules(to_capsule(a), to_capsule(b), margin, points);
  }
}

}  // namespace limb
