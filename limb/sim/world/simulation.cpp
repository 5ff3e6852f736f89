#include "limb/sim/world/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {
namespace {

/// s; resolution of times of about an hour.
constexpr double kShortestStep = 1e-12;
/// s; times closer than this are equal but for rounding.
constexpr double kSlack = 1e-9;
/// A remainder of a run below this fraction of a step (adaptive methods: of a period) is rounding
/// of the requested time and not a step.
constexpr double kStepFraction = 1e-6, kPeriodFraction = 1e-9;
/// Fraction of a step that counts as all of it.
constexpr double kWhole = 0.999;
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Steps between checks of the energy ledger, each of which costs about as much as kinematics.
constexpr long kStepsPerCheck = 256;
/// Parts into which a step, or a millisecond of a longer one, may be divided on average, and how
/// many more a run may need for a moment.
constexpr double kPartsPerStep = 50, kMostParts = 5000, kLongStep = 1e-3;
/// Largest error of integration, relative to all energy that was exchanged. Of 1424 runs of robot
/// files over 2 s the largest has 0.12, a robot that starts with its links deep inside each other,
/// and 99 % have less than 0.02 (bench/results/2026-11-18-robot-simulations.md).
constexpr double kLargestError = 0.2;

}  // namespace

Simulation::Simulation(World& world, const SimulationOptions& options)
    : world_(world), options_(options), state_(make_state(world.model(), world.extra_size())) {
  check_positive("Simulation", "step", options.step);
  if (options.step < kShortestStep) {
    fail("Simulation", "step", to_text(options.step) + " s", ">= " + to_text(kShortestStep) + " s");
  }
  check_not_negative("Simulation", "control_period", options.control_period);
  period_ = options.control_period > 0 ? options.control_period : options.step;
  if (!is_adaptive(options.method)) {
    const double steps = period_ / options.step;
    if (steps < 0.5 || std::abs(steps - std::round(steps)) > 1e-6) {
      fail("Simulation", "control_period", to_text(period_),
           "a multiple of the step, " + to_text(options.step));
    }
  }
  if (world.has_impulses() && options.method != IntegrationMethod::semi_implicit_euler) {
    fail("Simulation", "method", to_text(options.method), "semi-implicit-euler",
         "exact friction, hard stops and contacts are impulses of its steps");
  }
  const ConfigurationSpace<double> space(world.model());
  integrator_ = make_integrator<double>(options.method, space, world.extra_size(),
                                        {options.step, options.tolerance, options.tolerance});
  world.actuators().set_command_period(period_);
  command_ = last_command_ = a_ = v_measured_ = VectorX<double>::Zero(world.model().nv());
  dx_ = VectorX<double>::Zero(world.extra_size());
  q_measured_ = state_.q;
  wrenches_.reserve(world.loads().wrenches.capacity() + world.loads().world_wrenches.capacity());
  period_end_ = state_.t;
  v_before_ = a_;
  middle_ = state_;
  world.keep_powers(options.method == IntegrationMethod::runge_kutta_4 ? 4 : 0);
}

void Simulation::initialize() {
  world_.commit_step(state_);
  world_.begin_ledger(state_);
  initialized_ = true;
}

void Simulation::set_state(double t, VectorIn<double>& q, VectorIn<double>& v) {
  check_finite("Simulation::set_state", "t", t);
  check_configuration("Simulation::set_state", "q", world_.model(), q);
  check_velocity("Simulation::set_state", "v", world_.model(), v);
  check_finite("Simulation::set_state", "v", v);
  state_.t = origin_ = period_end_ = t;
  state_.q = q;
  state_.v = v;
  state_.x.setZero();
  period_count_ = 0;
  parts_ = 0;
  world_.begin_ledger(state_);  // no step is pending
  initialize();
  integrator_->reset();
  if (events_ != nullptr) events_->begin(state_);
}

void Simulation::set_events(std::vector<Event> events) {
  events_ = std::make_unique<EventFinder>(std::move(events));
  events_->begin(state_);
}

