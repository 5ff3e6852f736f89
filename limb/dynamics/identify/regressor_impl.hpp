#pragma once

#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/math/inertial_parameters.hpp"

namespace limb {
namespace regressor_detail {

template <typename T>
using BodyColumns = Eigen::Matrix<T, 6, kBodyParameters>;

template <typename T>
void check_columns(const char* call, const char* argument, const Model<T>& model,
                   Eigen::Index found) {
  if (found != parameter_count(model)) {
    check_size(call, argument, found, parameter_count(model), "ten for each body but the world");
  }
}

// Symbols: w, wd angular velocity and acceleration; a acceleration of the origin minus gravity; V,
// A twist and spatial acceleration; all in body axes.

/// L(w), columns Ixx, Ixy, Iyy, Ixz, Iyz, Izz: I w = L(w) (Ixx ... Izz).
template <typename T>
Eigen::Matrix<T, 3, 6> tensor_columns(const Vector3<T>& w) {
  const T o = T(0);
  Eigen::Matrix<T, 3, 6> L;
  L << w[0], w[1], o, w[2], o, o,  //
      o, w[0], w[1], o, w[2], o,   //
      o, o, o, w[0], w[1], w[2];
  return L;
}

/// Force and moment on a body by its parameters, in body axes; a is the acceleration of its origin
/// minus gravity.
template <typename T>
BodyColumns<T> wrench_columns(const Vector3<T>& w, const Vector3<T>& wd, const Vector3<T>& a) {
  BodyColumns<T> Y = BodyColumns<T>::Constant(T(0));
  const Matrix3<T> W = skew(w);
  Y.template block<3, 1>(0, 0) = a;
  Y.template block<3, 3>(0, 1) = skew(wd) + W * W;
  Y.template block<3, 3>(3, 1) = -skew(a);
  Y.template block<3, 6>(3, 4) = tensor_columns<T>(wd) + W * tensor_columns<T>(w);
  return Y;
}

/// Momentum of a body by its parameters, in body axes, about its origin.
template <typename T>
BodyColumns<T> momentum_columns(const Motion<T>& V) {
  BodyColumns<T> Y = BodyColumns<T>::Constant(T(0));
  Y.template block<3, 1>(0, 0) = V.v;
  Y.template block<3, 3>(0, 1) = skew(V.w);
  Y.template block<3, 3>(3, 1) = -skew(V.v);
  Y.template block<3, 6>(3, 4) = tensor_columns<T>(V.w);
  return Y;
}

template <typename T, typename Columns>
void fill_torques(const Model<T>& model, const Kinematics<T>& k, RegressorScratch<T>& scratch,
                  MatrixOut<T>& Y, const Columns& columns_of) {
  Matrix6X<T>& J = scratch.J;
  for (int i = 1; i < model.body_count(); ++i) {
    const BodyColumns<T> F = columns_of(static_cast<std::size_t>(i));
    frame_jacobian<T>(model, k, BodyId(i), FrameAxes::local, J);
    for (int r = 0; r < J.cols(); ++r) {
      for (int c = 0; c < kBodyParameters; ++c) {
        T sum = J(0, r) * F(0, c);
        for (int m = 1; m < 6; ++m) sum = sum + J(m, r) * F(m, c);
        Y(r, kBodyParameters * (i - 1) + c) = sum;
      }
    }
  }
}

template <typename T>
void check_torques(const char* call, const Model<T>& model, const Kinematics<T>& k,
                   typename Kinematics<T>::Order order, const RegressorScratch<T>& scratch,
                   const MatrixOut<T>& Y) {
  check_kinematics(call, model, k, order);
  check_shape(call, "Y", Y.rows(), Y.cols(), model.nv(), parameter_count(model));
  if (scratch.J.cols() != model.nv()) {
    fail(call, "scratch", "of another model", "one made from this");
  }
}

}  // namespace regressor_detail

template <typename T>
void inertial_parameters(const Model<T>& model, VectorOut<T> p) {
  regressor_detail::check_columns("inertial_parameters", "p", model, p.size());
  for (int i = 1; i < model.body_count(); ++i) {
    const Inertia<T>& body = model.bodies()[static_cast<std::size_t>(i)].inertia;
    p.template segment<kBodyParameters>(kBodyParameters * (i - 1)) = inertial_parameters(body);
  }
}

template <typename T>
void torque_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y) {
  using namespace regressor_detail;
  check_torques("torque_regressor", model, kinematics, Kinematics<T>::Order::acceleration, scratch,
                Y);
  fill_torques(model, kinematics, scratch, Y, [&](std::size_t i) {
    const Motion<T>&V = kinematics.V_WB_B[i], &A = kinematics.A_WB_B[i];
    const Vector3<T> g = kinematics.X_WB[i].R.transpose() * model.gravity();
    return wrench_columns<T>(V.w, A.w, small_products::add_cross<T>(A.v, V.w, V.v) - g);
  });
}

template <typename T>
void static_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y) {
  using namespace regressor_detail;
  check_torques("static_regressor", model, kinematics, Kinematics<T>::Order::position, scratch, Y);
  const Vector3<T> none = Vector3<T>::Zero();
  fill_torques(model, kinematics, scratch, Y, [&](std::size_t i) {
    const Vector3<T> g = kinematics.X_WB[i].R.transpose() * model.gravity();
    return wrench_columns<T>(none, none, -g);
  });
}

template <typename T>
void kinetic_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                              VectorOut<T> y) {
  constexpr const char* kCall = "kinetic_energy_regressor";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::velocity);
  regressor_detail::check_columns(kCall, "y", model, y.size());
  const T half = T(0.5);
  for (int i = 1; i < model.body_count(); ++i) {
    const Motion<T>& V = kinematics.V_WB_B[static_cast<std::size_t>(i)];
    auto at = y.template segment<kBodyParameters>(kBodyParameters * (i - 1));
    at[0] = half * V.v.dot(V.v);
    at.template segment<3>(1) = small_products::cross<T>(V.v, V.w);
    at.template segment<6>(4) = half * (regressor_detail::tensor_columns<T>(V.w).transpose() * V.w);
  }
}

template <typename T>
void potential_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                                VectorOut<T> y) {
  constexpr const char* kCall = "potential_energy_regressor";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::position);
  regressor_detail::check_columns(kCall, "y", model, y.size());
  y.setConstant(T(0));
  for (int i = 1; i < model.body_count(); ++i) {
    const Pose<T>& X = kinematics.X_WB[static_cast<std::size_t>(i)];
    auto at = y.template segment<kBodyParameters>(kBodyParameters * (i - 1));
    at[0] = -model.gravity().dot(X.p);
    at.template segment<3>(1) = -(X.R.transpose() * model.gravity());
  }
}

template <typename T>
void momentum_regressor(const Model<T>& model, const Kinematics<T>& kinematics, JacobianOut<T> Y) {
  constexpr const char* kCall = "momentum_regressor";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::velocity);
  regressor_detail::check_columns(kCall, "columns of Y", model, Y.cols());
  for (int i = 1; i < model.body_count(); ++i) {
    const std::size_t body = static_cast<std::size_t>(i);
    Y.template middleCols<kBodyParameters>(kBodyParameters * (i - 1)) =
        kinematics.X_WB[body].dual_adjoint() *
        regressor_detail::momentum_columns<T>(kinematics.V_WB_B[body]);
  }
}

}  // namespace limb
