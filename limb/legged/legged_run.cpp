#include "limb/legged/legged_run.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/sim/forces/wrench_laws.hpp"

namespace limb {
namespace {

constexpr const char* kCall = "LeggedRun";

/// CPU time of this thread, us.
double thread_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double approach(double from, double to, double most) {
  return from + std::clamp(to - from, -most, most);
}

void check_options(const LeggedRobot& robot, const LeggedRunOptions& o) {
  check_position(kCall, "posture", robot.model, robot.q);
  check_positive(kCall, "acceleration", o.acceleration);
  check_not_negative(kCall, "joint_offset", o.joint_offset);
  check_not_negative(kCall, "foot_radius", o.foot_radius);
  check_positive(kCall, "step", o.step);
  for (std::size_t i = 0; i < o.plan.size(); ++i) {
    check_finite(kCall, "start of a phase", o.plan[i].begin);
    o.plan[i].gait.check(kCall, static_cast<int>(robot.feet.size()));
    if (i > 0 && !(o.plan[i].begin >= o.plan[i - 1].begin)) {
      fail(kCall, "plan", "phases out of order", "each to start after the one before");
    }
  }
  for (const LeggedPush& push : o.pushes)
    check_positive(kCall, "duration of a push", push.duration);
}

std::unique_ptr<World> make_world(const LeggedRobot& robot, const LeggedRunOptions& options) {
  WorldOptions world_options;
  world_options.dynamics = WorldOptions::Dynamics::compiled;
  auto world = std::make_unique<World>(robot.model, world_options);
  const Model<double>& model = world->model();
  ContactSetup contact{options.ground, {}, {}};
  for (const std::string& foot : robot.feet) {
    contact.shapes.push_back(make_foot(model, model.find_frame(foot), options.foot_radius));
  }
  world->set_contact(std::move(contact));
  std::vector<WrenchSchedule::Push> pushes;
  const FrameId base = model.find_frame(model.bodies()[1].link);
  for (const LeggedPush& p : options.pushes) {
    pushes.push_back({base, p.begin, p.begin + p.duration,
                      Force<double>{p.impulse / p.duration, Vector3<double>::Zero()},
                      WrenchAxes::world});
  }
  if (!pushes.empty()) world->add<WrenchSchedule>(model, std::move(pushes));
  return world;
}

}  // namespace

LeggedRun::~LeggedRun() = default;

LeggedRun::LeggedRun(LeggedRobot robot, LeggedRunOptions options)
    : robot_(std::move(robot)), options_(std::move(options)), kinematics_(robot_.model) {
  check_options(robot_, options_);
  if (!options_.controller) options_.controller = make_controller_options(robot_);
  const double period = options_.controller->locomotion.control_period;
  const double every = period / options_.step;
  if (every < 0.999 || std::abs(every - std::round(every)) > 1e-6) {
    fail(kCall, "step", to_text(options_.step),
         "a divisor of the control period, " + to_text(period));
  }
  control_every_ = static_cast<int>(std::round(every));
  world_ = make_world(robot_, options_);
  sensors_ = std::make_unique<LeggedSensors>(robot_, options_.noise, options_.step, options_.seed);
  controller_ = std::make_unique<LeggedController>(robot_, *options_.controller);
  for (const Foot& foot : robot_.points()) feet_.push_back(foot.frame);
  imu_.reserve(static_cast<std::size_t>(control_every_));

  LeggedRobot start = robot_;
  NoiseGenerator noise(derived_seed(options_.seed, 1000));
  for (auto& x : start.q.tail(start.q.size() - 7)) {
    x += options_.joint_offset * (2 * noise.uniform() - 1);
  }
  put_on_ground(start);
  start.q[2] += options_.foot_radius;
  const int nv = robot_.model.nv();
  a_ = tau_ = v_before_ = VectorX<double>::Zero(nv);
  simulation_ = std::make_unique<Simulation>(*world_, SimulationOptions{.step = options_.step});
  simulation_->set_state(0, start.q, VectorX<double>::Zero(nv));
  simulation_->set_controller([this](const ControlInput&, VectorX<double>& tau) {
    tick(ticks_ * options_.step);  // independent of how a run is split into calls
    tau = tau_;
  });
}

double LeggedRun::time() const {
  return simulation_->state().t;
}

bool LeggedRun::run_until(double t) {
  check_finite("LeggedRun::run_until", "t", t);
  // In short intervals, to stop soon after a fall.
  while (!fell_ && time() < t - options_.step / 2) {
    simulation_->run_until(std::min(t, time() + 0.05));
  }
  return !fell_;
}

void LeggedRun::tick(double t) {
  const RobotState<double>& s = simulation_->state();
  if (ticks_ > 0) a_ = (s.v - v_before_) / options_.step;
  v_before_ = s.v;
  forward_kinematics(world_->model(), s.q, s.v, a_, kinematics_);
  const SensorInput input{world_->model(),        s,           a_,
                          world_->motor_torque(), kinematics_, world_->contacts()};
  imu_.push_back({t, sensors_->read_imu(input)});
  const double start = thread_cpu_us();
  controller_->imu(t, imu_.back().sample);
  cpu_us_ += thread_cpu_us() - start;
  if (ticks_++ % control_every_ == 0) control(t, input);
}

VelocityCommand LeggedRun::command_at(double t) {
  const auto& plan = options_.plan;
  for (; phase_ < plan.size() && t >= plan[phase_].begin - 1e-9; ++phase_) {
    // The same gait continues without a restart.
    if (phase_ > 0 && plan[phase_].gait == plan[phase_ - 1].gait) continue;
    controller_->set_gait(plan[phase_].gait);
  }
  const VelocityCommand goal = phase_ > 0 ? plan[phase_ - 1].command : VelocityCommand{};
  const double most = options_.acceleration * control_every_ * options_.step;
  return {approach(command_.forward, goal.forward, most), approach(command_.left, goal.left, most),
          approach(command_.yaw_rate, goal.yaw_rate, most)};
}

void LeggedRun::control(double t, const SensorInput& input) {
  command_ = command_at(t);
  const LegReadings& readings = sensors_->read_legs(input);
  const double start = thread_cpu_us();
  tau_ = controller_->step(t, readings, command_);
  cpu_us_ += thread_cpu_us() - start;
  record(t, input, readings);
  imu_.clear();
  cpu_us_ = 0;
}

void LeggedRun::record(double t, const SensorInput& input, const LegReadings& readings) {
  LeggedStep step;
  step.t = t;
  step.q = input.state.q;
  step.v = input.state.v;
  for (const FrameId foot : feet_) {
    step.foot_position.push_back(frame_pose(input.model, kinematics_, foot).p);
    step.foot_force.push_back(input.contacts->force_on(input.model, kinematics_, foot).f);
  }
  // The shapes are the feet, in the same order.
  step.foot_cone.assign(feet_.size(), Vector3<double>::Zero());
  for (const ContactPoint& point : input.contacts->points()) {
    const double normal = point.n_W.dot(point.force_W);
    const double tangential = (point.force_W - normal * point.n_W).norm();
    step.foot_cone[static_cast<std::size_t>(point.shape)] +=
        Vector3<double>(normal, tangential, point.friction * normal);
  }
  step.imu = imu_;
  step.readings = readings;
  step.command = command_;
  step.mode = controller_->mode();
  step.estimated = controller_->estimator().ready();
  if (step.estimated) {
    const BaseEstimate e = controller_->estimator().estimate();
    step.X_WB = e.X_WB;
    step.V_WB_B = e.V_WB_B;
    step.v_WB = e.v_WB;
    step.deviation = e.covariance.diagonal().cwiseMax(0).cwiseSqrt();
  }
  step.tau = tau_;
  step.stands.assign(feet_.size(), true);
  if (step.mode == LeggedController::Mode::walk) {
    const Locomotion& locomotion = *controller_->locomotion();
    for (std::size_t i = 0; i < feet_.size(); ++i) {
      step.stands[i] = locomotion.stands(static_cast<int>(i));
    }
    step.whole_body = locomotion.report().whole_body;
    step.mpc_solved = locomotion.report().mpc_status == Status::ok;
  }
  step.times = controller_->times();
  step.cpu_us = cpu_us_;
  const Matrix3<double>& R_WB = kinematics_.X_WB[1].R;
  const Vector3<double>& p = kinematics_.X_WB[1].p;
  const double clear = p.z() - ground_height(options_.ground, p.x(), p.y());
  fell_ = fell_ || clear < 0.5 * robot_.height() || R_WB(2, 2) < std::sqrt(0.5);
  steps_.push_back(std::move(step));
}

}  // namespace limb
