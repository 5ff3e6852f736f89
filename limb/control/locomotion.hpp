#pragma once

#include <span>

#include "limb/control/gait.hpp"
#include "limb/control/mpc.hpp"
#include "limb/control/whole_body_balance.hpp"

/// Legged robots that go where they are told: gait, footholds, forces over a horizon, torques.
namespace limb {

struct LocomotionOptions {
  double control_period = 2e-3;  ///< s, between two steps
  double mpc_period = 0.02;      ///< s, between two predictions of forces, a multiple of it; there
                                 ///< is one more whenever a foot comes down or leaves the ground
  double clearance = 0.08;       ///< m, of a foot in the air above the line between its places
  double search_speed = 0.8;     ///< m/s at which a foot looks for ground that is not there in time
  double search_share = 0.4;     ///< of the time in the air: how long it does
  double foothold_gain = 0.3;    ///< of velocity errors, share of sqrt(height / gravity)
  double farthest_step = 0.25;   ///< m, of a foothold from below its hip
  double leash = 0.1;            ///< m that the wanted position may be ahead of the real one
  double yaw_leash = 0.3;        ///< rad, likewise
  TaskGains mass_center = {40, 10};
  TaskGains turn = {100, 15};
  TaskGains swing = {600, 45};
  TaskGains posture = {50, 10};
  MpcOptions mpc = {};
  WholeBodyOptions whole_body = {};
};

/// The base as an estimator sees it.
struct BaseState {
  Pose<double> X_WB;
  Motion<double> V_WB_B;
};

/// In the heading of the base.
struct VelocityCommand {
  double forward = 0, left = 0;  ///< m/s
  double yaw_rate = 0;           ///< rad/s
};

struct LocomotionReport {
  WholeBodyReport whole_body;
  QpStatus mpc_status = QpStatus::solved;
  bool mpc_ran = false;
  QpResiduals mpc_residuals;
  int mpc_iterations = 0;
  double kinematics_us = 0, plan_us = 0, mpc_us = 0, whole_body_us = 0, total_us = 0;
};

/// One controller for one robot: call step() once a control period.
class Locomotion {
 public:
  /// @param posture  a configuration in which the robot stands upright on level ground: how far
  ///                 its feet are apart and how high it is. Where it steps they are centred below
  ///                 the mass centre.
  /// @throws Error as WholeBody and SingleBodyMpc, for robots whose first joint is no free one, and
  /// for numbers out of range. The model must outlive this.
  Locomotion(const Model<double>& model, std::vector<Foot> feet, VectorIn<double>& posture,
             const LocomotionOptions& options = {});

  /// From the next step on. Feet that are in the air come down first.
  /// @throws Error for a gait of another number of feet.
  void set_gait(const Gait& gait);
  const Gait& gait() const { return gait_; }

  /// Torques on all of the robot's velocities, zero on the base's.
  /// @param contact  of each foot, whether it touches the ground.
  /// @throws Error for wrong sizes, before anything is computed.
  const VectorX<double>& step(const BaseState& base, VectorIn<double>& joint_q,
                              VectorIn<double>& joint_v, std::span<const bool> contact,
                              const VelocityCommand& command);

  const LocomotionReport& report() const { return report_; }
  const WholeBody& whole_body() const { return body_; }
  const SingleBodyMpc& mpc() const { return mpc_; }
  /// Where the mass centre shall be now.
  const Vector3<double>& wanted() const { return p_wanted_; }
  /// Of the last step: whether a foot shall stand, and where it shall come down if not.
  bool stands(int foot) const { return legs_[static_cast<std::size_t>(foot)].stands; }
  const Vector3<double>& foothold_of(int foot) const {
    return legs_[static_cast<std::size_t>(foot)].to;
  }
  const LocomotionOptions& options() const { return options_; }

 private:
  struct Leg {
    Vector3<double> p_CF;  ///< from the mass centre, base upright, the feet around it
    bool stands = true;
    double lifted = 0;    ///< when it left the ground
    double air_time = 0;  ///< that it shall then be in the air
    Vector3<double> from, to;
  };

  void plan_feet(std::span<const bool> contact);
  void plan_body(const VelocityCommand& command);
  void predict();
  void write_targets();
  Vector3<double> foothold_at(const Leg& leg, double left) const;

  const Model<double>& model_;
  LocomotionOptions options_;
  WholeBody body_;
  SingleBodyMpc mpc_;
  MpcProblem problem_;
  WholeBodyTargets targets_;
  Gait gait_;
  std::vector<Leg> legs_;
  VectorX<double> q_, v_, posture_;
  SubtreeScratch<double> scratch_;
  Matrix6X<double> A_G_;
  double height_;  ///< of the mass centre above the feet
  int mpc_every_;
  long step_ = 0;
  double gait_start_ = 0;

  // Of this step.
  double t_ = 0, yaw_ = 0, ground_ = 0;
  Vector3<double> v_command_;  ///< world axes
  double yaw_rate_ = 0;
  // What is wanted, and what the last prediction said.
  Vector3<double> p_wanted_;
  double yaw_wanted_ = 0;
  bool started_ = false, changed_ = false;  ///< changed: a foot came down or left in this step
  double predicted_at_ = 0;
  Vector3<double> p_predicted_, v_predicted_;
  Matrix3<double> R_wanted_;
  LocomotionReport report_;
};

}  // namespace limb
