#pragma once

#include <ctime>
#include <memory>
#include <numbers>
#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/control/locomotion/locomotion.hpp"
#include "tests/locomotion/ground_run.hpp"
#include "tests/locomotion/worst_step.hpp"

namespace limb::testing {

struct WalkSetup {
  LocomotionOptions options;
  Gait gait = Gait::trot();
  VelocityCommand command;
  double begin = 0.5, ramp = 0.5;  ///< s: initial standing, and ramp of the command
  double until = 5;                ///< s
  std::vector<WrenchSchedule::Push> pushes;
  CompliantGround::Parameters ground;
  /// 0: nominal; else random initial joint offsets up to 0.03 rad and random ground friction.
  int seed = 0;
};

struct WalkResult {
  WorstStep worst;
  double weight = 0;  ///< N
  bool fell = false;
  double t = 0;                ///< s, end of the simulation
  Vector3<double> start, end;  ///< position of the base after the ramp, and at the end
  double yaw_change = 0, time = 0;
  Vector3<double> mean_velocity = Vector3<double>::Zero();  ///< in the heading of the base
  Least lowest;  ///< height of the base over that of standing
  double largest_tilt = 0;
  std::vector<double> total_us, mpc_us, whole_body_us;
  std::vector<double> cpu_us;  ///< CPU time of the thread per step
  int mpc_runs = 0, mpc_unsolved = 0;
  QpResiduals mpc;
};

/// CPU time of this thread, s.
inline double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Called at each control step, for charts.
using WalkObserver = std::function<void(double t, const Locomotion&, const VectorX<double>& q,
                                        const VectorX<double>& v, const VectorX<double>& tau)>;

inline WalkResult walk(const LeggedRobot& start, const WalkSetup& setup,
                       const WalkObserver& observe = {}) {
  LeggedRobot robot = start;
  CompliantGround::Parameters ground = setup.ground;
  if (setup.seed != 0) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(setup.seed));
    std::uniform_real_distribution<double> unit(-1, 1);
    for (auto& x : robot.q.tail(robot.q.size() - 7)) x += 0.03 * unit(engine);
    ground.friction *= 1 + 0.2 * unit(engine);
    put_on_ground(robot);
  }
  GroundRun run(robot, setup.options.control_period, setup.pushes, ground);
  Locomotion locomotion(robot.model, robot.feet, start.q, setup.options);
  WalkResult result;
  result.weight = 9.81 * robot.model.total_mass();
  const std::size_t feet = robot.feet.size();
  const auto contact = std::make_unique<bool[]>(feet);
  const double height = start.q[2];
  bool walking = false, measuring = false;
  double heading = 0, last_yaw = 0;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    if (!walking && now.t >= setup.begin) {
      walking = true;
      locomotion.set_gait(setup.gait);
    }
    const double ramp = std::clamp((now.t - setup.begin) / setup.ramp, 0.0, 1.0);
    const VelocityCommand command{ramp * setup.command.forward, ramp * setup.command.left,
                                  ramp * setup.command.yaw_rate};
    for (std::size_t i = 0; i < feet; ++i) contact[i] = run.ground().normal_force(i) > 1;
    BaseState base;
    base.X_WB.p = now.q.head<3>();
    base.X_WB.R = to_matrix(quat_xyzw(now.q[3], now.q[4], now.q[5], now.q[6]));
    base.V_WB_B = Motion<double>::from_vector(now.v.head<6>());
    const double cpu = thread_time();
    tau = locomotion.step(base, now.q.tail(now.q.size() - 7), now.v.tail(now.v.size() - 6),
                          {contact.get(), feet}, command);

    result.cpu_us.push_back(1e6 * (thread_time() - cpu));
    const LocomotionReport& r = locomotion.report();
    result.worst.add(r.whole_body);
    result.total_us.push_back(r.total_us);
    result.whole_body_us.push_back(r.whole_body_us);
    if (r.mpc_ran) {
      result.mpc_us.push_back(r.mpc_us);
      ++result.mpc_runs;
      result.mpc_unsolved += r.mpc_status == Status::ok ? 0 : 1;
      result.mpc.stationarity = worse(result.mpc.stationarity, r.mpc_residuals.stationarity);
      result.mpc.primal = worse(result.mpc.primal, r.mpc_residuals.primal);
    }
    result.t = now.t;
    const double yaw = std::atan2(base.X_WB.R(1, 0), base.X_WB.R(0, 0));
    if (now.t >= setup.begin + setup.ramp + 0.5) {
      if (!measuring) result.start = base.X_WB.p;
      if (measuring) heading += std::remainder(yaw - last_yaw, 2 * std::numbers::pi);
      measuring = true;
      const Vector3<double> v_W = base.X_WB.R * base.V_WB_B.v;
      const double c = std::cos(yaw), s = std::sin(yaw), dt = setup.options.control_period;
      result.mean_velocity +=
          dt * Vector3<double>(c * v_W.x() + s * v_W.y(), c * v_W.y() - s * v_W.x(), v_W.z());
      result.time += dt;
      result.end = base.X_WB.p;
      result.yaw_change = heading;
    }
    last_yaw = yaw;
    result.lowest.add(base.X_WB.p.z() / height);
    result.largest_tilt = worse(result.largest_tilt, std::acos(std::min(base.X_WB.R(2, 2), 1.0)));
    result.fell = result.fell || base.X_WB.p.z() < 0.5 * height || base.X_WB.R(2, 2) < 0.7;
    if (observe) observe(now.t, locomotion, now.q, now.v, tau);
  });
  for (double t = 0.05; t < setup.until + 1e-9 && !result.fell; t += 0.05) {
    run.simulation().run_until(t);
  }
  if (result.time > 0) result.mean_velocity /= result.time;
  return result;
}

}  // namespace limb::testing
