#include "limb/sim/world/world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/batch/compiled.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/canonical/canonical.hpp"
#include "limb/sim/integrate/check_mass.hpp"
#include "limb/sim/world/compiled_motion.hpp"

namespace limb {
namespace {

/// Contact impulses that change velocities by more than this multiple of the change by all other
/// forces are impacts.
constexpr double kImpactRatio = 3;

constexpr JointEffects kEffects = {true, true, false};  // Coulomb friction is a separate law

/// Appends wrenches given in world axes, rotated into the axes of their frames.
void rotate_into_frames(ForceInput& now, const std::vector<FrameWrench<double>>& world_wrenches,
                        std::vector<FrameWrench<double>>& wrenches) {
  for (const auto& [frame, F] : world_wrenches) {
    const Matrix3<double> R_FW = frame_pose(now.model, now.poses(), frame).R.transpose();
    wrenches.push_back({frame, {R_FW * F.f, R_FW * F.n}});
  }
}

}  // namespace

World::World(Model<double> model, const WorldOptions& options)
    : model_(std::move(model)),
      work_(model_),
      kinematics_(model_),
      actuators_(model_, ideal_actuators(model_)),
      motors_(VectorX<double>::Zero(model_.nv())),
      stiffness_{VectorX<double>::Zero(model_.uncoupled_nv()),
                 VectorX<double>::Zero(model_.uncoupled_nv())},
      added_inertia_(stiffness_.damping),
      implicit_acceleration_(motors_),
      implicit_force_(motors_),
      implicit_q_(VectorX<double>::Zero(model_.nq())),
      step_mass_(model_),
      space_(model_),
      a_(motors_),
      tau_(motors_),
      reduced_(motors_),
      joint_tau_(stiffness_.damping),
      joint_a_(stiffness_.damping),
      joint_v_(stiffness_.damping),
      joint_u_(stiffness_.damping) {
  loads_.tau = motors_;
  const bool has_friction = model_.canonical().has_friction;
  if (has_friction && options.friction == WorldOptions::Friction::smooth) {
    add<SmoothFriction>(model_, options.curve);
  }
  if (options.stops == WorldOptions::Stops::soft) {
    auto stops = std::make_unique<SoftStops>(model_, options.soft_stops);
    if (!stops->stops().empty()) add_law(std::move(stops));
  }
  JointImpulseSolver::Parameters joints;
  joints.friction = options.friction == WorldOptions::Friction::exact;
  joints.stops = options.stops == WorldOptions::Stops::hard;
  joints.curve = options.curve;
  joints.restitution = options.restitution;
  if (joints.friction || joints.stops) {
    joint_impulses_ = std::make_unique<JointImpulseSolver>(model_, joints);
  }
  for (const Body<double>& body : model_.bodies()) {
    const JointType type = body.joint.type();
    const bool hinge = type == JointType::revolute || type == JointType::continuous;
    // A hinge without another one beside it cannot reach such a configuration.
    const JointType parent = model_.body(body.parent).joint.type();
    if (hinge && (parent == JointType::revolute || parent == JointType::continuous)) {
      hinges_.push_back(body.v_start);
    }
  }
  if (!model_.loops().empty()) loops_ = std::make_unique<LoopProjection>(model_);
  if (options.dynamics == WorldOptions::Dynamics::compiled && CompiledMotion::supports(model_)) {
    compiled_ = std::make_unique<CompiledMotion>(model_, kEffects);
    CompileOptions options_of_step;
    options_of_step.effects = kEffects;
    step_functions_ = std::make_unique<Compiled>(
        model_, std::vector{DynamicsFunction::crba, DynamicsFunction::bias}, options_of_step);
    step_mass_.set_compiled(step_functions_.get());
  }
}

World::~World() = default;

RobotState<double> World::initial_state() {
  RobotState<double> s = make_state(model_, extra_size());
  commit_step(s);
  return s;
}

void World::add_law(std::unique_ptr<ForceLaw> law) {
  laws_.push_back(std::move(law));
  std::size_t capacity = 0;
  for (const auto& each : laws_) capacity += static_cast<std::size_t>(each->max_wrenches());
  loads_.wrenches.reserve(capacity);
  loads_.world_wrenches.reserve(capacity);
  prepared_ = compiled_ == nullptr;
}

/// Compiles for the wrench frames of all laws.
void World::prepare() {
  std::vector<WrenchPort> ports;
  for (const auto& law : laws_) law->append_ports(ports);
  compiled_->set_ports(ports);
  prepared_ = true;
}

void World::set_actuators(std::vector<Actuator> actuators) {
  actuators_ = Actuators(model_, std::move(actuators));
}

void World::begin_step(double t) {
  if (!prepared_) prepare();
  actuators_.begin_step(t);
  for (const auto& law : laws_) law->begin_step(t);
}

double World::next_jump(double t) const {
  double next = actuators_.next_jump(t);
  for (const auto& law : laws_) next = std::min(next, law->next_jump(t));
  return next;
}

Contacts& World::set_contact(ContactSetup setup) {
  contacts_ = std::make_unique<Contacts>(model_, std::move(setup));
  contacts_->set_compiled(step_functions_.get());
  return *contacts_;
}

void World::commit_step(RobotState<double>& s) {
  if (!prepared_) prepare();
  if (contacts_ != nullptr) contacts_->commit_step(s);
  if (loops_ == nullptr || (compiled_ != nullptr && compiled_->close(s))) return;
  loops_->close(model_, s);
}

void World::read_wrenches(const RobotState<double>& s, std::vector<FrameWrench<double>>& wrenches) {
  wrenches.assign(loads_.wrenches.begin(), loads_.wrenches.end());
  if (loads_.world_wrenches.empty()) return;
  ForceInput now(model_, s, kinematics_);
  rotate_into_frames(now, loads_.world_wrenches, wrenches);
}

/// Writes the forces in the state s to loads_.
void World::evaluate_loads(const RobotState<double>& s, VectorX<double>& dx) {
  motors_.setZero();
  actuators_.evaluate(s, motors_, dx);
  loads_.tau = motors_;
  loads_.wrenches.clear();
  loads_.world_wrenches.clear();
  ForceInput now(model_, s, kinematics_);
  for (const auto& law : laws_) law->add(now, loads_);
}

/// Accelerations by loads_, those of the state s.
void World::accelerate(const RobotState<double>& s, VectorX<double>& a) {
  // Where compiled code finds no finite accelerations, the templates find the reason.
  if (compiled_ != nullptr && compiled_->accelerate(s, loads_, a) && a.allFinite()) return;
  ForceInput now(model_, s, kinematics_);
  rotate_into_frames(now, loads_.world_wrenches, loads_.wrenches);
  loads_.world_wrenches.clear();
  const FactorReport report =
      loads_.wrenches.empty()
          ? aba(model_, work_, s.q, s.v, loads_.tau, a, kEffects)
          : aba(model_, work_, s.q, s.v, loads_.tau, loads_.wrenches, a, kEffects);
  check_mass(model_, report, s.t);
}

void World::rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>& dx) {
  evaluate_loads(s, dx);
  accelerate(s, a);
}

