#pragma once

#include <array>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"

namespace limb {

/// Selected directions of the motion of a frame F, in task axes T fixed in the world.
struct FrameTaskSetup {
  FrameId frame;
  Matrix3<double> R_WT = Matrix3<double>::Identity();
  /// Which directions: translation of F's origin along x, y, z, then rotation about x, y, z.
  std::array<bool, 6> rows = {true, true, true, true, true, true};
  /// Threshold of near-singular directions, as OperationalOptions::threshold; a rotation by 1 rad
  /// counts as a translation by `length`, m. Larger than the default there, so that controllers
  /// damp such directions early. If references may be out of reach, 0.2 avoids jerky motion of a
  /// stretched arm.
  double threshold = 0.02;
  double length = 0.05;
  JointEffects effects = {};

  int row_count() const;
};

/// Reference of a frame: pose, velocity and acceleration.
struct FrameReference {
  Pose<double> X_WF;
  Motion<double> V;  ///< velocity of F's origin and angular velocity, in world axes
  Motion<double> A;  ///< their rates

  bool is_finite() const noexcept;
};

/// A frame task at a state: errors, Jacobian and task-space dynamics. Vectors have one entry per
/// selected row, in the axes T. For the controllers of this module, which call the updates.
class FrameTask {
 public:
  /// @throws Error "call: ..." for an unknown frame, no selected row, an R_WT that is not a
  /// rotation, or a threshold outside [0, 1).
  FrameTask(const char* call, const Model<double>& model, const FrameTaskSetup& setup);

  int rows() const { return static_cast<int>(e.size()); }
  const FrameTaskSetup& setup() const { return setup_; }
  /// Computes errors and Jacobian.
  void update_kinematics(const Model<double>& model, VectorIn<double>& q, VectorIn<double>& v,
                         const FrameReference& reference) noexcept;
  /// Computes Lambda and related terms, after update_kinematics(). @returns singular if the
  /// mass matrix is.
  Status update_dynamics(const Model<double>& model, Workspace<double>& work, VectorIn<double>& q,
                         VectorIn<double>& v) noexcept;
  /// a += kp e + kd e', with |kp e| limited to `most` for translation and `most` / length for
  /// rotation.
  void add_feedback(double kp, double kd, double most, VectorX<double>& a) const noexcept;
  /// tau += J^T F
  void add_force(const VectorX<double>& F, VectorOut<double> tau) const noexcept;

  Pose<double> X_WF;                 ///< pose of the frame
  Vector3<double> rotation_error_W;  ///< rotation vector to the reference, world axes
  MatrixX<double> J;
  VectorX<double> dJ_v;
  VectorX<double> dx;     ///< velocity
  VectorX<double> e, de;  ///< pose error and velocity error, reference minus state
  VectorX<double> a_ref;
  VectorX<double> scratch;  ///< for the controllers
  OperationalSpace<double> space;

 private:
  FrameTaskSetup setup_;
  std::array<int, 6> row_{};  ///< direction of each row
  Kinematics<double> kinematics_;
  Matrix6X<double> J_W_;
  MatrixX<double> J_scaled_;  ///< rotational rows times the length
  VectorX<double> scale_, dJ_v_scaled_;
};

/// Null-space posture: accelerations kp e + kd (0 - v) towards a configuration.
struct PostureOptions {
  VectorX<double> q;  ///< empty: no preferred configuration, only damping
  double frequency = 1, damping_ratio = 1;
};

/// Accelerations of a posture. For the controllers of this module.
class PostureLaw {
 public:
  /// @throws Error "call: ..." for a configuration of a wrong size, or a frequency that is not
  /// positive.
  PostureLaw(const char* call, const Model<double>& model, const PostureOptions& posture);
  const VectorX<double>& acceleration(const Model<double>& model, VectorIn<double>& q,
                                      VectorIn<double>& v) noexcept;

 private:
  VectorX<double> q_, a_;
  double kp_, kd_;
};

}  // namespace limb
