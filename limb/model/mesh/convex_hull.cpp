#include "limb/model/mesh/convex_hull.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "limb/math/check.hpp"
#include "limb/model/mesh/exact_orientation.hpp"

namespace limb {
namespace {

constexpr std::string_view kCall = "convex_hull";
constexpr int kNone = -1;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

struct Face {
  std::array<int, 3> corners;    ///< counter-clockwise seen from outside
  std::array<int, 3> neighbors;  ///< face beyond the edge from corner k to corner k + 1
  Vector3<double> normal;        ///< outward; its length is twice the area
  double noise = 0;              ///< rounding error of `height`
  int first_above = kNone;       ///< list of the points that are assigned to this face
  int farthest = kNone;          ///< the highest of them
  double farthest_height = 0;
  bool removed = false;
};

class Hull {
 public:
  explicit Hull(std::span<const Vector3<double>> points)
      : points_(points), next_above_(points.size(), kNone), face_from_(points.size(), kNone) {}

  std::vector<std::array<int, 3>> build() {
    check_points();
    start_with_tetrahedron();
    // First in, first out: the hull grows on all sides, and faces stay compact.
    while (!open_.empty()) {
      const int face = open_.front();
      open_.pop_front();
      if (!faces_[at(face)].removed && faces_[at(face)].farthest != kNone) add_farthest(face);
    }
    std::vector<std::array<int, 3>> triangles;
    for (const Face& face : faces_) {
      if (!face.removed) triangles.push_back(face.corners);
    }
    return triangles;
  }

 private:
  const Vector3<double>& point(int i) const { return points_[at(i)]; }

