#pragma once

#include <array>

#include "limb/sim/contact/ground.hpp"

/// Collision detection: where two solids touch or are close.
namespace limb {

/// A place where a shape of the robot is closer than a margin to another solid.
struct CollisionPoint {
  Vector3<double> p_W;  ///< midway between the surfaces
  Vector3<double> n_W;  ///< unit, from the other solid to the shape
  double gap = 0;       ///< m; negative: depth of overlap
  int feature = 0;      ///< which corner, end or face: constant from step to step
};

/// A list of fixed capacity, without allocation. When full, the closest ones are kept.
class CollisionPoints {
 public:
  void clear() { count_ = 0; }
  int size() const { return count_; }
  const CollisionPoint& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  CollisionPoint& operator[](int i) { return items_[static_cast<std::size_t>(i)]; }
  void add(const CollisionPoint& point);
  /// Keeps the `most` closest ones, in the order in which they were added.
  void keep_nearest(int most);

 private:
  static constexpr int kCapacity = 16;
  std::array<CollisionPoint, kCapacity> items_;
  int count_ = 0;
};

/// The solid of a ContactShape at a pose in the world.
struct PlacedShape {
  ContactShape::Kind kind;
  Vector3<double> size;
  Pose<double> X_WS;
  const MeshHull* hull = nullptr;  ///< of a mesh
};

/// Radius of a sphere about the shape's origin that contains the shape.
double bounding_radius(ContactShape::Kind kind, const Vector3<double>& size);

/// Adds the places where the shape is closer than the margin. A box has at most four of its corners
/// at a time, a cylinder points of its rims, a mesh up to eight spread vertices of its hull.
void collide(const PlacedShape& a, const Ground::HalfSpace& b, double margin,
             CollisionPoints& points);
/// Here and below, cylinders and ellipsoids are replaced by the largest capsule or sphere inside,
/// and a mesh and a box touch where a vertex of one is in or near the other, not with edges only.
void collide(const PlacedShape& a, const Ground::Box& b, double margin, CollisionPoints& points);
void collide(const PlacedShape& a, const Ground::HeightField& b, double margin,
             CollisionPoints& points);
/// Two shapes of the robot; normals point from b to a. Two meshes do not touch.
void collide(const PlacedShape& a, const PlacedShape& b, double margin, CollisionPoints& points);

}  // namespace limb
