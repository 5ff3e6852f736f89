#pragma once

#include "limb/dynamics/kinematics/base_velocity.hpp"
#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"

namespace limb {
namespace base_velocity_detail {

/// Index of the base body; 0 if there is no floating base.
template <typename T>
std::size_t find(const Model<T>& model) {
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    if (body.parent.value() == 0 && body.joint.type() == JointType::free) return i;
  }
  return 0;
}

template <typename T>
std::size_t require(const char* call, const Model<T>& model) {
  const std::size_t i = find(model);
  if (i == 0) throw Error(std::string(call) + ": the robot has no floating base (Base::free)");
  return i;
}

/// Index of the base's first velocity among the generalized velocities.
template <typename T>
int start(const Model<T>& model, std::size_t base) {
  return model.coupling().rows()[base - 1].terms[0].y;
}

template <typename T>
Motion<T> motion_at(VectorIn<T>& v, int start) {
  return {{v[start], v[start + 1], v[start + 2]}, {v[start + 3], v[start + 4], v[start + 5]}};
}

/// Copies v to out, with the six entries from `start` on replaced by `base`.
template <typename T>
void write(VectorIn<T>& v, int start, const Vector6<T>& base, VectorOut<T>& out) {
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const bool of_base = i >= start && i < start + 6;
    out[i] = of_base ? base[i - start] : v[i];
  }
}

template <typename T>
Motion<T> convert(const Pose<T>& X_WB, const Motion<T>& V, BaseVelocityConvention from,
                  BaseVelocityConvention to) {
  using namespace base_velocity_detail;
  return from_body(X_WB, to_body(X_WB, V, from), to);
}

template <typename T>
Matrix6<T> matrix(const Pose<T>& X_WB, BaseVelocityConvention from, BaseVelocityConvention to) {
  Matrix6<T> B;
  for (int c = 0; c < 6; ++c) {
    const Motion<T> unit = Motion<T>::from_vector(Vector6<T>::Unit(c));
    B.col(c) = convert(X_WB, unit, from, to).vector();
  }
  return B;
}

}  // namespace base_velocity_detail

template <typename T>
bool has_floating_base(const Model<T>& model) {
  return base_velocity_detail::find(model) != 0;
}

template <typename T>
BodyId floating_base(const Model<T>& model) {
  return BodyId(static_cast<int>(base_velocity_detail::require("floating_base", model)));
}

template <typename T>
Motion<T> base_velocity(const Model<T>& model, const Kinematics<T>& kinematics,
                        BaseVelocityConvention convention) {
  check_kinematics("base_velocity", model, kinematics, Kinematics<T>::Order::velocity);
  const std::size_t base = base_velocity_detail::require("base_velocity", model);
  return base_velocity_detail::from_body(kinematics.X_WB[base], kinematics.V_WB_B[base],
                                         convention);
}

template <typename T>
Motion<T> base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                            BaseVelocityConvention convention) {
  using namespace base_velocity_detail;
  check_kinematics("base_acceleration", model, kinematics, Kinematics<T>::Order::acceleration);
  const std::size_t base = base_velocity_detail::require("base_acceleration", model);
  const Motion<T> A = kinematics.A_WB_B[base] + bias(kinematics.V_WB_B[base], convention);
  return from_body(kinematics.X_WB[base], A, convention);
}

template <typename T>
Matrix6<T> base_velocity_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                                BaseVelocityConvention from, BaseVelocityConvention to) {
  check_kinematics("base_velocity_matrix", model, kinematics, Kinematics<T>::Order::position);
  const std::size_t base = base_velocity_detail::require("base_velocity_matrix", model);
  return base_velocity_detail::matrix(kinematics.X_WB[base], from, to);
}

template <typename T>
void convert_base_velocity(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& v,
                           BaseVelocityConvention from, BaseVelocityConvention to,
                           VectorOut<T> v_to) {
  using namespace base_velocity_detail;
  check_kinematics("convert_base_velocity", model, kinematics, Kinematics<T>::Order::position);
  check_velocity("convert_base_velocity", "v", model, v);
  check_velocity("convert_base_velocity", "v_to", model, v_to);
  const std::size_t base = require("convert_base_velocity", model);
  const int at = start(model, base);
  const Motion<T> V = convert(kinematics.X_WB[base], motion_at<T>(v, at), from, to);
  write<T>(v, at, V.vector(), v_to);
}

template <typename T>
void convert_base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                               VectorIn<T>& a, BaseVelocityConvention from,
                               BaseVelocityConvention to, VectorOut<T> a_to) {
  using namespace base_velocity_detail;
  check_kinematics("convert_base_acceleration", model, kinematics, Kinematics<T>::Order::velocity);
  check_velocity("convert_base_acceleration", "a", model, a);
  check_velocity("convert_base_acceleration", "a_to", model, a_to);
  const std::size_t base = require("convert_base_acceleration", model);
  const int at = start(model, base);
  const Pose<T>& X_WB = kinematics.X_WB[base];
  const Motion<T>& V_WB_B = kinematics.V_WB_B[base];
  const Motion<T> A = to_body(X_WB, motion_at<T>(a, at), from) - bias(V_WB_B, from);
  write<T>(a, at, from_body<T>(X_WB, A + bias(V_WB_B, to), to).vector(), a_to);
}

template <typename T>
void convert_base_force(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& tau,
                        BaseVelocityConvention from, BaseVelocityConvention to,
                        VectorOut<T> tau_to) {
  using namespace base_velocity_detail;
  check_kinematics("convert_base_force", model, kinematics, Kinematics<T>::Order::position);
  check_velocity("convert_base_force", "tau", model, tau);
  check_velocity("convert_base_force", "tau_to", model, tau_to);
  const std::size_t base = require("convert_base_force", model);
  const int at = start(model, base);
  const Matrix6<T> back = matrix(kinematics.X_WB[base], to, from);
  Vector6<T> force;
  for (int c = 0; c < 6; ++c) force[c] = back.col(c).dot(motion_at<T>(tau, at).vector());
  write<T>(tau, at, force, tau_to);
}

template <typename T>
void convert_base_columns(const Model<T>& model, const Kinematics<T>& kinematics,
                          BaseVelocityConvention from, BaseVelocityConvention to, MatrixOut<T> J) {
  using namespace base_velocity_detail;
  check_kinematics("convert_base_columns", model, kinematics, Kinematics<T>::Order::position);
  check_columns("convert_base_columns", "J", model, J);
  const std::size_t base = require("convert_base_columns", model);
  const int at = start(model, base);
  const Matrix6<T> back = matrix(kinematics.X_WB[base], to, from);
  for (Eigen::Index r = 0; r < J.rows(); ++r) {
    Vector6<T> row;
    for (int c = 0; c < 6; ++c) row[c] = J(r, at + c);
    for (int c = 0; c < 6; ++c) J(r, at + c) = row.dot(back.col(c));
  }
}

}  // namespace limb
