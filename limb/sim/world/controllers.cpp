#include "limb/sim/world/controllers.hpp"

#include <cmath>
#include <numbers>

#include "limb/control/control.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {
namespace {

using Kind = ControllerSetup::Kind;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

Controller open_loop(const Model<double>& model, const ControllerSetup& setup) {
  check_velocity("make_controller", "torque", model, setup.torque);
  check_velocity("make_controller", "amplitude", model, setup.amplitude);
  check_velocity("make_controller", "frequency", model, setup.frequency);
  return [setup](const ControlInput& now, Vector& tau) {
    for (Eigen::Index i = 0; i < tau.size(); ++i) {
      tau[i] = setup.torque[i] +
               setup.amplitude[i] * std::sin(2 * std::numbers::pi * setup.frequency[i] * now.t);
    }
  };
}

/// The reference of a setup at any time.
class ReferenceMotion {
 public:
  ReferenceMotion(const Model<double>& model, const ControllerSetup& setup)
      : now_(model, setup.target) {
    if (setup.move_time > 0 && setup.start.size() > 0) {
      path_ = std::make_unique<JointPath>(model, std::vector{setup.start, setup.target},
                                          std::vector{setup.move_time});
    }
  }
  const JointReference& at(double t) {
    if (path_ != nullptr) path_->sample(t, now_);
    return now_;
  }

 private:
  JointReference now_;
  std::unique_ptr<JointPath> path_;
};

/// A joint controller with its reference and statistics. Does not allocate when called.
template <typename Law>
Controller adapt(const Model<double>& model, const ControllerSetup& setup, Law law,
                 std::shared_ptr<ControllerStatistics> statistics) {
  struct LawAndReference {
    Law law;
    ReferenceMotion reference;
  };
  const auto controller = std::make_shared<LawAndReference>(
      LawAndReference{std::move(law), ReferenceMotion(model, setup)});
  if (statistics != nullptr) statistics->reference = setup.target;
  return [controller, statistics](const ControlInput& now, Vector& tau) {
    const JointReference& reference = controller->reference.at(now.t);
    record_step(now.t, controller->law.step(now.q, now.v, reference, tau), statistics.get());
    if (statistics != nullptr) statistics->reference = reference.q;
  };
}

/// Lqr about a moving reference.
struct LqrLaw {
  Lqr lqr;
  StepReport step(const Vector& q, const Vector& v, const JointReference& r, Vector& tau) noexcept {
    return lqr.step(q, v, r.q, r.v, tau);
  }
};

LqrLaw lqr_law(const Model<double>& model, const ControllerSetup& setup) {
  constexpr const char* kCall = "make_controller";
  check_velocity(kCall, "position_cost", model, setup.position_cost);
  check_velocity(kCall, "velocity_cost", model, setup.velocity_cost);
  check_velocity(kCall, "torque_cost", model, setup.torque_cost);
  Lqr::Setup lqr;
  lqr.q = setup.target;
  lqr.period = setup.period;
  Vector cost(2 * model.nv());
  cost << setup.position_cost, setup.velocity_cost;
  lqr.Q = cost.asDiagonal();
  const std::vector<int> motors = linearize(model, setup.target).motors;
  Vector torque(static_cast<Eigen::Index>(motors.size()));
  for (std::size_t i = 0; i < motors.size(); ++i) {
    torque[static_cast<Eigen::Index>(i)] = setup.torque_cost[motors[i]];
  }
  lqr.R = torque.asDiagonal();
  return {Lqr(controlled_robot(model, setup), lqr)};
}

/// Balance or locomotion.
Controller legged(const Model<double>& model, const ControllerSetup& setup,
                  const std::shared_ptr<ControllerStatistics>& statistics) {
  const auto programs = std::make_shared<QpStatistics>();
  if (statistics != nullptr) statistics->programs = programs;
  const Controller law =
      setup.kind == Kind::balance
          ? make_balance(model, setup.legged, setup.target, setup.torque_limit, programs)
          : make_locomotion(model, setup.legged, setup.target, setup.torque_limit, setup.period,
                            programs);
  return [law, programs, statistics](const ControlInput& now, Vector& tau) {
    law(now, tau);
    StepReport report;
    for (const double share : programs->share) report.saturated += std::abs(share) > 1 - 1e-9;
    record_step(now.t, report, statistics.get());
  };
}

}  // namespace

