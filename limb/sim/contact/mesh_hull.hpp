#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "limb/model/core/geometry.hpp"

namespace limb {

/// The convex hull of a mesh, with which it touches. Positions are relative to the centre of its
/// bounding box.
struct MeshHull {
  /// At most; a larger hull is replaced by that of the vertices that are extreme in 256 directions
  /// spread over the sphere: corners stay, round surfaces move inward by up to 2 % of their radius.
  static constexpr int kMaxVertices = 256;

  Vector3<double> centre;  ///< of the bounding box, in the coordinates of the mesh
  Vector3<double> size;    ///< edges of the bounding box
  Eigen::Matrix3Xd vertices;
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise seen from outside
  Eigen::Matrix3Xd normals;                   ///< of the triangles, outward
  VectorX<double> offsets;                    ///< normal . p = offset on a triangle

  /// Nearest point of the surface.
  struct Nearest {
    double distance;         ///< negative inside
    Vector3<double> p;       ///< on the surface
    Vector3<double> normal;  ///< unit, outward
    Eigen::Index face;       ///< the triangle whose plane is nearest; -1: an edge or a vertex
  };
  /// Exact outside; inside the nearest plane of a triangle. If it is farther than `cutoff`, only
  /// the distance is set, to a number larger than that. Cost proportional to the triangles.
  Nearest nearest(const Vector3<double>& p, double cutoff) const;
};

/// @throws Error for points that have no volume or are not finite.
MeshHull make_hull(std::span<const Vector3<double>> points);

/// Hulls of mesh files, each read once.
class HullLibrary {
 public:
  /// Null if the mesh cannot be used: its file is missing, of a format that read_mesh() does not
  /// know, damaged, or without volume; then `why` says it.
  std::shared_ptr<const MeshHull> find(const Geometry& mesh, std::string* why = nullptr);

 private:
  struct Entry {
    std::shared_ptr<const MeshHull> hull;
    std::string why;
  };
  using Key = std::tuple<std::string, const void*, std::array<double, 15>>;
  std::map<Key, Entry> entries_;
};

}  // namespace limb
