#pragma once

#include <array>

#include "limb/sim/contact/ground.hpp"

/// Where two solids touch or nearly do.
namespace limb {

/// A place where a solid of the robot is nearer than a margin to something else.
struct Touch {
  Vector3<double> p_W;  ///< midway between the surfaces
  Vector3<double> n_W;  ///< unit, from the other solid to this one
  double gap = 0;       ///< m; negative: they overlap by so much
  int feature = 0;      ///< which corner, end or face: the same from step to step
};

/// A few of them, without allocation. Beyond its room the nearest ones stay.
class Touches {
 public:
  void clear() { count_ = 0; }
  int size() const { return count_; }
  const Touch& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  Touch& operator[](int i) { return items_[static_cast<std::size_t>(i)]; }
  void add(const Touch& touch);
  /// Leaves the `most` nearest ones, in the order in which they came.
  void keep_nearest(int most);

 private:
  static constexpr int kRoom = 16;
  std::array<Touch, kRoom> items_;
  int count_ = 0;
};

/// A solid at a place: what ContactShape says, in the world.
struct PlacedShape {
  ContactShape::Kind kind;
  Vector3<double> size;
  Pose<double> X_WS;
};

/// A radius about the shape's origin that holds all of it.
double bounding_radius(ContactShape::Kind kind, const Vector3<double>& size);

/// Adds the places where the shape is nearer than the margin. A box touches with at most four of
/// its corners at a time, a cylinder with points of its rims.
void collide(const PlacedShape& a, const Ground::HalfSpace& b, double margin, Touches& touches);
/// Cylinders and ellipsoids count as the largest capsule or sphere inside them from here on.
void collide(const PlacedShape& a, const Ground::Box& b, double margin, Touches& touches);
void collide(const PlacedShape& a, const Ground::HeightField& b, double margin, Touches& touches);
/// Two solids of the robot; normals point from b to a.
void collide(const PlacedShape& a, const PlacedShape& b, double margin, Touches& touches);

}  // namespace limb