bool controls_frame(Kind kind) {
  return kind == Kind::cartesian_impedance || kind == Kind::operational_space ||
         kind == Kind::hybrid_force;
}

bool is_legged(Kind kind) {
  return kind == Kind::balance || kind == Kind::locomotion;
}

void set_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
               double damping_ratio, ControllerSetup& setup) {
  check_positive("set_gains", "frequency", frequency);
  check_not_negative("set_gains", "damping_ratio", damping_ratio);
  JointGains gains = setup.kind == Kind::computed_torque
                         ? acceleration_gains(model, frequency, damping_ratio)
                         : torque_gains(model, q, frequency, damping_ratio);
  setup.kp = std::move(gains.kp);
  setup.kd = std::move(gains.kd);
}

void record_step(double t, const StepReport& report, ControllerStatistics* statistics) {
  if (report.status == Status::not_finite) {
    fail_step("simulate", t, "an input or output of the controller is not finite");
  } else if (report.status == Status::singular) {
    fail_step("simulate", t, "the mass matrix is singular in the controller");
  } else if (report.status == Status::wrong_size) {
    fail_step("simulate", t, "an input of the controller has the wrong size");
  }
  if (statistics == nullptr) return;
  ++statistics->periods;
  statistics->saturated += report.saturated > 0 ? 1 : 0;
}

ControlledRobot controlled_robot(const Model<double>& model, const ControllerSetup& setup) {
  if (setup.torque_limit.size() == 0) return ControlledRobot(model);
  return {model, MotorLimits(model, setup.torque_limit)};
}

Controller make_controller(const Model<double>& model, const ControllerSetup& setup,
                           std::shared_ptr<ControllerStatistics> statistics) {
  if (setup.kind == Kind::none) return [](const ControlInput&, Vector& tau) { tau.setZero(); };
  if (setup.kind == Kind::open_loop) return open_loop(model, setup);
  check_configuration("make_controller", "target", model, setup.target);
  if (is_legged(setup.kind)) return legged(model, setup, statistics);
  if (controls_frame(setup.kind)) return make_frame_controller(model, setup, std::move(statistics));
  ControlledRobot robot = controlled_robot(model, setup);
  const JointGains gains{setup.kp, setup.kd};
  if (setup.kind != Kind::lqr) check_gains("make_controller", model, gains);
  switch (setup.kind) {
    case Kind::pd:
      return adapt(model, setup, JointPd(robot, gains, JointPd::Compensation::none), statistics);
    case Kind::gravity:
      return adapt(model, setup, JointPd(robot, gains, JointPd::Compensation::gravity), statistics);
    case Kind::pid: {
      JointPid::Setup pid;
      pid.gains = gains;
      pid.ki = setup.ki;
      pid.period = setup.period;
      pid.anti_windup = setup.anti_windup;
      return adapt(model, setup, JointPid(robot, pid), statistics);
    }
    case Kind::joint_impedance:
      return adapt(
          model, setup,
          JointImpedance(robot, {Matrix(gains.kp.asDiagonal()), Matrix(gains.kd.asDiagonal()), {}}),
          statistics);
    case Kind::lqr:
      return adapt(model, setup, lqr_law(model, setup), statistics);
    default:
      if (robot.limits().first_without_motor() >= 0) {
        throw Error(
            "make_controller: computed torque needs a motor for every velocity, and this robot has "
            "some without");
      }
      return adapt(model, setup, ComputedTorque(robot, gains), statistics);
  }
}

}  // namespace limb