void Simulation::begin_period() {
  last_command_.swap(command_);
  command_.setZero();
  if (controller_) {
    q_measured_ = state_.q;
    v_measured_ = state_.v;
    if (measure_) measure_(state_.t, q_measured_, v_measured_);
    world_.read_wrenches(state_, wrenches_);
    controller_({state_.t, q_measured_, v_measured_, wrenches_, world_.contacts()}, command_);
  }
  world_.actuators().command(state_.t, command_);
  if (period_count_ > 0 && state_.t != period_end_) {  // the last run ended here, up to rounding
    origin_ = state_.t;
    period_count_ = 0;
  }
  ++period_count_;
  // Counted, not summed: the times of a run do not depend on rounding.
  period_end_ = origin_ + static_cast<double>(period_count_) * period_;
  if (command_ != last_command_) integrator_->reset();
  world_.begin_step(state_.t);
  if (observer_) observer_(state_, command_);
}

const VectorX<double>& Simulation::acceleration() {
  world_.rates(state_, a_, dx_);
  // Contacts acted as impulses in the step that ended here.
  const Contacts* contacts = world_.contacts();
  if (contacts != nullptr && contacts->ended_at(state_.t)) {
    a_ += contacts->impulse_acceleration() + world_.implicit_acceleration();
  }
  return a_;
}

// Work of the forces in a step. That of the implicit methods is known in their steps.

void Simulation::begin_work() {
  if (options_.method == IntegrationMethod::explicit_euler) v_before_ = state_.v;
  if (is_adaptive(options_.method)) start_powers_ = world_.powers(state_);
}

/// The quadrature of the method itself: a fixed-step method is exact with the forces of its stages.
/// Adaptive ones: Simpson's rule, with the interpolated state in the middle.
void Simulation::add_work(double start) {
  using Method = IntegrationMethod;
  const double h = state_.t - start;
  if (options_.method == Method::semi_implicit_euler ||
      options_.method == Method::implicit_midpoint) {
    return;
  }
  if (options_.method == Method::explicit_euler) {
    v_before_ = (v_before_ + state_.v) / 2;
    world_.add_work(h, v_before_);
    return;
  }
  EnergyEntries mean = start_powers_;
  if (options_.method == Method::runge_kutta_4) {
    const auto& stages = world_.kept_powers();
    for (std::size_t i = 0; i < kEnergyEntries; ++i) {
      mean[i] = (stages[0][i] + 2 * stages[1][i] + 2 * stages[2][i] + stages[3][i]) / 6;
    }
  } else if (h > kShortestStep) {
    integrator_->state_at(start + h / 2, middle_);
    for (std::size_t i = 0; i < kEnergyEntries; ++i) mean[i] /= 6;
    const auto add = [&](const RobotState<double>& s, double weight) {
      const EnergyEntries& powers = world_.powers(s);
      for (std::size_t i = 0; i < kEnergyEntries; ++i) mean[i] += weight * powers[i];
    };
    add(middle_, 4. / 6);
    add(state_, 1. / 6);
  }
  world_.add_work(h, mean);
}

void Simulation::check_ledger() {
  if (!options_.check_energy || options_.method == IntegrationMethod::explicit_euler) return;
  const EnergyBalance b = world_.balance(state_);
  const Model<double>& model = world_.model();
  // J; below the work of the weight over a millimetre nobody is interested in the error.
  constexpr double kSmall = 1e-3, kLeast = 1e-9;
  const double allowed =
      kLargestError * b.exchanged + kSmall * model.total_mass() * model.gravity().norm() + kLeast;
  // The projection onto closed loops removes errors of integration: both together are the error.
  const double error = b.closure + b[EnergyEntry::loops];
  if (std::abs(error) <= allowed) return;
  // The joint with the largest part of the kinetic energy, v_i (M v)_i.
  Workspace<double> work(model, Loops::open);
  MatrixX<double> M(model.nv(), model.nv());
  crba(model, work, state_.q, M);
  Eigen::Index joint = 0;
  (state_.v.cwiseProduct(M * state_.v)).maxCoeff(&joint);
  const EnergyEntry largest = b.largest();
  fail_step(
      "simulate", state_.t,
      fmt::format("the energy ledger does not close: {:.3g} J of {:.3g} J that were "
                  "exchanged are errors of integration (largest entry: {}, {:.3g} J; most "
                  "energy in {}, {:.3g} {}); use a shorter step",
                  error, b.exchanged, to_text(largest), b[largest],
                  velocity_text(model, static_cast<int>(joint)), state_.v[joint], "rad/s or m/s"));
}