  void check_points() {
    if (points_.size() < 4) {
      fail(kCall, "points", std::to_string(points_.size()) + " points", "at least 4");
    }
    Eigen::AlignedBox<double, 3> box;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].allFinite()) {
        fail(kCall, "points[" + std::to_string(i) + "]", to_text(points_[i]), "finite numbers");
      }
      box.extend(points_[i]);
    }
    extent_ = box.diagonal().norm();
    // Products of three lengths must neither overflow nor lose digits.
    if (extent_ > 1e90 || (extent_ > 0 && extent_ < 1e-90)) {
      fail(kCall, "the extent of the points", to_text(extent_), "1e-90 to 1e90");
    }
  }

  /// The point for which the function is largest.
  template <typename F>
  int best(const F& value) const {
    int found = 0;
    double largest = -1;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const double x = value(points_[i]);
      if (x > largest) {
        largest = x;
        found = static_cast<int>(i);
      }
    }
    return found;
  }

  void start_with_tetrahedron() {
    // Far from any point, then far from that one: at least half of the diameter apart.
    const int a = best([&](const auto& p) { return (p - points_[0]).squaredNorm(); });
    const int b = best([&](const auto& p) { return (p - point(a)).squaredNorm(); });
    const Vector3<double> line = (point(b) - point(a)).normalized();
    const int c = best([&](const auto& p) { return (p - point(a)).cross(line).squaredNorm(); });
    const Vector3<double> normal = line.cross(point(c) - point(a));
    const int d = best([&](const auto& p) { return std::abs(normal.dot(p - point(a))); });
    const double width = normal.norm(), thickness = std::abs(normal.dot(point(d) - point(a)));
    constexpr double kFlat = 1e-12;
    if (!(width > kFlat * extent_) || !(thickness > kFlat * extent_ * width)) {
      fail(kCall, "points",
           width > kFlat * extent_ ? "in one plane"
           : extent_ > 0           ? "on one line"
                                   : "one point",
           "points that enclose a volume");
    }
    std::array<int, 4> t = {a, b, c, d};
    if (exact_orientation(point(a), point(b), point(c), point(d)) > 0) std::swap(t[0], t[1]);
    // d is now below (a, b, c): that face is outward.
    add_face({t[0], t[1], t[2]}, {1, 2, 3});
    add_face({t[1], t[0], t[3]}, {0, 3, 2});
    add_face({t[2], t[1], t[3]}, {0, 1, 3});
    add_face({t[0], t[2], t[3]}, {0, 2, 1});
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) {
      if (std::find(t.begin(), t.end(), i) == t.end()) assign(i);
    }
    open_.insert(open_.end(), new_faces_.begin(), new_faces_.end());
  }

  int add_face(const std::array<int, 3>& corners, const std::array<int, 3>& neighbors) {
    Face face;
    face.corners = corners;
    face.neighbors = neighbors;
    const Vector3<double> u = point(corners[1]) - point(corners[0]),
                          v = point(corners[2]) - point(corners[0]);
    face.normal = u.cross(v);
    // Some 20 roundings of products of the lengths of u, v and the distance of a point.
    face.noise = 64 * std::numeric_limits<double>::epsilon() * u.norm() * v.norm() * extent_;
    int index = static_cast<int>(faces_.size());
    if (free_.empty()) {
      faces_.push_back(face);
    } else {
      index = free_.back();
      free_.pop_back();
      faces_[at(index)] = face;
    }
    new_faces_.push_back(index);
    return index;
  }

  double height(const Face& face, int i) const {
    return face.normal.dot(point(i) - point(face.corners[0]));
  }
  bool is_above(const Face& face, int i, double height_of_i) const {
    if (std::abs(height_of_i) > face.noise) return height_of_i > 0;
    return exact_orientation(point(face.corners[0]), point(face.corners[1]), point(face.corners[2]),
                             point(i)) > 0;
  }

  /// Puts a point on the list of one new face that it is above. A point above none of them is
  /// inside of the hull, and stays inside.
  void assign(int i) {
    for (const int index : new_faces_) {
      Face& face = faces_[at(index)];
      const double h = height(face, i);
      if (!is_above(face, i, h)) continue;
      next_above_[at(i)] = face.first_above;
      face.first_above = i;
      if (face.farthest == kNone || h > face.farthest_height) {
        face.farthest = i;
        face.farthest_height = h;
      }
      return;
    }
  }

  /// Replaces all faces that the point sees by the cone from it to their outline.
  void add_farthest(int seen) {
    const int apex = faces_[at(seen)].farthest;
    new_faces_.clear();
    remove_seen(seen, apex);
    if (outline_.size() < 3) fail_inconsistent();
    for (const Edge& edge : outline_) {
      const int face = add_face({edge.from, edge.to, apex}, {edge.beyond, kNone, kNone});
      auto& back = faces_[at(edge.beyond)].neighbors;
      const auto place = std::find(back.begin(), back.end(), edge.inside);
      if (place == back.end()) fail_inconsistent();
      *place = face;
      // The outline is one closed line: each of its points starts one edge.
      if (face_from_[at(edge.from)] != kNone) fail_inconsistent();
      face_from_[at(edge.from)] = face;
    }
    for (const int face : new_faces_) {
      const int next = face_from_[at(faces_[at(face)].corners[1])];
      if (next == kNone) fail_inconsistent();
      faces_[at(face)].neighbors[1] = next;
      faces_[at(next)].neighbors[2] = face;
    }
    for (const Edge& edge : outline_) face_from_[at(edge.from)] = kNone;
    for (const int face : removed_) {
      for (int i = faces_[at(face)].first_above; i != kNone;) {
        const int next = next_above_[at(i)];
        if (i != apex) assign(i);
        i = next;
      }
    }
    for (const int face : new_faces_) {
      if (faces_[at(face)].farthest != kNone) open_.push_back(face);
    }
    free_.insert(free_.end(), removed_.begin(), removed_.end());
  }

  /// Marks the faces that the apex sees, and lists them and the edges of their outline.
  void remove_seen(int seen, int apex) {
    outline_.clear();
    removed_.assign(1, seen);
    faces_[at(seen)].removed = true;
    for (std::size_t k = 0; k < removed_.size(); ++k) {
      const int inside = removed_[k];
      for (std::size_t e = 0; e < 3; ++e) {
        const Face& face = faces_[at(inside)];
        const int beyond = face.neighbors[e];
        Face& neighbor = faces_[at(beyond)];
        if (neighbor.removed) continue;
        if (is_above(neighbor, apex, height(neighbor, apex))) {
          neighbor.removed = true;
          removed_.push_back(beyond);
        } else {
          outline_.push_back({face.corners[e], face.corners[(e + 1) % 3], inside, beyond});
        }
      }
    }
  }

  [[noreturn]] static void fail_inconsistent() {
    fail_computation(kCall, "numbers of the points are too small to decide their sides exactly");
  }

  struct Edge {
    int from, to;
    int inside, beyond;  ///< the removed face and the one that stays
  };

  std::span<const Vector3<double>> points_;
  double extent_ = 0;
  std::vector<Face> faces_;
  std::vector<int> next_above_;  ///< next point on the list of the same face
  std::vector<int> face_from_;   ///< new face whose edge of the outline starts at this point
  std::deque<int> open_;         ///< faces that may have points above them
  std::vector<int> new_faces_;   ///< of the last point
  std::vector<int> free_;        ///< places of removed faces
  std::vector<int> removed_;     ///< by the last point
  std::vector<Edge> outline_;    ///< of the removed faces
};

}  // namespace

std::vector<std::array<int, 3>> convex_hull(std::span<const Vector3<double>> points) {
  return Hull(points).build();
}

}  // namespace limb
