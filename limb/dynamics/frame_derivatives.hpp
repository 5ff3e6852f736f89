#pragma once

#include "limb/dynamics/frames.hpp"

/// Derivatives of a frame's motion, 6 x n each, in any axes. dq is a tangent as in
/// rnea_derivatives: column k is the derivative along integrate(q, e e_k). Columns of joints that
/// do not move the frame are zero. No allocation; each throws Error for a wrong size, an unknown
/// frame, or kinematics that lack what it needs. O(n) for the zeros, O(depth) for the rest.
/// Derivation: docs/derivations/frame_derivatives.md.
namespace limb {

/// Of frame_velocity; dV_dv is the frame's Jacobian. From order velocity on.
template <typename T>
void frame_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                FrameIn<T> frame, FrameAxes axes, JacobianOut<T> dV_dq,
                                JacobianOut<T> dV_dv);

/// Of frame_acceleration; dA_da is the frame's Jacobian. Of order acceleration.
template <typename T>
void frame_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                    FrameIn<T> frame, FrameAxes axes, AccelerationKind kind,
                                    JacobianOut<T> dA_dq, JacobianOut<T> dA_dv,
                                    JacobianOut<T> dA_da);

}  // namespace limb
