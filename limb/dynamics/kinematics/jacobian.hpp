#pragma once

#include "limb/dynamics/kinematics/frames.hpp"

/// Jacobians of frames and points by the generalized velocities v, couplings included. Outputs are
/// dense: columns of joints that do not move the frame are zero. No allocation; each function
/// throws Error for a wrong size, an unknown frame, or kinematics of too low an order. O(n) for the
/// zeros, O(depth) for the rest.
namespace limb {

/// J with frame_velocity(axes) = J v. Needs kinematics of order position.
template <typename T>
void frame_jacobian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                    FrameAxes axes, JacobianOut<T> J);

/// dJ/dt along the velocities of the kinematics. Needs kinematics of order velocity.
template <typename T>
void frame_jacobian_rate(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                         FrameAxes axes, JacobianOut<T> dJ);

/// dJ/dt v, without forming dJ/dt: the time derivative of the velocity in these axes is J a + dJ/dt
/// v. Spatial for local and world, classical for local_world_aligned.
template <typename T>
Motion<T> frame_jacobian_rate_times_v(const Model<T>& model, const Kinematics<T>& kinematics,
                                      FrameIn<T> frame, FrameAxes axes);

/// J with v_WQ = J v, world axes, for the point Q fixed to the frame at p_FQ in its axes.
template <typename T>
void point_jacobian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                    const std::type_identity_t<Vector3<T>>& p_FQ, PointJacobianOut<T> J);

/// dJ/dt v of that point: its acceleration at a = 0, world axes.
template <typename T>
Vector3<T> point_jacobian_rate_times_v(const Model<T>& model, const Kinematics<T>& kinematics,
                                       FrameIn<T> frame,
                                       const std::type_identity_t<Vector3<T>>& p_FQ);

/// Derivatives of a 6 x n Jacobian along each of the n tangent directions: q moved by integrate(q,
/// eps e_k), eps small, also for quasi-velocities.
///
/// Not symmetric in j and k: quasi-velocities do not commute.
template <typename T>
class KinematicHessian {
 public:
  explicit KinematicHessian(const Model<T>& model)
      : n_(model.nv()),
        columns_(Matrix6X<T>::Constant(6, static_cast<Eigen::Index>(n_) * n_, T(0))) {}

  int size() const { return n_; }
  /// d J(row, j) / d q_k.
  const T& operator()(int row, int j, int k) const { return columns_(row, at(j, k)); }
  /// d J / d q_k, 6 x n.
  auto along(int k) const { return columns_.middleCols(at(0, k), n_); }
  /// Column j of d J / d q_k.
  auto column(int j, int k) { return columns_.col(at(j, k)); }
  void set_zero() { columns_.setConstant(T(0)); }

 private:
  Eigen::Index at(int j, int k) const { return j + static_cast<Eigen::Index>(k) * n_; }

  int n_;
  Matrix6X<T> columns_;
};

/// Kinematic Hessian of a frame in these axes. Needs kinematics of order position; O(n^2) for the
/// zeros, O(depth^2) for the rest.
template <typename T>
void frame_hessian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                   FrameAxes axes, KinematicHessian<T>& H);

}  // namespace limb
