#include "limb/sim/contact/contact_manifold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limb {
namespace {

using Plane = Vector2<double>;
/// Points in a plane, of which the convex hull is kept in counter-clockwise order.
class Polygon {
 public:
  /// How far p is outside of it.
  double distance(const Plane& p) const {
    if (size_ == 1) return (p - corner(0)).norm();
    if (size_ == 2) {
      const Plane edge = corner(1) - corner(0);
      const double t = std::clamp(edge.dot(p - corner(0)) / edge.squaredNorm(), 0.0, 1.0);
      return (p - corner(0) - t * edge).norm();
    }
    double outside = 0;
    for (int i = 0; i < size_; ++i) {
      const Plane edge = corner((i + 1) % size_) - corner(i);
      outside = std::max(outside, cross(p - corner(i), edge) / edge.norm());
    }
    return outside;
  }

  /// Adds a point outside.
  void add(const Plane& p) {
    if (size_ < 2) {
      corners_[static_cast<std::size_t>(size_++)] = p;
      return;
    }
    // The corners that the point sees from outside are replaced by it.
    std::array<Plane, kMost> kept;
    int count = 0;
    bool added = false;
    for (int i = 0; i < size_; ++i) {
      const bool before = sees((i + size_ - 1) % size_, p), after = sees(i, p);
      if (!(before && after) || size_ == 2) kept[static_cast<std::size_t>(count++)] = corner(i);
      if (after && !added) {
        kept[static_cast<std::size_t>(count++)] = p;
        added = true;
      }
    }
    if (added) {
      corners_ = kept;
      size_ = count;
    } else if (size_ == 2) {  // in line with both: it replaces the nearer one
      const bool first = (p - corner(0)).squaredNorm() < (p - corner(1)).squaredNorm();
      corners_[first ? 0 : 1] = p;
    }
  }

 private:
  static constexpr std::size_t kMost = ContactManifold::kMaxPoints + 1;
  static double cross(const Plane& a, const Plane& b) { return a[0] * b[1] - a[1] * b[0]; }
  const Plane& corner(int i) const { return corners_[static_cast<std::size_t>(i)]; }
  /// Whether p is outside of the edge from corner i to the next.
  bool sees(int i, const Plane& p) const {
    const Plane edge = corner((i + 1) % size_) - corner(i);
    return cross(p - corner(i), edge) > 0;
  }

  std::array<Plane, kMost> corners_;
  int size_ = 0;
};

}  // namespace

void ContactManifold::add(const CollisionPoint& point) {
  if (count_ < kCapacity) {
    item(count_++) = point;
    return;
  }
  int farthest = 0;
  for (int i = 1; i < count_; ++i) {
    if (item(i).gap > item(farthest).gap) farthest = i;
  }
  if (point.gap < item(farthest).gap) item(farthest) = point;
}

void ContactManifold::select(CollisionPoints& points) {
  constexpr double kSimilar = 0.95;  // cosine of the angle between normals of a group
  int first = 0;
  for (int group = 0; group < kMaxGroups && first < count_; ++group) {
    int deepest = first;
    for (int i = first + 1; i < count_; ++i) {
      if (item(i).gap < item(deepest).gap) deepest = i;
    }
    const Vector3<double> normal = item(deepest).n_W;
    const auto begin = items_.begin() + first, end = items_.begin() + count_;
    const auto middle = std::partition(
        begin, end, [&](const CollisionPoint& p) { return p.n_W.dot(normal) > kSimilar; });
    const int last = static_cast<int>(middle - items_.begin());
    if (last == first) break;  // a normal that is not finite
    // The order of features, whatever the groups before were.
    std::sort(begin, middle, [](const CollisionPoint& a, const CollisionPoint& b) {
      return a.feature < b.feature;
    });
    select_group(first, last, points);
    first = last;
  }
}

void ContactManifold::select_group(int first, int end, CollisionPoints& points) {
  constexpr double kSameDepth = 2e-5;  // m; above the overlap that resting contacts may have
  constexpr double kHeightWeight = 4;  // distance that outweighs a height
  constexpr double kTie = 1e-6;        // relative to the extent
  constexpr double kWorth = 1e-2;      // relative to the extent: gain of a further point
  double lowest = item(first).gap;
  Vector3<double> sum = Vector3<double>::Zero();
  for (int i = first; i < end; ++i) {
    lowest = std::min(lowest, item(i).gap);
    sum += item(i).n_W;
  }
  // Coordinates in the plane across the mean normal.
  const Vector3<double> n = sum.normalized();
  const Vector3<double> other =
      std::abs(n[0]) < 0.9 ? Vector3<double>::UnitX() : Vector3<double>::UnitY();
  const Vector3<double> t1 = (other - n * n.dot(other)).normalized(), t2 = n.cross(t1);
  int seed = first;
  while (item(seed).gap > lowest + kSameDepth) ++seed;
  const Vector3<double> origin = item(seed).p_W;
  const auto in_plane = [&](int i) {
    const Vector3<double> d = item(i).p_W - origin;
    return Plane(t1.dot(d), t2.dot(d));
  };
  double extent = 0;
  for (int i = first; i < end; ++i) extent = std::max(extent, in_plane(i).norm());

  Polygon polygon;
  Chosen chosen = {seed};
  int count = 1;
  polygon.add(in_plane(seed));
  while (count < kMaxPoints) {
    int best = -1;
    double most = kWorth * extent;
    for (int i = first; i < end; ++i) {
      const double gain =
          polygon.distance(in_plane(i)) - kHeightWeight * std::max(0.0, item(i).gap - lowest);
      if (gain > most + kTie * extent) {
        most = gain;
        best = i;
      }
    }
    if (best < 0) break;
    polygon.add(in_plane(best));
    chosen[static_cast<std::size_t>(count++)] = best;
  }
  std::sort(chosen.begin(), chosen.begin() + count);
  for (int k = 0; k < count; ++k) points.add(item(chosen[static_cast<std::size_t>(k)]));
}

}  // namespace limb
