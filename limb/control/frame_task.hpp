#pragma once

#include <array>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/kinematics.hpp"
#include "limb/dynamics/operational_space.hpp"

namespace limb {

/// Some of the six directions of a frame F, in axes T that stand still in the world.
struct FrameTaskSetup {
  FrameId frame;
  Matrix3<double> R_WT = Matrix3<double>::Identity();
  /// Which directions: x, y, z of F's origin, then turns about x, y, z.
  std::array<bool, 6> rows = {true, true, true, true, true, true};
  /// Directions that are hard to move, as OperationalOptions::threshold; a turn by 1 rad counts
  /// there like a way of `length`, m. Larger than there: controllers should give way early. Where
  /// references may be out of reach, 0.2 keeps the arm calm as it stretches.
  double threshold = 0.02;
  double length = 0.05;
  JointEffects effects = {};

  int row_count() const;
};

/// Where a frame should be and how it should move.
struct FrameReference {
  Pose<double> X_WF;
  Motion<double> V;  ///< velocity of F's origin and angular velocity, in world axes
  Motion<double> A;  ///< their rates

  bool is_finite() const noexcept;
};

/// A frame's task at a state: errors, Jacobian and dynamics. Vectors are of the chosen rows, in the
/// axes T. For the controllers of this room; they say when it is evaluated.
class FrameTask {
 public:
  /// @throws Error "call: ..." for an unknown frame, no row at all, axes that are no rotation, a
  /// threshold that is not between 0 and 1.
  FrameTask(const char* call, const Model<double>& model, const FrameTaskSetup& setup);

  int rows() const { return static_cast<int>(e.size()); }
  const FrameTaskSetup& setup() const { return setup_; }
  /// Errors and Jacobian.
  void look(const Model<double>& model, VectorIn<double>& q, VectorIn<double>& v,
            const FrameReference& reference) noexcept;
  /// Lambda and its kin, after look(). @returns false if the mass matrix is singular.
  bool weigh(const Model<double>& model, Workspace<double>& work, VectorIn<double>& q,
             VectorIn<double>& v) noexcept;
  /// kp e + kd e', where kp e of the way is at most `most`, and of the turn `most` / length.
  void pull(double kp, double kd, double most, VectorX<double>& a) const noexcept;
  /// tau += J^T F
  void add_force(const VectorX<double>& F, VectorOut<double> tau) const noexcept;

  Pose<double> X_WF;       ///< where the frame is
  Vector3<double> turn_W;  ///< rotation vector from the frame to its reference, world axes
  MatrixX<double> J;
  VectorX<double> dJ_v;
  VectorX<double> dx;     ///< velocity
  VectorX<double> e, de;  ///< reference less state, of position and velocity
  VectorX<double> a_ref;
  VectorX<double> room;  ///< for the controllers
  OperationalSpace<double> space;

 private:
  FrameTaskSetup setup_;
  std::array<int, 6> row_{};  ///< direction of each row
  Kinematics<double> kinematics_;
  Matrix6X<double> J_W_;
  MatrixX<double> J_even_;  ///< turns times the length
  VectorX<double> weight_, dJ_v_even_;
};

/// The posture that a task leaves free: accelerations kp e + kd (0 - v) towards a configuration.
struct Posture {
  VectorX<double> q;  ///< empty: none is preferred, motion is damped alone
  double frequency = 1, damping_ratio = 1;
};

/// Accelerations of a posture. For the controllers of this room.
class PostureLaw {
 public:
  /// @throws Error "call: ..." for a configuration of a wrong size, or a frequency that is not
  /// positive.
  PostureLaw(const char* call, const Model<double>& model, const Posture& posture);
  const VectorX<double>& acceleration(const Model<double>& model, VectorIn<double>& q,
                                      VectorIn<double>& v) noexcept;

 private:
  VectorX<double> q_, a_;
  double kp_, kd_;
};

}  // namespace limb
