#pragma once

#include <optional>

#include "limb/legged/legged_sensors.hpp"
#include "limb/legged/terrain.hpp"
#include "limb/sim/world/simulation.hpp"

/// A legged robot in a simulated world, controlled from its simulated sensors.
namespace limb {

/// Gait and command from a time on.
struct LeggedPhase {
  double begin = 0;  ///< s
  Gait gait;
  VelocityCommand command;
};

/// A constant force at the origin of the base for a given duration.
struct LeggedPush {
  double begin = 0;                                   ///< s
  Vector3<double> impulse = Vector3<double>::Zero();  ///< N s, world axes
  double duration = 0.1;                              ///< s
};

struct LeggedRunOptions {
  Ground ground = Ground::plane();
  /// In order of time; before the first phase the robot stands. Commands are ramped with
  /// `acceleration`.
  std::vector<LeggedPhase> plan;
  double acceleration = 1;  ///< m/s^2 and rad/s^2
  std::vector<LeggedPush> pushes;
  LeggedNoise noise;
  std::uint64_t seed = 1;
  double joint_offset = 0.02;  ///< rad: largest initial offset of a joint from the posture
  double step = 1e-3;          ///< s, of simulation and IMU; the control period is a multiple of it
  /// m; 0: point feet, as assumed by the controller. Spherical feet roll, which odometry ignores.
  double foot_radius = 0;
  /// Empty: make_controller_options.
  std::optional<LeggedControllerOptions> controller;
};

struct StampedImu {
  double t = 0;  ///< s
  ImuSample sample;
};

/// Record of one control step.
struct LeggedStep {
  double t = 0;
  // True state, not available to the controller.
  VectorX<double> q, v;
  std::vector<Vector3<double>> foot_position, foot_force;  ///< world axes
  /// For each foot, N: normal force, tangential force, and the friction limit.
  std::vector<Vector3<double>> foot_cone;
  // Inputs of the controller.
  std::vector<StampedImu> imu;  ///< since the last step
  LegReadings readings;
  VelocityCommand command;
  // Estimate and output of the controller.
  LeggedController::Mode mode = LeggedController::Mode::hold;
  bool estimated = false;  ///< the next four are valid
  Pose<double> X_WB;
  Motion<double> V_WB_B;
  Vector3<double> v_WB;
  Eigen::Matrix<double, 9, 1> deviation;  ///< of p_WB (world), R_WB (axes of B), v_WB (world)
  VectorX<double> tau;
  std::vector<bool> stands;    ///< for each foot, as planned
  WholeBodyReport whole_body;  ///< of a step in mode walk
  bool mpc_solved = true;
  LeggedTimes times;  ///< us
  double cpu_us = 0;  ///< us, CPU time of the thread for this step
};

class LeggedRun {
 public:
  /// @throws Error for invalid options.
  LeggedRun(LeggedRobot robot, LeggedRunOptions options);
  ~LeggedRun();
  LeggedRun(const LeggedRun&) = delete;
  LeggedRun& operator=(const LeggedRun&) = delete;

  /// Simulates up to this time, or until the robot has fallen. @returns whether it has not fallen.
  bool run_until(double t);

  double time() const;
  /// Whether the base is tilted by more than 45 degrees or below half of its height.
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
  std::size_t phase_ = 0;  ///< number of phases that have started
  int ticks_ = 0, control_every_ = 1;
  bool fell_ = false;
  double cpu_us_ = 0;
  std::vector<LeggedStep> steps_;
};

}  // namespace limb