/// Steps are divided where velocities change too fast for them (World::accepted_step). A run may
/// need many parts for a moment; one that needs them all the time, such as that of a robot out of
/// control, would not end within any time that a user waits.
/// @param h length of a step; divided: that was part of a longer one.
void Simulation::count_parts(double h, bool divided) {
  parts_ += divided ? 1 : 0;
  parts_ = std::max(parts_ - kPartsPerStep * h / std::min(options_.step, kLongStep), 0.0);
  if (parts_ <= kMostParts) return;
  const Model<double>& model = world_.model();
  Eigen::Index fastest = 0, strongest = 0;
  state_.v.cwiseAbs().maxCoeff(&fastest);
  const double torque = world_.motor_torque().cwiseAbs().maxCoeff(&strongest);
  const std::string motor =
      torque > 0 ? fmt::format(", the motor of {} exerts {:.3g} N m or N",
                               velocity_text(model, static_cast<int>(strongest)), torque)
                 : "";
  fail_step("simulate", state_.t,
            fmt::format("the motion is too fast: steps of {} s had to be divided into more than {} "
                        "parts each ({} moves with {:.3g} rad/s or m/s{}); limit the torques of "
                        "the motors, or add armature or damping to the joint",
                        to_text(options_.step), kPartsPerStep,
                        velocity_text(model, static_cast<int>(fastest)), state_.v[fastest], motor));
}

int Simulation::run_until(double t_end) {
  check_finite("Simulation::run_until", "t_end", t_end);
  if (!initialized_) initialize();
  integrator_->reset();  // the world may have changed since the last run
  const bool adaptive = is_adaptive(options_.method);
  // In a run that is cut into partial runs, the requested times are rounded. A remainder of a step
  // or period by rounding is not a step, so that the steps are those of the whole run.
  const double part = adaptive ? kPeriodFraction : kStepFraction;
  const double slack = part * (adaptive ? period_ : options_.step);
  constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
  const double rounding = kRounding * std::abs(t_end);
  const double rest = std::max(std::min(slack, part * (t_end - state_.t)), rounding);
  while (t_end - state_.t > rest) {
    if (state_.t >= period_end_ - slack) {
      begin_period();
    } else {
      world_.begin_step(state_.t);
    }
    const double jump = adaptive ? world_.next_jump(state_.t) : kNever;
    double stop = std::min(period_end_, jump);
    // A time of the grid replaces t_end if they differ by rounding: later steps are then
    // bit-identical to those of the whole run.
    if (stop >= t_end - rest && std::abs(stop - t_end) > rounding) stop = t_end;
    const double start = state_.t;
    begin_work();
    integrator_->advance(world_, state_, stop);
    constexpr int kTries = 3;
    bool divided = false;
    for (int k = 0; k < kTries && world_.accepted_step() < kWhole * (state_.t - start); ++k) {
      integrator_->state_at(start + world_.accepted_step(), state_);
      divided = true;
    }
    ++steps_;
    if (state_.t >= jump - kSlack) integrator_->reset();
    const int event = events_ != nullptr ? events_->find(*integrator_, state_) : -1;
    add_work(start);
    world_.commit_step(state_);
    if (divided || parts_ > 0) count_parts(state_.t - start, divided);
    if (steps_ % kStepsPerCheck == 0) check_ledger();
    if (progress_) progress_(state_.t);
    if (event >= 0) {
      integrator_->reset();
      return event;
    }
  }
  return -1;
}

}  // namespace limb