void World::step_rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>& dx) {
  evaluate_loads(s, dx);
  a.setZero();
}

double World::accepted_step() const {
  return contacts_ != nullptr ? std::min(contacts_->accepted_step(), accepted_step_)
                              : accepted_step_;
}

/// Three hinges in a row can reach a configuration in which two axes coincide. Near it, joint
/// velocities are very large for a moment, and forces quadratic in them change within a step: such
/// a step is subdivided.
void World::limit_rotation(double h, const VectorX<double>& v) {
  constexpr double kMostRotation = 0.3;  // rad per step
  constexpr double kShortest = 1e-7;     // s
  if (hinges_.empty()) return;
  double fastest = 0;
  const bool same = model_.coupling().is_identity();
  if (!same) model_.coupling().expand_velocity(v.data(), joint_v_.data());
  for (const int i : hinges_) fastest = std::max(fastest, std::abs((same ? v : joint_v_)[i]));
  accepted_step_ = std::numeric_limits<double>::infinity();
  if (h * fastest > kMostRotation && h > kShortest) {
    accepted_step_ = std::max(kShortest, kMostRotation / fastest);
  }
}

/// Velocities v at the end of a step of length h from `before` without impulses, by loads_, the
/// forces in the state `evaluated`, at whose velocities u the bias force is taken. Damping and
/// springs act at the end of the step: with the sum F of all forces,
///
///   M a = F - D (v + h a - u) - K h (v + h a)
///   (M + S) a = F - D (v - u) - h K v,   S = h D + h^2 K
///
/// A robot without loops and wrenches needs no more than the bias force and the factor of M + S,
/// which contacts share. For others, with the accelerations a0 = M^-1 F of all loops and wrenches,
///
///   a = a0 - (M + S)^-1 (S a0 + D (v - u) + h K v)
void World::advance_velocity(const RobotState<double>& before, const RobotState<double>& evaluated,
                             double h, VectorX<double>& v) {
  const Coupling<double>& coupling = model_.coupling();
  stiffness_.damping = model_.canonical().damping;
  stiffness_.stiffness.setZero();
  ForceInput now(model_, evaluated, kinematics_);
  for (const auto& law : laws_) law->add_stiffness(now, stiffness_);
  added_inertia_ = h * stiffness_.damping + h * h * stiffness_.stiffness;
  implicit_ = !added_inertia_.isZero(0);
  const bool direct = loops_ == nullptr && loads_.wrenches.empty() && loads_.world_wrenches.empty();
  DelassusMatrix& mass = step_mass();
  mass.set_added_inertia(implicit_ ? &added_inertia_ : nullptr);
  if (direct) {
    a_.setZero();
  } else {
    accelerate(evaluated, a_);
  }
  if (direct || implicit_) {
    check_mass(model_, mass.factorize(model_, before.q), before.t);
  }
  const auto joints = [&](const VectorX<double>& x, VectorX<double>& buffer) -> auto& {
    if (coupling.is_identity()) return x;
    coupling.expand_velocity(x.data(), buffer.data());
    return std::as_const(buffer);
  };
  const auto add_reduced = [&](VectorX<double>& tau) {  // of joint_tau_
    if (coupling.is_identity()) {
      tau += joint_tau_;
    } else {
      coupling.reduce_force(joint_tau_.data(), reduced_.data());
      tau += reduced_;
    }
  };
  implicit_force_.setZero();
  if (implicit_) {
    const VectorX<double>&joint_v = joints(before.v, joint_v_),
          &joint_u = joints(evaluated.v, joint_u_);
    joint_tau_ = stiffness_.damping.cwiseProduct(joint_v - joint_u) +
                 h * stiffness_.stiffness.cwiseProduct(joint_v);
    if (!direct) joint_tau_ += added_inertia_.cwiseProduct(joints(a_, joint_a_));
    add_reduced(implicit_force_);
  }
  if (direct) {
    if (step_functions_ != nullptr) {
      step_functions_->bias(before.q, evaluated.v, tau_);
    } else {
      bias<double>(model_, work_, before.q, evaluated.v, tau_, kEffects);
    }
    tau_ = loads_.tau - tau_ - implicit_force_;
    mass.accelerations(tau_, a_);
    if (implicit_) {
      joint_tau_ = added_inertia_.cwiseProduct(joints(a_, joint_a_));
      add_reduced(implicit_force_);
    }
  } else if (implicit_) {
    mass.accelerations(implicit_force_, tau_);
    a_ -= tau_;
  }
  // What implicit_acceleration() needs.
  has_implicit_acceleration_ = !direct || !implicit_;
  if (!implicit_) {
    implicit_acceleration_.setZero();
  } else if (direct) {
    implicit_q_ = before.q;
  } else {
    implicit_acceleration_ = -tau_;
  }
  v = before.v + h * a_;
  space_.add_axes_rotation(evaluated.v, h, v);
}

