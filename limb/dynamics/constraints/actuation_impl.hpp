#pragma once

#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {
namespace actuation_detail {

/// Calls use(velocity, motor) for each velocity; motor is -1 for an unactuated one. No allocation.
/// @returns the number of motors.
template <typename T, typename Use>
int for_each_motor(const Model<T>& model, const Use& use) {
  int motors = 0;
  for (int y = 0; y < model.nv(); ++y) {
    use(y, is_actuated(model, y) ? motors++ : -1);
  }
  return motors;
}

}  // namespace actuation_detail

template <typename T>
int motor_count(const Model<T>& model) {
  return actuation_detail::for_each_motor(model, [](int, int) {});
}

template <typename T>
void selection_matrix(const Model<T>& model, MatrixOut<T> S) {
  check_shape("selection_matrix", "S", S.rows(), S.cols(), motor_count(model), model.nv());
  S.setConstant(T(0));
  actuation_detail::for_each_motor(model, [&](int velocity, int motor) {
    if (motor >= 0) S(motor, velocity) = T(1);
  });
}

template <typename T>
int base_size(const Model<T>& model) {
  int size = 0;
  while (size < model.nv() && !is_actuated(model, size)) ++size;
  return size;
}

template <typename T>
BaseJointPartition<T>::BaseJointPartition(const Model<T>& model) {
  const int b = base_size(model), j = model.nv() - b;
  M_bb = MatrixX<T>::Constant(b, b, T(0));
  M_bj = MatrixX<T>::Constant(b, j, T(0));
  M_jj = MatrixX<T>::Constant(j, j, T(0));
  h_b = VectorX<T>::Constant(b, T(0));
  h_j = VectorX<T>::Constant(j, T(0));
}

template <typename T>
void base_joint_partition(const Model<T>& model, MatrixIn<T>& M, VectorIn<T>& h,
                          BaseJointPartition<T>& partition) {
  const int n = model.nv();
  check_shape("base_joint_partition", "M", M.rows(), M.cols(), n, n);
  check_velocity("base_joint_partition", "h", model, h);
  const Eigen::Index b = partition.h_b.size(), j = partition.h_j.size();
  if (b + j != n) {
    fail("base_joint_partition", "partition", "of size " + std::to_string(b + j), std::to_string(n),
         "make it from the same model");
  }
  partition.M_bb = M.topLeftCorner(b, b);
  partition.M_bj = M.topRightCorner(b, j);
  partition.M_jj = M.bottomRightCorner(j, j);
  partition.h_b = h.head(b);
  partition.h_j = h.tail(j);
}

template <typename T>
void equation_of_motion_residual(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                                 VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& tau_motors,
                                 WrenchesIn<T> contacts, VectorOut<T> residual,
                                 const JointEffects& effects) {
  const int motors = motor_count(model);
  if (tau_motors.size() != motors) {
    check_size("equation_of_motion_residual", "tau_motors", tau_motors.size(), motors,
               "one for each motor");
  }
  rnea<T>(model, work, q, v, a, contacts, residual, effects);
  actuation_detail::for_each_motor(model, [&](int velocity, int motor) {
    if (motor >= 0) residual[velocity] = residual[velocity] - tau_motors[motor];
  });
}

template <typename T>
Force<T> transfer_wrench(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> from,
                         const std::type_identity_t<Force<T>>& F_from, FrameIn<T> to) {
  check_kinematics("transfer_wrench", model, kinematics, Kinematics<T>::Order::position);
  const auto a = from.resolve("transfer_wrench", model), b = to.resolve("transfer_wrench", model);
  // Relative to O (p_OB_W), which loses no digits far from the world's origin.
  const Pose<T> X_OA{kinematics.X_WB[a.body].R, kinematics.p_OB_W[a.body]};
  const Pose<T> X_OB{kinematics.X_WB[b.body].R, kinematics.p_OB_W[b.body]};
  return (X_OB * b.X_BF).inv_act((X_OA * a.X_BF).act(F_from));
}

}  // namespace limb
