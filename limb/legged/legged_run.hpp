#pragma once

#include <optional>

#include "limb/legged/legged_sensors.hpp"
#include "limb/legged/terrain.hpp"
#include "limb/sim/simulation.hpp"

/// A legged robot in a simulated world, closed on what its own sensors say.
namespace limb {

/// From a time on, this gait and this command.
struct LeggedPhase {
  double begin = 0;  ///< s
  Gait gait;
  VelocityCommand command;
};

/// A force at the origin of the base for a while.
struct LeggedPush {
  double begin = 0;                                   ///< s
  Vector3<double> impulse = Vector3<double>::Zero();  ///< N s, world axes
  double duration = 0.1;                              ///< s
};

struct LeggedRunOptions {
  Ground ground = Ground::plane();
  /// In order of time; before the first, it stands. Commands are approached at `acceleration`.
  std::vector<LeggedPhase> plan;
  double acceleration = 1;  ///< m/s^2 and rad/s^2
  std::vector<LeggedPush> pushes;
  LeggedNoise noise;
  std::uint64_t seed = 1;
  double joint_offset = 0.02;  ///< rad: joints begin up to so much off the posture
  double step = 1e-3;          ///< s, of simulation and IMU; the control period is a multiple of it
  /// m; 0: feet are points, as the controller takes them. Balls roll, and odometry does not know.
  double foot_radius = 0;
  /// Empty: make_controller_options.
  std::optional<LeggedControllerOptions> controller;
};

struct StampedImu {
  double t = 0;  ///< s
  ImuSample sample;
};

/// What was at one control step, and what was done.
struct LeggedStep {
  double t = 0;
  // The truth, which the controller does not see.
  VectorX<double> q, v;
  std::vector<Vector3<double>> foot_position, foot_force;  ///< world axes
  /// Of each foot, N: along the normal, along the ground, and what friction allows there.
  std::vector<Vector3<double>> foot_cone;
  // What it sees.
  std::vector<StampedImu> imu;  ///< since the last step
  LegReadings readings;
  VelocityCommand command;
  // What it thinks and does.
  LeggedController::Mode mode = LeggedController::Mode::hold;
  bool estimated = false;  ///< the next four are valid
  Pose<double> X_WB;
  Motion<double> V_WB_B;
  Vector3<double> v_WB;
  Eigen::Matrix<double, 9, 1> deviation;  ///< of p_WB (world), R_WB (its own axes), v_WB (world)
  VectorX<double> tau;
  std::vector<bool> stands;    ///< of each foot, as planned
  WholeBodyReport whole_body;  ///< of a step in mode walk
  bool mpc_solved = true;
  LeggedTimes times;  ///< us
  double own_us = 0;  ///< us that the thread computed for this step, whatever else ran
};

class LeggedRun {
 public:
  /// @throws Error for options that make no sense.
  LeggedRun(LeggedRobot robot, LeggedRunOptions options);
  ~LeggedRun();
  LeggedRun(const LeggedRun&) = delete;
  LeggedRun& operator=(const LeggedRun&) = delete;

  /// Goes on to this time, or until the robot has fallen. @returns whether it stands.
  bool run_until(double t);

  double time() const;
  /// The base is tilted by more than 45 degrees or at less than half of its height.
  bool fell() const { return fell_; }
  const std::vector<LeggedStep>& steps() const { return steps_; }
  const LeggedRobot& robot() const { return robot_; }
  const LeggedRunOptions& options() const { return options_; }
  const LeggedController& controller() const { return *controller_; }
  const World& world() const { return *world_; }
  const LeggedSensors& sensors() const { return *sensors_; }

 private:
  void tick(double t);
  void control(double t, const SensorInput& input);
  VelocityCommand command_at(double t);
  void record(double t, const SensorInput& input, const LegReadings& readings);

  LeggedRobot robot_;
  LeggedRunOptions options_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<LeggedSensors> sensors_;
  std::unique_ptr<LeggedController> controller_;
  Kinematics<double> kinematics_;
  VectorX<double> v_before_, a_, tau_;
  std::vector<FrameId> feet_;
  std::vector<StampedImu> imu_;
  VelocityCommand command_;
  std::size_t phase_ = 0;  ///< phases that have begun
  int ticks_ = 0, control_every_ = 1;
  bool fell_ = false;
  double own_us_ = 0;
  std::vector<LeggedStep> steps_;
};

/// A run in numbers, from a time on.
struct LeggedSummary {
  double begin = 0, end = 0;  ///< s
  bool fell = false;
  Vector3<double> mean_velocity = Vector3<double>::Zero();  ///< true, m/s, in the base's heading
  double distance = 0;                                      ///< m, true, over ground
  double largest_tilt = 0;                                  ///< rad, true
  double position_error = 0, yaw_error = 0;   ///< m, rad: of what was estimated to move since begin
  double velocity_error = 0, tilt_error = 0;  ///< root mean square, m/s, rad
  double beyond_three_sigma = 0;  ///< share of steps and components of the estimate that were
  long steps = 0, fell_back = 0, unsolved = 0;
};
LeggedSummary summarize(const LeggedRun& run, double begin);

}  // namespace limb
