#pragma once

#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

namespace limb {

template <typename T>
typename AnyFrame<T>::Placement AnyFrame<T>::resolve(const char* call,
                                                     const Model<T>& model) const {
  const auto check = [&](const char* argument, int found, int count) {
    if (found >= 0 && found < count) return;
    fail(call, argument, std::to_string(found), "0 to " + std::to_string(count - 1));
  };
  if (body_.is_valid()) {
    check("body", body_.value(), model.body_count());
    return {static_cast<std::size_t>(body_.value()), X_BF_};
  }
  check("frame", frame_.value(), static_cast<int>(model.frames().size()));
  const Frame<T>& frame = model.frame(frame_);
  return {static_cast<std::size_t>(frame.body.value()), frame.X_BF};
}

namespace frames_detail {

/// A motion of the body, given at its origin in its axes, as a motion of a frame on it.
template <typename T>
Motion<T> in_axes(const Kinematics<T>& k, const typename AnyFrame<T>::Placement& placement,
                  const Motion<T>& V_B, FrameAxes axes) {
  const Pose<T>& X_WB = k.X_WB[placement.body];
  switch (axes) {
    case FrameAxes::local:
      return placement.X_BF.inv_act(V_B);
    case FrameAxes::local_world_aligned:
      return {small_products::product<T>(
                  X_WB.R, small_products::add_cross<T>(V_B.v, V_B.w, placement.X_BF.p)),
              small_products::product<T>(X_WB.R, V_B.w)};
    default:
      return X_WB.act(V_B);
  }
}

/// Acceleration of the frame, from the body's velocity and spatial acceleration.
template <typename T>
Motion<T> acceleration(const Kinematics<T>& k, const typename AnyFrame<T>::Placement& placement,
                       const Motion<T>& A_B, FrameAxes axes, AccelerationKind kind) {
  Motion<T> A = in_axes(k, placement, A_B, axes);
  if (kind == AccelerationKind::spatial) return A;
  const Motion<T> V = in_axes(k, placement, k.V_WB_B[placement.body], axes);
  A.v = small_products::add_cross<T>(A.v, V.w, V.v);
  return A;
}

/// Classical acceleration of the origin of body i at a = 0 and its angular acceleration, in world
/// axes: the sum over the joints that support it, each d(S v + S w x arm)/dt.
template <typename T>
Motion<T> bias_of_origin(const Model<T>& model, const Kinematics<T>& k, std::size_t i) {
  Motion<T> A;
  const Vector3<T> v_i = small_products::product<T>(k.X_WB[i].R, k.V_WB_B[i].v);
  for (std::size_t b = i; b > 0; b = static_cast<std::size_t>(model.bodies()[b].parent.value())) {
    const Body<T>& body = model.bodies()[b];
    Motion<T> V_J, dV_J;  // S v and dS/dt v of this joint
    for (int j = body.v_start; j < body.v_start + body.joint.nv(); ++j) {
      V_J += k.S_W[static_cast<std::size_t>(j)] * k.v[j];
      dV_J += k.dS_W[static_cast<std::size_t>(j)] * k.v[j];
    }
    const Vector3<T> arm = k.p_OB_W[i] - k.p_OB_W[b];
    const Vector3<T> arm_rate = v_i - small_products::product<T>(k.X_WB[b].R, k.V_WB_B[b].v);
    A.v += small_products::add_cross<T>(small_products::add_cross<T>(dV_J.v, dV_J.w, arm), V_J.w,
                                        arm_rate);
    A.w += dV_J.w;
  }
  return A;
}

}  // namespace frames_detail

template <typename T>
Pose<T> frame_pose(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame) {
  check_kinematics("frame_pose", model, kinematics, Kinematics<T>::Order::position);
  const auto placement = frame.resolve("frame_pose", model);
  return kinematics.X_WB[placement.body] * placement.X_BF;
}

template <typename T>
Motion<T> frame_velocity(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                         FrameAxes axes) {
  check_kinematics("frame_velocity", model, kinematics, Kinematics<T>::Order::velocity);
  const auto placement = frame.resolve("frame_velocity", model);
  return frames_detail::in_axes<T>(kinematics, placement, kinematics.V_WB_B[placement.body], axes);
}

template <typename T>
Motion<T> frame_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                             FrameIn<T> frame, FrameAxes axes, AccelerationKind kind) {
  check_kinematics("frame_acceleration", model, kinematics, Kinematics<T>::Order::acceleration);
  const auto placement = frame.resolve("frame_acceleration", model);
  return frames_detail::acceleration<T>(kinematics, placement, kinematics.A_WB_B[placement.body],
                                        axes, kind);
}

template <typename T>
Motion<T> frame_bias_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                                  FrameIn<T> frame, FrameAxes axes, AccelerationKind kind) {
  check_kinematics("frame_bias_acceleration", model, kinematics, Kinematics<T>::Order::velocity);
  const auto placement = frame.resolve("frame_bias_acceleration", model);
  const Motion<T> bias = frames_detail::bias_of_origin(model, kinematics, placement.body);
  // Classical in world axes -> spatial in body axes.
  const Motion<T>& V = kinematics.V_WB_B[placement.body];
  Motion<T> A_B = kinematics_detail::rotated_back<T>(kinematics.X_WB[placement.body].R, bias);
  A_B.v = small_products::add_cross<T>(A_B.v, V.v, V.w);
  return frames_detail::acceleration<T>(kinematics, placement, A_B, axes, kind);
}

}  // namespace limb
