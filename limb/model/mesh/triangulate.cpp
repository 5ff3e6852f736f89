#include "limb/model/mesh/triangulate.hpp"

#include <algorithm>

namespace limb {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

class Polygon {
 public:
  Polygon(std::span<const Vector3<double>> vertices, std::span<const int> corners)
      : vertices_(vertices), corners_(corners.begin(), corners.end()) {
    for (std::size_t i = 1; i + 1 < corners_.size(); ++i) {
      normal_ += (at(i) - at(0)).cross(at(i + 1) - at(0));
    }
  }

  std::size_t size() const { return corners_.size(); }
  bool is_convex() const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (turn(at(i), at(next(i)), at(next(next(i)))) < 0) return false;
    }
    return true;
  }
  void add_fan(Triangles& triangles) const {
    for (std::size_t i = 1; i + 1 < size(); ++i) {
      triangles.push_back({corners_[0], corners_[i], corners_[i + 1]});
    }
  }

  /// Moves one ear, the triangle of three successive corners, to `triangles`; false if there is
  /// none.
  bool clip_ear(Triangles& triangles) {
    for (std::size_t i = 0; i < size(); ++i) {
      const std::size_t j = next(i), k = next(j);
      if (!is_ear(i, j, k)) continue;
      triangles.push_back({corners_[i], corners_[j], corners_[k]});
      corners_.erase(corners_.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
    return false;
  }

 private:
  std::size_t next(std::size_t i) const { return i + 1 == size() ? 0 : i + 1; }
  const Vector3<double>& at(std::size_t i) const {
    return vertices_[static_cast<std::size_t>(corners_[i])];
  }
  /// Positive for a left turn, seen from the tip of the area vector.
  double turn(const Vector3<double>& a, const Vector3<double>& b, const Vector3<double>& c) const {
    return normal_.dot((b - a).cross(c - a));
  }
  bool is_ear(std::size_t i, std::size_t j, std::size_t k) const {
    const Vector3<double>&a = at(i), &b = at(j), &c = at(k);
    if (!(turn(a, b, c) > 0)) return false;
    for (std::size_t l = 0; l < size(); ++l) {
      if (l == i || l == j || l == k) continue;
      const Vector3<double>& p = at(l);
      if (p == a || p == b || p == c) continue;
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) return false;
    }
    return true;
  }

  std::span<const Vector3<double>> vertices_;
  std::vector<int> corners_;
  Vector3<double> normal_ = Vector3<double>::Zero();  ///< twice the area vector
};

}  // namespace

bool triangulate(std::span<const Vector3<double>> vertices, std::span<const int> corners,
                 Triangles& triangles) {
  const auto at = [&](std::size_t i) { return vertices[static_cast<std::size_t>(corners[i])]; };
  if (corners.size() == 4) {
    const bool first = (at(2) - at(0)).squaredNorm() < (at(3) - at(1)).squaredNorm();
    const std::array<std::size_t, 6> order = first ? std::array<std::size_t, 6>{0, 1, 2, 0, 2, 3}
                                                   : std::array<std::size_t, 6>{0, 1, 3, 1, 2, 3};
    triangles.push_back({corners[order[0]], corners[order[1]], corners[order[2]]});
    triangles.push_back({corners[order[3]], corners[order[4]], corners[order[5]]});
    return true;
  }
  Polygon polygon(vertices, corners);
  if (corners.size() > 4 && !polygon.is_convex()) {
    if (corners.size() > kMaxConcaveCorners) return false;
    while (polygon.size() > 3 && polygon.clip_ear(triangles)) {
    }
  }
  polygon.add_fan(triangles);
  return true;
}

}  // namespace limb
