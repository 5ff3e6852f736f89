#pragma once

#include <span>

#include "limb/control/locomotion/gait.hpp"
#include "limb/control/locomotion/single_body_mpc.hpp"
#include "limb/control/whole_body/balance.hpp"

/// Locomotion of legged robots at a commanded velocity: gait, footholds, MPC of the forces,
/// torques.
namespace limb {

struct LocomotionOptions {
  double control_period = 2e-3;  ///< s, between two steps
  double mpc_period = 0.02;      ///< s, between two runs of the MPC, a multiple of control_period;
                                 ///< it also runs whenever a foot touches down or lifts off
  double clearance = 0.08;       ///< m, of a swing foot above the line between its footholds
  double search_speed = 0.8;     ///< m/s at which a late foot moves down to find the ground
  double search_share = 0.4;     ///< duration of that search, as a fraction of the swing time
  double foothold_gain = 0.3;    ///< of velocity errors, as a fraction of sqrt(height / gravity)
  /// m, maximum distance of a foothold from the point below its hip.
  double farthest_step = 0.25;
  /// m, maximum distance of the desired position from the actual one.
  double max_position_lead = 0.1;
  double max_yaw_lead = 0.3;  ///< rad, the same for the desired yaw
  TaskGains mass_center = {40, 10};
  TaskGains turn = {100, 15};
  TaskGains swing = {600, 45};
  TaskGains posture = {50, 10};
  MpcOptions mpc = {};
  WholeBodyOptions whole_body = {};
};

/// State of the base, measured or estimated.
struct BaseState {
  Pose<double> X_WB;
  Motion<double> V_WB_B;
};

/// Velocity command, in the heading frame of the base.
struct VelocityCommand {
  double forward = 0, left = 0;  ///< m/s
  double yaw_rate = 0;           ///< rad/s
};

struct LocomotionReport {
  WholeBodyReport whole_body;
  Status mpc_status = Status::ok;
  bool mpc_ran = false;
  QpResiduals mpc_residuals;
  int mpc_iterations = 0;
  double kinematics_us = 0, plan_us = 0, mpc_us = 0, whole_body_us = 0, total_us = 0;
};

/// Locomotion controller of one robot: call step() once per control period.
class Locomotion {
 public:
  /// @param posture  a configuration in which the robot stands upright on level ground; it defines
  ///                 the nominal height and the nominal stance, which is centred below the mass
  ///                 centre.
  /// @throws Error as WholeBody and SingleBodyMpc, if the first joint of the robot is not free, and
  /// for options out of range. The model must outlive this object.
  Locomotion(const Model<double>& model, std::vector<Foot> feet, VectorIn<double>& posture,
             const LocomotionOptions& options = {});

  /// Applies from the next step on. Feet in swing complete their swing first.
  /// @throws Error for a gait with another number of feet.
  void set_gait(const Gait& gait);
  const Gait& gait() const { return gait_; }

  /// Torques for all velocities of the robot, zero for the base.
  /// @param contact  for each foot, whether it touches the ground.
  /// @throws Error for wrong sizes, before anything is computed.
  const VectorX<double>& step(const BaseState& base, VectorIn<double>& joint_q,
                              VectorIn<double>& joint_v, std::span<const bool> contact,
                              const VelocityCommand& command);

  const LocomotionReport& report() const { return report_; }
  const WholeBody& whole_body() const { return body_; }
  const SingleBodyMpc& mpc() const { return mpc_; }
  /// Desired position of the mass centre.
  const Vector3<double>& desired_mass_center() const { return p_desired_; }
  /// In the last step: whether a foot is planned in stance, and otherwise its next foothold.
  bool stands(int foot) const { return legs_[static_cast<std::size_t>(foot)].stands; }
  const Vector3<double>& foothold_of(int foot) const {
    return legs_[static_cast<std::size_t>(foot)].to;
  }
  const LocomotionOptions& options() const { return options_; }

 private:
  struct Leg {
    Vector3<double> p_CF;  ///< nominal, from the mass centre, base upright
    bool stands = true;
    double lifted = 0;    ///< s, time of lift-off
    double air_time = 0;  ///< s, planned duration of the swing
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

  // Quantities of the present step.
  double t_ = 0, yaw_ = 0, ground_ = 0;
  Vector3<double> v_command_;  ///< world axes
  double yaw_rate_ = 0;
  // Desired motion, and the last MPC prediction.
  Vector3<double> p_desired_;
  double yaw_desired_ = 0;
  bool started_ = false,
       changed_ = false;  ///< changed: a foot touched down or lifted off in this step
  double predicted_at_ = 0;
  Vector3<double> p_predicted_, v_predicted_;
  Matrix3<double> R_desired_;
  LocomotionReport report_;
};

}  // namespace limb
