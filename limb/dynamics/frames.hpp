#pragma once

#include "limb/dynamics/kinematics.hpp"

/// Poses, velocities and accelerations of frames that move with the bodies. Nothing allocates; each
/// throws Error if the frame is not one of the model or if the kinematics lack what it needs.
namespace limb {

/// Where and in which axes a spatial vector of a frame F is written.
enum class FrameAxes {
  local,                ///< origin and axes of F: V_WF_F
  local_world_aligned,  ///< origin of F, axes of the world: v is the velocity of F's origin
  world,                ///< origin and axes of the world: V_WF_W
};

/// Which acceleration. With the velocity (v, w) at the same place and in the same axes, the linear
/// parts differ by w x v; the angular part is one and the same.
enum class AccelerationKind {
  spatial,    ///< of Pluecker vectors; the time derivative of V_WF_F, of V_WF_W
  classical,  ///< of the point of F that is at the place; the time derivative of the velocity in
              ///< FrameAxes::local_world_aligned
};

/// Any frame that moves with a body: a frame of the model, a body's own frame, or one at the pose
/// X_BF on a body. The functions of this room take ids and make this of them.
template <typename T>
class AnyFrame {
 public:
  AnyFrame(FrameId frame) : frame_(frame) {}  // NOLINT
  AnyFrame(BodyId body) : body_(body) {}      // NOLINT
  AnyFrame(BodyId body, const Pose<T>& X_BF) : body_(body), X_BF_(X_BF) {}
  AnyFrame(const Frame<T>& frame) : body_(frame.body), X_BF_(frame.X_BF) {}  // NOLINT

  struct Place {
    std::size_t body;
    Pose<T> X_BF;
  };
  /// @throws Error "call: ..." if the model has no such frame or body.
  Place on(const char* call, const Model<T>& model) const;

 private:
  FrameId frame_;
  BodyId body_;
  Pose<T> X_BF_;
};
template <typename T>
using FrameIn = std::type_identity_t<const AnyFrame<T>&>;

/// X_WF. From order position on.
template <typename T>
Pose<T> frame_pose(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame);

/// Spatial velocity of F. From order velocity on.
template <typename T>
Motion<T> frame_velocity(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                         FrameAxes axes);

/// Acceleration of F, gravity not included. Of order acceleration.
template <typename T>
Motion<T> frame_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                             FrameIn<T> frame, FrameAxes axes, AccelerationKind kind);

/// The acceleration that velocities alone cause, at a = 0. From order velocity on.
template <typename T>
Motion<T> frame_bias_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                                  FrameIn<T> frame, FrameAxes axes, AccelerationKind kind);

}  // namespace limb
