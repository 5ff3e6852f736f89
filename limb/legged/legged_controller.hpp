#pragma once

#include <memory>
#include <span>

#include "limb/control/locomotion.hpp"
#include "limb/estimate/base_estimator.hpp"
#include "limb/legged/standing_hold.hpp"

/// A legged robot that knows what its sensors say and nothing else: estimator and locomotion in one
/// loop. Nothing of a simulation is in here.
namespace limb {

/// What joints and feet say at a control step.
struct LegReadings {
  VectorX<double> joint_q, joint_v;  ///< without the base
  std::vector<double> foot_force;    ///< N, of each foot: how hard it presses
};

struct LeggedControllerOptions {
  /// Here the force is one that a foot can be trusted to stand with, not the first touch.
  EstimatorOptions estimator;
  LocomotionOptions locomotion;
  HoldGains hold;
  double touch_force = 5;  ///< N from which a foot in the air has come down
};
/// Options for this robot: thresholds of contact by its weight, the initial state by its height.
LeggedControllerOptions make_controller_options(const LeggedRobot& robot);

/// How long the parts of a control step took, us.
struct LeggedTimes {
  double estimator = 0;  ///< all samples of the IMU since the last step, and the legs
  double kinematics = 0, plan = 0, mpc = 0, whole_body = 0;
  double total = 0;
};

class LeggedController {
 public:
  enum class Mode {
    hold,  ///< joints are held until the estimator has seen rest; without a solver, for good
    walk,  ///< locomotion on the estimate; standing is one of its gaits
  };

  /// @throws Error as BaseEstimator and Locomotion do. Where limb was built without a solver of
  /// quadratic programs the robot stands, and nothing else.
  LeggedController(const LeggedRobot& robot, const LeggedControllerOptions& options);

  /// A sample of the IMU, at its own rate; those of a step come before the step.
  void imu(double t, const ImuSample& sample);
  /// Torques on all of the robot's velocities, zero on the base's. Call it once a control period.
  /// No allocation but the solver's. @throws Error for wrong sizes.
  const VectorX<double>& step(double t, const LegReadings& readings,
                              const VelocityCommand& command);
  /// From the next step on; while joints are held, it waits.
  /// @throws Error for a gait of another number of feet.
  void set_gait(const Gait& gait);

  Mode mode() const { return mode_; }
  const BaseEstimator& estimator() const { return estimator_; }
  /// Or null: there is no solver.
  const Locomotion* locomotion() const { return locomotion_.get(); }
  const LeggedTimes& times() const { return times_; }

 private:
  Model<double> model_;
  BaseEstimator estimator_;
  StandingHold hold_;
  double touch_force_;
  std::unique_ptr<Locomotion> locomotion_;
  Mode mode_ = Mode::hold;
  bool holds_ = false;  ///< knows where
  Gait gait_;
  VectorX<double> q_, v_;
  std::unique_ptr<bool[]> contact_;
  LeggedTimes times_;
  double imu_us_ = 0;
};

}  // namespace limb