/// Recomputes the velocities at the end of a step of length h without impulses, from the
/// accelerations at the mean velocities instead of the initial ones: forces quadratic in velocity
/// then conserve energy as well as those that depend on positions (docs/adr/0011-contact.md).
void World::center_velocity(const RobotState<double>& before, double h, VectorX<double>& v) {
  middle_.t = before.t;
  middle_.q = before.q;
  middle_.x = before.x;
  middle_.v = (before.v + v) / 2;
  if (contacts_ != nullptr) {
    // Resting contacts are assumed to act as in the last step; impacts are not repeated.
    const VectorX<double>& held = contacts_->impulse_acceleration();
    if (contacts_->ended_at(before.t) &&
        h * held.lpNorm<1>() <= kImpactRatio * (v - before.v).lpNorm<1>()) {
      middle_.v += h / 2 * held;
    }
  }
  if (dx_.size() != before.x.size()) dx_ = before.x;
  evaluate_loads(middle_, dx_);
  advance_velocity(before, middle_, h, v);
}

void World::add_impulses(const RobotState<double>& before, const double& h, VectorX<double>& v) {
  advance_velocity(before, before, h, v);
  // rad/s and m/s together; below, forces quadratic in velocity are negligible.
  constexpr double kSlow = 0.1;
  if (before.v.lpNorm<1>() > kSlow) center_velocity(before, h, v);
  limit_rotation(h, v);
  if (contacts_ != nullptr) {
    contacts_->mass().set_added_inertia(implicit_ ? &added_inertia_ : nullptr);
    contacts_->apply(model_, before, h, v, joint_impulses_.get());
  } else if (joint_impulses_ != nullptr) {
    joint_impulses_->apply(model_, work_, before, h, v, implicit_ ? &step_mass_ : nullptr);
  }
}

const VectorX<double>& World::implicit_acceleration() {
  if (has_implicit_acceleration_) return implicit_acceleration_;
  // M (a - a0) = -(S a + D (v - u) + h K v)
  DelassusMatrix& mass = step_mass();
  mass.set_added_inertia(nullptr);
  mass.factorize(model_, implicit_q_);
  mass.accelerations(implicit_force_, implicit_acceleration_);
  implicit_acceleration_ *= -1;
  has_implicit_acceleration_ = true;
  return implicit_acceleration_;
}

DelassusMatrix& World::step_mass() {
  return contacts_ != nullptr && loops_ == nullptr ? contacts_->mass() : step_mass_;
}

World::Energy World::energy(const RobotState<double>& s) {
  ForceInput now(model_, s, kinematics_);
  Energy energy;
  energy.kinetic = kinetic_energy(model_, now.kinematics());
  energy.potential = potential_energy(model_, now.kinematics());
  for (const auto& law : laws_) energy.stored += law->energy(now);
  if (contacts_ != nullptr) energy.stored += contacts_->stored();
  return energy;
}

Force<double> World::momentum(const RobotState<double>& s) {
  if (!(model_.total_mass() > 0)) return {};
  ForceInput now(model_, s, kinematics_);
  return centroidal_momentum(model_, now.kinematics());
}

}  // namespace limb
