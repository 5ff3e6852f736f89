#pragma once

#include "limb/dynamics/kinematics/forward_kinematics.hpp"

/// Poses, velocities and accelerations of frames fixed to bodies. No allocation; each function
/// throws Error if the frame is not in the model or for kinematics of too low an order.
namespace limb {

/// Reference point and axes in which a spatial vector of a frame F is expressed, as Pinocchio's
/// ReferenceFrame.
enum class FrameAxes {
  local,                ///< origin and axes of F: V_WF_F
  local_world_aligned,  ///< origin of F, axes of the world: v is the velocity of F's origin
  world,                ///< origin and axes of the world: V_WF_W
};

/// Which acceleration. With the velocity (v, w) at the same point and in the same axes, the linear
/// parts differ by w x v; the angular parts are equal.
enum class AccelerationKind {
  spatial,    ///< Pluecker vector; the time derivative of V_WF_F, of V_WF_W
  classical,  ///< of the material point of F at the reference point; the time derivative of the
              ///< velocity in FrameAxes::local_world_aligned
};

/// Any frame fixed to a body: a frame of the model, the body frame, or one at the pose X_BF on a
/// body. Ids convert implicitly.
template <typename T>
class AnyFrame {
 public:
  AnyFrame(FrameId frame) : frame_(frame) {}  // NOLINT
  AnyFrame(BodyId body) : body_(body) {}      // NOLINT
  AnyFrame(BodyId body, const Pose<T>& X_BF) : body_(body), X_BF_(X_BF) {}
  AnyFrame(const Frame<T>& frame) : body_(frame.body), X_BF_(frame.X_BF) {}  // NOLINT

  struct Placement {
    std::size_t body;
    Pose<T> X_BF;
  };
  /// @throws Error "call: ..." if the model has no such frame or body.
  Placement resolve(const char* call, const Model<T>& model) const;

 private:
  FrameId frame_;
  BodyId body_;
  Pose<T> X_BF_;
};
template <typename T>
using FrameIn = std::type_identity_t<const AnyFrame<T>&>;

/// X_WF. Needs kinematics of order position.
template <typename T>
Pose<T> frame_pose(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame);

/// Spatial velocity of F. Needs kinematics of order velocity.
template <typename T>
Motion<T> frame_velocity(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                         FrameAxes axes);

/// Acceleration of F, gravity not included. Needs kinematics of order acceleration.
template <typename T>
Motion<T> frame_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                             FrameIn<T> frame, FrameAxes axes, AccelerationKind kind);

/// Acceleration of F at a = 0: the part due to velocities. Needs kinematics of order velocity.
template <typename T>
Motion<T> frame_bias_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                                  FrameIn<T> frame, FrameAxes axes, AccelerationKind kind);

}  // namespace limb
