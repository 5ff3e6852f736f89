#pragma once

#include "limb/dynamics/kinematics/jacobian.hpp"

namespace limb {

/// The acceleration of a frame by its terms, J a + dJ/dt v with dJ/dt v quadratic in v.
template <typename T>
struct AccelerationSplit {
  Motion<T> tangential;   ///< J a
  Motion<T> centripetal;  ///< terms of v_j^2
  Motion<T> coriolis;     ///< terms of v_j v_k, j != k

  Motion<T> sum() const { return tangential + centripetal + coriolis; }
};

/// Split of the acceleration of a frame: its origin moves with the classical acceleration in
/// FrameAxes::local_world_aligned; in the other axes the sum is the spatial acceleration.
/// O(depth^2), allocates.   [Lynch 2017, Sec. 8.1]
/// @param kinematics  of order position, at the same configuration as v and a.
/// @throws Error if a size is wrong.
template <typename T>
AccelerationSplit<T> frame_acceleration_split(const Model<T>& model,
                                              const Kinematics<T>& kinematics, VectorIn<T>& v,
                                              VectorIn<T>& a, FrameIn<T> frame, FrameAxes axes) {
  check_velocity("frame_acceleration_split", "v", model, v);
  check_velocity("frame_acceleration_split", "a", model, a);
  Matrix6X<T> J(6, model.nv());
  frame_jacobian(model, kinematics, frame, axes, JacobianOut<T>(J));
  KinematicHessian<T> H(model);
  frame_hessian(model, kinematics, frame, axes, H);
  const Vector6<T> tangential = J * a;
  Vector6<T> centripetal = Vector6<T>::Zero(), coriolis = Vector6<T>::Zero();
  for (int k = 0; k < model.nv(); ++k) {
    for (int j = 0; j < model.nv(); ++j) {
      (j == k ? centripetal : coriolis) += H.along(k).col(j) * (v[j] * v[k]);
    }
  }
  const auto motion = [](const Vector6<T>& x) {
    return Motion<T>{x.template head<3>(), x.template tail<3>()};
  };
  return {motion(tangential), motion(centripetal), motion(coriolis)};
}

}  // namespace limb
