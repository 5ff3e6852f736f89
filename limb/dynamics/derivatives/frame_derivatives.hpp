#pragma once

#include "limb/dynamics/kinematics/frames.hpp"

/// Derivatives of the motion of a frame, 6 x n each, in any axes. dq is a tangent vector as in
/// rnea_derivatives: column k is the derivative along integrate(q, eps e_k). Columns of joints that
/// do not move the frame are zero. No allocation; each throws Error for a wrong size, an unknown
/// frame, or kinematics of too low an order. O(n) for the zeros, O(depth) for the rest.
/// Derivation: docs/derivations/frame_derivatives.md.
namespace limb {

/// Derivatives of frame_velocity; dV_dv is the Jacobian of the frame. Needs kinematics of order
/// velocity or higher.
template <typename T>
void frame_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                FrameIn<T> frame, FrameAxes axes, JacobianOut<T> dV_dq,
                                JacobianOut<T> dV_dv);

/// Derivatives of frame_acceleration; dA_da is the Jacobian of the frame. Needs kinematics of order
/// acceleration.
template <typename T>
void frame_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                    FrameIn<T> frame, FrameAxes axes, AccelerationKind kind,
                                    JacobianOut<T> dA_dq, JacobianOut<T> dA_dv,
                                    JacobianOut<T> dA_da);

}  // namespace limb
