#pragma once

#include "limb/dynamics/carried_impl.hpp"
#include "limb/dynamics/frame_derivatives.hpp"

namespace limb {
namespace frame_derivatives_detail {

using jacobian_detail::add_to;
using jacobian_detail::moved;

/// The place where a frame's motion is taken, and how vectors there change with the axes.
template <typename T>
class View {
 public:
  View(const Kinematics<T>& k, const typename AnyFrame<T>::Place& place, FrameAxes axes)
      : axes_(axes), R_WF_(k.X_WB[place.body].R * place.X_BF.R) {
    p_ = axes == FrameAxes::world
             ? k.p_OB_W[0]
             : Vector3<T>(k.p_OB_W[place.body] +
                          entries::product<T>(k.X_WB[place.body].R, place.X_BF.p));
  }
  Motion<T> here(const Motion<T>& V_O) const { return moved<T>(V_O, p_); }
  /// What a small motion S of the frame makes of a vector that it carries, as seen in the axes.
  Motion<T> followed(const Motion<T>& S, const Motion<T>& V) const {
    switch (axes_) {
      case FrameAxes::local:
        return {};
      case FrameAxes::local_world_aligned:
        return {entries::cross<T>(S.w, V.v), entries::cross<T>(S.w, V.w)};
      default:
        return cross(S, V);
    }
  }
  Motion<T> turned(const Motion<T>& V) const {
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
  const auto place = frame.on(kCall, model);
  const View<T> view(kinematics, place, axes);
  const Motion<T> V =
      view.here(carried_detail::at_O(kinematics, place.body, kinematics.V_WB_B[place.body]));
  dV_dq.setConstant(T(0));
  dV_dv.setConstant(T(0));
  carried_detail::for_each_carrier(
      model, kinematics, place.body, [&](std::size_t body, int j, const auto& axis) {
        const Motion<T> S = view.here(axis.S);
        const Motion<T> by_q = view.turned(view.here(axis.rate) + view.followed(S, V));
        const Motion<T> by_v = view.turned(S);
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
  const auto place = frame.on(kCall, model);
  const View<T> view(kinematics, place, axes);
  const Motion<T> V =
      view.here(carried_detail::at_O(kinematics, place.body, kinematics.V_WB_B[place.body]));
  const Motion<T> A =
      view.here(carried_detail::at_O(kinematics, place.body, kinematics.A_WB_B[place.body]));
  // The classical acceleration has w x v besides, and so has its derivative.
  const auto add_classical = [&](const Motion<T>& dV, Motion<T>& dA) {
    if (kind == AccelerationKind::spatial) return;
    dA.v = entries::add_cross<T>(entries::add_cross<T>(dA.v, dV.w, V.v), V.w, dV.v);
  };
  for (auto* out : {&dA_dq, &dA_dv, &dA_da}) out->setConstant(T(0));
  carried_detail::for_each_carrier(
      model, kinematics, place.body, [&](std::size_t body, int j, const auto& axis) {
        const Motion<T> S = view.here(axis.S), rate = view.here(axis.rate);
        Motion<T> by_q = view.here(axis.bend) + cross(rate, V) + view.followed(S, A);
        Motion<T> by_v = view.here(axis.sum) + cross(S, V);
        add_classical(rate + view.followed(S, V), by_q);
        add_classical(S, by_v);
        by_q = view.turned(by_q);
        by_v = view.turned(by_v);
        const Motion<T> by_a = view.turned(S);
        for_each_column(model, body, j, [&](int column, const T& ratio) {
          add_to<T>(dA_dq, column, ratio, by_q);
          add_to<T>(dA_dv, column, ratio, by_v);
          add_to<T>(dA_da, column, ratio, by_a);
        });
      });
}

}  // namespace limb
