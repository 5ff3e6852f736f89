#pragma once

#include <vector>

#include "limb/sim/integrate/equation.hpp"

namespace limb {

/// The configuration manifold of a robot, laid out for the inner loop of an integrator: like
/// manifold.hpp, but with all scalar coordinates at once; joints whose configurations form a group
/// (planar, spherical, free) are moved by the exponential map.
template <typename T>
class ConfigurationSpace {
 public:
  explicit ConfigurationSpace(const Model<T>& model);

  int nq() const { return nq_; }
  int nv() const { return nv_; }

  /// q1 = q0 moved by the tangent u; quaternions are normalized. q1 may be q0.
  void move(const VectorX<T>& q0, const VectorX<T>& u, VectorX<T>& q1) const;

  /// du/dt for q0 moved by u(t), where the robot moves with velocity v: the inverse of the right
  /// Jacobian of the exponential, times v. [Munthe-Kaas 1999, dexpinv]
  void rate(const VectorX<T>& u, const VectorX<T>& v, VectorX<T>& du) const;

  /// The largest angle by which u rotates a planar, spherical or free joint; rate() is singular at
  /// a full turn.
  T largest_turn(const VectorX<T>& u) const;

  // For the semi-implicit method. Velocities of free and planar joints are in axes that rotate with
  // the body; a step in those axes would curve the path of a spinning body and increase its speed
  // with every step.

  /// v at the end of a step of length h from v0, in the axes at its start: adds h w x v.
  void add_axes_rotation(const VectorX<T>& v0, const T& h, VectorX<T>& v) const;
  /// q1 = q0 moved for a time h with the v of add_axes_rotation(), origins of free bodies on
  /// straight lines; then rotates v into the axes at the end. q1 may be q0.
  void step_straight(const VectorX<T>& q0, const T& h, VectorX<T>& v, VectorX<T>& q1) const;

 private:
  struct Run {  ///< scalar coordinates that are contiguous in q and in v
    int q, v, size;
  };
  struct Group {
    Joint<T> joint;
    int q, v;
  };
  int nq_, nv_;
  std::vector<Run> runs_;
  std::vector<Group> groups_;
};

extern template class ConfigurationSpace<double>;
extern template RobotState<double> make_state(const Model<double>&, int);

}  // namespace limb
