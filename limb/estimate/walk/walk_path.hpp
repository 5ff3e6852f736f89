#pragma once

#include "limb/estimate/walk/synthetic_walk.hpp"

/// The base of a synthetic walk: a smooth path with its velocity and acceleration, and the feet
/// below it.
namespace limb {

/// A value with its first two time derivatives.
struct Jet {
  double x = 0, d = 0, dd = 0;
  Jet operator+(const Jet& o) const { return {x + o.x, d + o.d, dd + o.dd}; }
  Jet operator*(const Jet& o) const {
    return {x * o.x, d * o.x + x * o.d, dd * o.x + 2 * d * o.d + x * o.dd};
  }
  Jet operator*(double s) const { return {x * s, d * s, dd * s}; }
};
Jet sin(const Jet& u);
Jet cos(const Jet& u);
/// From 0 at s = 0 to 1 at s = 1, with zero first and second derivative at both ends.
Jet smooth_step(const Jet& s);

/// Pose, velocity and acceleration of the base B.
struct BaseMotion {
  Pose<double> X_WB;
  Vector3<double> v_WB, a_WB;       ///< world axes
  Vector3<double> w_WB_B, dw_WB_B;  ///< axes of B
  double yaw = 0;
};

class WalkPath {
 public:
  WalkPath(const WalkOptions& options, double height);
  BaseMotion at(double t) const;
  /// Position and heading on the ground, without sway and tilt.
  Pose<double> ground(double t) const;

 private:
  Jet ramp(double t) const;
  Jet yaw_rate(double t) const;
  struct Course {
    double x = 0, y = 0, yaw = 0;
  };
  Course course(double t) const;
  void advance(Course& c, double from, double to) const;

  WalkOptions options_;
  double height_, interval_;
  std::vector<Course> courses_;  ///< at multiples of thin_
};

/// Motion of a foot: alternating stance and swing.
struct FootMotion {
  Pose<double> X_WF;     ///< pose of the foot
  Vector3<double> v_WF;  ///< world axes
  double yaw_rate = 0;   ///< rad/s about z
  bool contact = true;
};
class FootPath {
 public:
  /// @param stand  pose of the foot below the base at rest
  /// @param group  0 or 1: the half of the feet with which it swings
  FootPath(const WalkOptions& options, const WalkPath& path, int foot, int group,
           const Pose<double>& stand);
  FootMotion at(double t) const;

 private:
  struct Stance {
    double lift = 0, land = 0;  ///< s, of the swing that ends here
    Vector3<double> p_WF;
    double yaw = 0;
  };
  WalkOptions options_;
  int foot_;
  Matrix3<double> R_stand_;
  std::vector<Stance> stances_;
};

}  // namespace limb
