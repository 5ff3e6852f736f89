#include "limb/legged/legged_controller.hpp"

#include <cmath>

#include "limb/base/check.hpp"
#include "limb/control/whole_body/stopwatch.hpp"
#include "limb/legged/walk_scale.hpp"

namespace limb {

LeggedControllerOptions make_controller_options(const LeggedRobot& robot) {
  LeggedControllerOptions options;
  options.estimator.imu = kWalkingImu;
  options.estimator.adapt = false;  // that noise is measured on walks, not at rest
  const double weight = robot.model.total_mass() * robot.model.gravity().norm();
  options.estimator.contact.make_force = 0.1 * weight;
  options.estimator.contact.break_force = 0.05 * weight;
  options.touch_force = 0.03 * weight;
  options.estimator.initial.p_WB = {0, 0, robot.height()};
  options.estimator.initial.position_deviation = 0.01;
  const double size = size_ratio(robot);
  options.locomotion.clearance *= size;
  options.locomotion.farthest_step *= size;
  options.locomotion.max_position_lead *= size;
  options.locomotion.search_speed *= std::sqrt(size);
  const std::vector<int> held = robot.held_velocities();
  if (!held.empty()) {
    WholeBodyOptions& whole_body = options.locomotion.whole_body;
    whole_body.posture_weights.setConstant(robot.model.nv(), whole_body.posture_weight);
    for (const int i : held) whole_body.posture_weights[i] = whole_body.mass_center_weight;
  }
  return options;
}

LeggedController::LeggedController(const LeggedRobot& robot, const LeggedControllerOptions& options)
    : model_(robot.model),
      estimator_(model_, robot.feet, robot.imu, options.estimator),
      hold_(robot, options.hold),
      touch_force_(options.touch_force),
      gait_(Gait::stand(static_cast<int>(robot.feet.size()))),
      q_(robot.q),
      v_(VectorX<double>::Zero(model_.nv())),
      contact_(std::make_unique<bool[]>(robot.feet.size())) {
  if (!Qp::available()) return;
  locomotion_ = std::make_unique<Locomotion>(model_, robot.points(), robot.q, options.locomotion);
}

void LeggedController::set_gait(const Gait& gait) {
  gait.check("LeggedController::set_gait", estimator_.leg_kinematics().feet());
  gait_ = gait;
  if (mode_ == Mode::walk) locomotion_->set_gait(gait_);
}

void LeggedController::imu(double t, const ImuSample& sample) {
  Stopwatch watch;
  estimator_.imu(t, sample);
  imu_us_ += watch.microseconds();
}

const VectorX<double>& LeggedController::step(double t, const LegReadings& readings,
                                              const VelocityCommand& command) {
  const char* call = "LeggedController::step";
  check_size(call, "joint_q", readings.joint_q.size(), q_.size() - 7, "without the base");
  check_size(call, "joint_v", readings.joint_v.size(), v_.size() - 6, "without the base");
  Stopwatch watch;
  times_ = {};
  q_.tail(readings.joint_q.size()) = readings.joint_q;
  v_.tail(readings.joint_v.size()) = readings.joint_v;
  estimator_.legs(t, q_, v_, readings.foot_force);
  if (mode_ == Mode::hold && estimator_.ready() && locomotion_ != nullptr) {
    mode_ = Mode::walk;
    locomotion_->set_gait(gait_);
  }
  if (mode_ == Mode::hold) {
    if (!has_hold_target_) hold_.set_target(readings.joint_q);
    has_hold_target_ = true;
    times_.estimator = imu_us_ + watch.microseconds();
    const VectorX<double>& tau = hold_.step(readings.joint_q, readings.joint_v);
    times_.total = imu_us_ + watch.microseconds();
    imu_us_ = 0;
    return tau;
  }
  const BaseEstimate e = estimator_.estimate();
  const std::size_t feet = readings.foot_force.size();
  for (std::size_t i = 0; i < feet; ++i) contact_[i] = readings.foot_force[i] > touch_force_;
  times_.estimator = imu_us_ + watch.microseconds();
  imu_us_ = 0;
  const VectorX<double>& tau = locomotion_->step({e.X_WB, e.V_WB_B}, readings.joint_q,
                                                 readings.joint_v, {contact_.get(), feet}, command);
  const LocomotionReport& r = locomotion_->report();
  times_.kinematics = r.kinematics_us;
  times_.plan = r.plan_us;
  times_.mpc = r.mpc_us;
  times_.whole_body = r.whole_body_us;
  times_.total = times_.estimator + r.total_us;
  return tau;
}

}  // namespace limb
