#pragma once

#include <memory>
#include <span>

#include "limb/control/locomotion/locomotion.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/legged/standing_hold.hpp"

/// Controller of a legged robot from its sensors only: estimator and locomotion in one loop.
/// Independent of the simulation.
namespace limb {

/// Joint and foot sensor readings at a control step.
struct LegReadings {
  VectorX<double> joint_q, joint_v;  ///< without the base
  std::vector<double> foot_force;    ///< N, magnitude at each foot
};

/// Noise of an IMU on a trunk that walks, ten times that of the unit at rest: impacts of the feet
/// shake it. The simulated sensors and the filter have it.
inline constexpr ImuNoise kWalkingImu{2e-3, 2e-2, 2e-5, 2e-4};

struct LeggedControllerOptions {
  /// Its contact thresholds are forces of a firm contact, not of the first touch.
  EstimatorOptions estimator;
  LocomotionOptions locomotion;
  HoldGains hold;
  double touch_force = 5;  ///< N above which a swing foot has touched down
};
/// Options for this robot: noise of kWalkingImu, contact thresholds from its weight, initial state
/// and step sizes from its height; joints that are in no leg are held as firmly as the mass centre
/// is moved.
LeggedControllerOptions make_controller_options(const LeggedRobot& robot);

/// Durations of the parts of a control step, us.
struct LeggedTimes {
  double estimator = 0;  ///< all IMU samples since the last step, and the legs
  double kinematics = 0, plan = 0, mpc = 0, whole_body = 0;
  double total = 0;
};

class LeggedController {
 public:
  enum class Mode {
    hold,  ///< joints are held until the estimator is initialized; always without a QP solver
    walk,  ///< locomotion on the estimate; standing is one of its gaits
  };

  /// @throws Error as BaseEstimator and Locomotion. If limb was built without a QP solver, the
  /// robot only stands.
  LeggedController(const LeggedRobot& robot, const LeggedControllerOptions& options);

  /// A sample of the IMU, at its own rate; call it for all samples up to a step before that step.
  void imu(double t, const ImuSample& sample);
  /// Torques for all velocities of the robot, zero for the base. Call it once per control period.
  /// Only the solver may allocate. @throws Error for wrong sizes.
  const VectorX<double>& step(double t, const LegReadings& readings,
                              const VelocityCommand& command);
  /// Applies from the next step on, or once the joints are no longer held.
  /// @throws Error for a gait with another number of feet.
  void set_gait(const Gait& gait);

  Mode mode() const { return mode_; }
  const BaseEstimator& estimator() const { return estimator_; }
  /// Null if there is no QP solver.
  const Locomotion* locomotion() const { return locomotion_.get(); }
  const LeggedTimes& times() const { return times_; }

 private:
  Model<double> model_;
  BaseEstimator estimator_;
  StandingHold hold_;
  double touch_force_;
  std::unique_ptr<Locomotion> locomotion_;
  Mode mode_ = Mode::hold;
  bool has_hold_target_ = false;
  Gait gait_;
  VectorX<double> q_, v_;
  std::unique_ptr<bool[]> contact_;
  LeggedTimes times_;
  double imu_us_ = 0;
};

}  // namespace limb
