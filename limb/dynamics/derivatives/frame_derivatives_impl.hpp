#pragma once

#include "limb/dynamics/derivatives/axis_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/frame_derivatives.hpp"

// Symbols: S, psi_dot, psi_ddot, psi_s_dot as in axis_derivatives_impl.hpp, docs/derivations/
// frame_derivatives.md:
//   V, A   velocity and spatial acceleration of the frame, at the reference point
//   dV/dq = psi_dot + transported(S, V),    dA/dq = psi_ddot + psi_dot x V + transported(S, A)
//   dA/dv = psi_s_dot + S x V
// transported(S, X) depends on the axes; zero for local ones.

namespace limb {
namespace frame_derivatives_detail {

using jacobian_detail::add_to;
using jacobian_detail::moved;

/// The reference point and axes of the motion of a frame, and how they move with it.
template <typename T>
class FrameReference {
 public:
  FrameReference(const Kinematics<T>& k, const typename AnyFrame<T>::Placement& place,
                 FrameAxes axes)
      : axes_(axes), R_WF_(k.X_WB[place.body].R * place.X_BF.R) {
    p_ = axes == FrameAxes::world
             ? k.p_OB_W[0]
             : Vector3<T>(k.p_OB_W[place.body] +
                          small_products::product<T>(k.X_WB[place.body].R, place.X_BF.p));
  }
  /// A motion about O as one about the reference point.
  Motion<T> at_point(const Motion<T>& V_O) const { return moved<T>(V_O, p_); }
  /// Derivative of a vector V that moves with the frame, along the motion S of the frame.
  Motion<T> transported(const Motion<T>& S, const Motion<T>& V) const {
    switch (axes_) {
      case FrameAxes::local:
        return {};
      case FrameAxes::local_world_aligned:
        return {small_products::cross<T>(S.w, V.v), small_products::cross<T>(S.w, V.w)};
      default:
        return cross(S, V);
    }
  }
  /// A motion in world axes in the chosen axes.
  Motion<T> in_axes(const Motion<T>& V) const {
    return axes_ == FrameAxes::local ? kinematics_detail::rotated_back<T>(R_WF_, V) : V;
  }

 private:
  FrameAxes axes_;
  Matrix3<T> R_WF_;
  Vector3<T> p_;
};

}  // namespace frame_derivatives_detail

template <typename T>
void frame_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                FrameIn<T> frame, FrameAxes axes, JacobianOut<T> dV_dq,
                                JacobianOut<T> dV_dv) {
  using namespace frame_derivatives_detail;
  constexpr const char* kCall = "frame_velocity_derivatives";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::velocity);
  check_columns(kCall, "dV_dq", model, dV_dq);
  check_columns(kCall, "dV_dv", model, dV_dv);
  const auto place = frame.resolve(kCall, model);
  const FrameReference<T> reference(kinematics, place, axes);
  const Motion<T> V = reference.at_point(
      axis_derivatives_detail::at_O(kinematics, place.body, kinematics.V_WB_B[place.body]));
  dV_dq.setConstant(T(0));
  dV_dv.setConstant(T(0));
  axis_derivatives_detail::for_each_supporting_axis(
      model, kinematics, place.body, [&](std::size_t body, int j, const auto& axis) {
        const Motion<T> S = reference.at_point(axis.S);
        const Motion<T> by_q =
            reference.in_axes(reference.at_point(axis.psi_dot) + reference.transported(S, V));
        const Motion<T> by_v = reference.in_axes(S);
        for_each_column(model, body, j, [&](int column, const T& ratio) {
          add_to<T>(dV_dq, column, ratio, by_q);
          add_to<T>(dV_dv, column, ratio, by_v);
        });
      });
}

template <typename T>
void frame_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                    FrameIn<T> frame, FrameAxes axes, AccelerationKind kind,
                                    JacobianOut<T> dA_dq, JacobianOut<T> dA_dv,
                                    JacobianOut<T> dA_da) {
  using namespace frame_derivatives_detail;
  constexpr const char* kCall = "frame_acceleration_derivatives";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::acceleration);
  check_columns(kCall, "dA_dq", model, dA_dq);
  check_columns(kCall, "dA_dv", model, dA_dv);
  check_columns(kCall, "dA_da", model, dA_da);
  const auto place = frame.resolve(kCall, model);
  const FrameReference<T> reference(kinematics, place, axes);
  const Motion<T> V = reference.at_point(
      axis_derivatives_detail::at_O(kinematics, place.body, kinematics.V_WB_B[place.body]));
  const Motion<T> A = reference.at_point(
      axis_derivatives_detail::at_O(kinematics, place.body, kinematics.A_WB_B[place.body]));
  // The classical acceleration is A.v + w x v: add the derivative of w x v.
  const auto add_classical = [&](const Motion<T>& dV, Motion<T>& dA) {
    if (kind == AccelerationKind::spatial) return;
    dA.v = small_products::add_cross<T>(small_products::add_cross<T>(dA.v, dV.w, V.v), V.w, dV.v);
  };
  for (auto* out : {&dA_dq, &dA_dv, &dA_da}) out->setConstant(T(0));
  axis_derivatives_detail::for_each_supporting_axis(
      model, kinematics, place.body, [&](std::size_t body, int j, const auto& axis) {
        const Motion<T> S = reference.at_point(axis.S), psi_dot = reference.at_point(axis.psi_dot);
        Motion<T> by_q =
            reference.at_point(axis.psi_ddot) + cross(psi_dot, V) + reference.transported(S, A);
        Motion<T> by_v = reference.at_point(axis.psi_s_dot) + cross(S, V);
        add_classical(psi_dot + reference.transported(S, V), by_q);
        add_classical(S, by_v);
        by_q = reference.in_axes(by_q);
        by_v = reference.in_axes(by_v);
        const Motion<T> by_a = reference.in_axes(S);
        for_each_column(model, body, j, [&](int column, const T& ratio) {
          add_to<T>(dA_dq, column, ratio, by_q);
          add_to<T>(dA_dv, column, ratio, by_v);
          add_to<T>(dA_da, column, ratio, by_a);
        });
      });
}

}  // namespace limb
