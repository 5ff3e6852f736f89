#pragma once

#include <vector>

#include "limb/sim/equation.hpp"

namespace limb {

/// The manifold of a robot's configurations, laid out for an integrator's inner loop. What
/// manifold.hpp does joint by joint happens here for all plain coordinates at once; joints whose
/// motions form a group (planar, spherical, free) are moved by their exponential.
template <typename T>
class ConfigurationSpace {
 public:
  explicit ConfigurationSpace(const Model<T>& model);

  int position_size() const { return position_size_; }
  int velocity_size() const { return velocity_size_; }

  /// q1 = q0 moved by the tangent u; unit quaternions stay unit to rounding, however often. q1 may
  /// be q0.
  void move(const VectorX<T>& q0, const VectorX<T>& u, VectorX<T>& q1) const;

  /// du/dt for q0 moved by u(t), where the robot moves with velocity v: the inverse of the right
  /// Jacobian of the exponential, times v. [Munthe-Kaas 1999, dexpinv]
  void rate(const VectorX<T>& u, const VectorX<T>& v, VectorX<T>& du) const;

  /// The largest angle by which u turns a planar, spherical or free joint; rate() is singular at a
  /// full turn.
  T largest_turn(const VectorX<T>& u) const;

  // For the semi-implicit method. Velocities of free and planar joints are written in axes that
  // turn with the body; a step in those axes would bend the path of a spinning body, and make it
  // faster with every step.

  /// v at the end of a step of length h that began with v0, in the axes of its begin: adds h w x v.
  void keep_axes(const VectorX<T>& v0, const T& h, VectorX<T>& v) const;
  /// q1 = q0 moved for a time h with the v of keep_axes(), origins of free bodies on straight
  /// lines; then v in the axes of the end. q1 may be q0.
  void glide(const VectorX<T>& q0, const T& h, VectorX<T>& v, VectorX<T>& q1) const;

 private:
  struct Run {  ///< plain coordinates that stand together in q and in v
    int q, v, size;
  };
  struct Group {
    Joint<T> joint;
    int q, v;
  };
  int position_size_, velocity_size_;
  std::vector<Run> runs_;
  std::vector<Group> groups_;
};

extern template class ConfigurationSpace<double>;
extern template State<double> make_state(const Model<double>&, int);

}  // namespace limb
