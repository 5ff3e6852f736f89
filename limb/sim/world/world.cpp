#include "limb/sim/world/world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/canonical/canonical.hpp"
#include "limb/sim/contact/step_functions.hpp"
#include "limb/sim/integrate/check_mass.hpp"
#include "limb/sim/world/compiled_motion.hpp"

namespace limb {
namespace {

/// Contact impulses that change velocities by more than this multiple of the change by all other
/// forces are impacts.
constexpr double kImpactRatio = 3;

constexpr JointEffects kEffects = {true, true, false};  // Coulomb friction is a separate law

/// Consecutive laws with the same entry in the energy ledger, such as the springs of all joints,
/// are one group, whose forces are kept together at its first law.
bool leads_group(const std::vector<std::unique_ptr<ForceLaw>>& laws, std::size_t i) {
  return i == 0 || laws[i]->energy_entry() != laws[i - 1]->energy_entry();
}

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
                 VectorX<double>::Zero(model_.uncoupled_nv()),
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
      joint_u_(stiffness_.damping),
      mean_v_(motors_),
      joint_mean_v_(stiffness_.damping) {
  evaluated_.q = VectorX<double>::Zero(model_.nq());
  evaluated_.v = motors_;
  middle_.q = evaluated_.q;
  has_damping_ = !model_.canonical().damping.isZero(0);
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
    if (body.parent.value() < 0) continue;  // the world
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
    step_functions_ = std::make_unique<StepFunctions>(model_, kEffects);
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
  const auto wrenches = static_cast<std::size_t>(law->max_wrenches());
  laws_.push_back(std::move(law));
  law_work_.push_back(
      {motors_, {stiffness_.damping, stiffness_.stiffness, stiffness_.force}, {}, {}});
  std::size_t lead = laws_.size() - 1;
  while (!leads_group(laws_, lead)) --lead;
  law_work_[lead].wrenches.reserve(law_work_[lead].wrenches.capacity() + wrenches);
  law_work_[lead].world_wrenches.reserve(law_work_[lead].world_wrenches.capacity() + wrenches);
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
  if (step_functions_ != nullptr) step_functions_->add_poses();
  contacts_->set_compiled(step_functions_.get());
  return *contacts_;
}

void World::commit_step(RobotState<double>& s) {
  if (!prepared_) prepare();
  if (contacts_ != nullptr) {
    contacts_->commit_step(s);
    if (has_step_work_) commit_contact_work(s);
  } else if (joint_impulses_ != nullptr && has_step_work_) {
    if (const VectorX<double>* correction = joint_impulses_->correction()) {
      space_.move(s.q, *correction, s.q);
      commit_correction(s, *correction);
    }
  }
  if (loops_ != nullptr) {
    const double before = has_step_work_ ? energy(s).total() : 0;
    if (compiled_ == nullptr || !compiled_->close(s)) loops_->close(model_, s);
    if (has_step_work_) ledger_.add(EnergyEntry::loops, energy(s).total() - before);
  }
  if (has_step_work_) commit_work(s);
}

void World::read_wrenches(const RobotState<double>& s, std::vector<FrameWrench<double>>& wrenches) {
  wrenches.assign(loads_.wrenches.begin(), loads_.wrenches.end());
  if (loads_.world_wrenches.empty()) return;
  ForceInput now(model_, s, kinematics_);
  rotate_into_frames(now, loads_.world_wrenches, wrenches);
}

/// Writes the forces in the state s to loads_, each law also for the energy ledger.
void World::evaluate_forces(const RobotState<double>& s, VectorX<double>& dx) {
  ForceInput now(model_, s, kinematics_);
  motors_.setZero();
  actuators_.evaluate(s, motors_, dx);
  loads_.tau = motors_;
  loads_.wrenches.clear();
  loads_.world_wrenches.clear();
  has_wrenches_ = false;
  std::size_t lead = 0, first = 0, first_world = 0;
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    if (leads_group(laws_, i)) {
      lead = i;
      first = loads_.wrenches.size();
      first_world = loads_.world_wrenches.size();
      law_work_[lead].tau = loads_.tau;
      law_work_[lead].acts = false;
    }
    laws_[i]->add(now, loads_);
    law_work_[lead].acts |= laws_[i]->is_active();
    if (i + 1 < laws_.size() && !leads_group(laws_, i + 1)) continue;
    LawWork& work = law_work_[lead];
    if (!work.acts) continue;
    work.tau = loads_.tau - work.tau;
    const auto copy_from = [](std::size_t k, const auto& from, auto& to) {
      to.assign(from.begin() + static_cast<std::ptrdiff_t>(k), from.end());
    };
    copy_from(first, loads_.wrenches, work.wrenches);
    copy_from(first_world, loads_.world_wrenches, work.world_wrenches);
    has_wrenches_ |= !work.wrenches.empty() || !work.world_wrenches.empty();
  }
  evaluated_.v = s.v;
  if (has_wrenches_) evaluated_.q = s.q;
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
  evaluate_forces(s, dx);
  if (!kept_powers_.empty()) {
    std::rotate(kept_powers_.begin(), kept_powers_.begin() + 1, kept_powers_.end());
    compute_powers(s.v, kept_powers_.back());
  }
  accelerate(s, a);
}

void World::step_rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>& dx) {
  evaluate_forces(s, dx);
  a.setZero();
}

double World::accepted_step() const {
  return contacts_ != nullptr ? std::min(contacts_->accepted_step(), accepted_step_)
                              : accepted_step_;
}

/// Three hinges in a row can reach a configuration in which two axes coincide. At a small distance
/// d from it, the inertia of a motion about both is proportional to d^2 and its velocity to 1 / d:
/// velocities are very large for a moment, and the forces quadratic in them conserve energy only if
/// they change little within a step. Other steps are subdivided.
void World::limit_rotation(const VectorX<double>& v0, double h, const VectorX<double>& v) {
  constexpr double kMostRotation = 0.3;  // rad per step
  constexpr double kFast = 0.05;         // rad per step; slower hinges may change their velocity
  constexpr double kMostChange = 0.05;   // of a velocity per step
  constexpr double kShortest = 1e-7;     // s
  accepted_step_ = std::numeric_limits<double>::infinity();
  if (hinges_.empty() || h <= kShortest) return;
  const bool same = model_.coupling().is_identity();
  if (!same) {
    model_.coupling().expand_velocity(v.data(), joint_v_.data());
    model_.coupling().expand_velocity(v0.data(), joint_u_.data());
  }
  double turn = 0, change = 0;
  for (const int i : hinges_) {
    const double now = (same ? v : joint_v_)[i], last = (same ? v0 : joint_u_)[i];
    const double faster = std::max(std::abs(now), std::abs(last));
    turn = std::max(turn, std::abs(now));
    if (h * faster > kFast) change = std::max(change, std::abs(now - last) / faster);
  }
  const double part = std::min(kMostRotation / (h * turn), kMostChange / change);
  if (part < 1) accepted_step_ = std::max(kShortest, part * h);
}

/// Velocities v at the end of a step of length h from `before` without impulses, by loads_, the
/// forces in the state `evaluated`, at whose velocities u the bias force is taken. Damping and
/// springs act at the end of the step: with the sum F of all forces,
///
///   M a = F + f - D (v + h a - u) - K h (v + h a)
///   (M + S) a = F + f - D (v - u) - h K v,   S = h D + h^2 K
///
/// with forces f of stops that begin to act within the step.
///
/// A robot without loops and wrenches needs no more than the bias force and the factor of M + S,
/// which contacts share. For others, with the accelerations a0 = M^-1 F of all loops and wrenches,
///
///   a = a0 - (M + S)^-1 (S a0 + D (v - u) + h K v - f)
void World::advance_velocity(const RobotState<double>& before, const RobotState<double>& evaluated,
                             double h, VectorX<double>& v) {
  const Coupling<double>& coupling = model_.coupling();
  if (!laws_.empty() || h != added_inertia_step_) {
    stiffness_.damping = model_.canonical().damping;
    stiffness_.stiffness.setZero();
    stiffness_.force.setZero();
    ForceInput now(model_, evaluated, kinematics_);
    add_stiffness(now);
    added_inertia_ = h * stiffness_.damping + h * h * stiffness_.stiffness;
    implicit_ = !added_inertia_.isZero(0);
    added_inertia_step_ = laws_.empty() ? h : std::numeric_limits<double>::quiet_NaN();
  }
  const bool direct = loops_ == nullptr && loads_.wrenches.empty() && loads_.world_wrenches.empty();
  DelassusMatrix& mass = step_mass();
  mass.set_added_inertia(implicit_ ? &added_inertia_ : nullptr);
  if (direct) {
    a_.setZero();
  } else {
    accelerate(evaluated, a_);
  }
  const bool has_bias = direct && mass.factorize_with_bias(before.q, evaluated.v, tau_);
  if (!has_bias && (direct || implicit_)) {
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
  const bool plain = direct && coupling.is_identity();
  if (!implicit_) implicit_force_.setZero();
  if (implicit_ && plain) {
    implicit_force_ = stiffness_.damping.cwiseProduct(before.v - evaluated.v) +
                      h * stiffness_.stiffness.cwiseProduct(before.v) - stiffness_.force;
  } else if (implicit_) {
    implicit_force_.setZero();
    const VectorX<double>&joint_v = joints(before.v, joint_v_),
          &joint_u = joints(evaluated.v, joint_u_);
    joint_tau_ = stiffness_.damping.cwiseProduct(joint_v - joint_u) +
                 h * stiffness_.stiffness.cwiseProduct(joint_v) - stiffness_.force;
    if (!direct) joint_tau_ += added_inertia_.cwiseProduct(joints(a_, joint_a_));
    add_reduced(implicit_force_);
  }
  if (direct) {
    if (has_bias) {
      // tau_ is there.
    } else if (step_functions_ != nullptr) {
      step_functions_->bias(before.q, evaluated.v, tau_);
    } else {
      bias<double>(model_, work_, before.q, evaluated.v, tau_, kEffects);
    }
    tau_ = loads_.tau - tau_ - implicit_force_;
    mass.accelerations(tau_, a_);
    if (implicit_ && plain) {
      implicit_force_ += added_inertia_.cwiseProduct(a_);
    } else if (implicit_) {
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
  if (laws_.empty() && !actuators_.depend_on_velocity()) {
    evaluated_.v = middle_.v;  // the forces are those at the start
  } else {
    if (dx_.size() != before.x.size()) dx_ = before.x;
    evaluate_forces(middle_, dx_);
  }
  advance_velocity(before, middle_, h, v);
}

/// Repeats the step with the stops that are reached in it, so that they act at its end: else a
/// joint would enter its stop freely, which adds the energy of the spring.
void World::begin_forces_within(const RobotState<double>& before,
                                const RobotState<double>& evaluated, double h, VectorX<double>& v) {
  constexpr int kPasses = 3;  // a stop may keep a joint from reaching another one
  if (laws_.empty()) return;
  ForceInput start(model_, before, kinematics_);
  for (int pass = 0; pass < kPasses; ++pass) {
    model_.coupling().expand_velocity(v.data(), joint_v_.data());
    bool changed = false;
    for (const auto& law : laws_) changed |= law->begin_within(start, h, joint_v_);
    if (!changed) return;
    stops_begin_ = true;
    advance_velocity(before, evaluated, h, v);
  }
}

void World::add_impulses(const RobotState<double>& before, const double& h, VectorX<double>& v) {
  if (stops_begin_) {
    ForceInput start(model_, before, kinematics_);
    for (const auto& law : laws_) law->begin_within(start, 0, joint_v_);
    stops_begin_ = false;
  }
  advance_velocity(before, before, h, v);
  // rad/s and m/s together; below, forces quadratic in velocity are negligible. They do not depend
  // on how fast a free base moves without turning.
  constexpr double kSlow = 0.1;
  double speed = before.v.lpNorm<1>();
  if (model_.body_count() > 1 && model_.bodies()[1].joint.type() == JointType::free) {
    speed -= before.v.segment<3>(model_.bodies()[1].v_start).lpNorm<1>();
  }
  const bool centered = speed > kSlow;
  if (centered) center_velocity(before, h, v);
  begin_forces_within(before, centered ? middle_ : before, h, v);
  limit_rotation(before.v, h, v);
  if (contacts_ != nullptr) {
    contacts_->mass().set_added_inertia(implicit_ ? &added_inertia_ : nullptr);
    contacts_->apply(model_, before, h, v, joint_impulses_.get());
  } else if (joint_impulses_ != nullptr) {
    joint_impulses_->apply(model_, work_, before, h, v, implicit_ ? &step_mass_ : nullptr);
  }
  record_step(before, h, v);
}

const JointStiffness& World::stiffness(const RobotState<double>& s) {
  stiffness_.damping = model_.canonical().damping;
  stiffness_.stiffness.setZero();
  stiffness_.force.setZero();
  ForceInput now(model_, s, kinematics_);
  if (dx_.size() != s.x.size()) dx_ = s.x;
  evaluate_forces(s, dx_);
  add_stiffness(now);
  return stiffness_;
}

/// Stiffness of the laws, that of each group also for the energy ledger.
void World::add_stiffness(ForceInput& now) {
  std::size_t lead = 0;
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    if (leads_group(laws_, i)) {
      lead = i;
      law_work_[lead].is_stiff = law_work_[lead].acts || stops_begin_;
      JointStiffness& own = law_work_[lead].stiffness;
      if (law_work_[lead].is_stiff) {
        own.damping = stiffness_.damping;
        own.stiffness = stiffness_.stiffness;
        own.force = stiffness_.force;
      }
    }
    if (!law_work_[lead].is_stiff) continue;
    laws_[i]->add_stiffness(now, stiffness_);
    if (i + 1 < laws_.size() && !leads_group(laws_, i + 1)) continue;
    JointStiffness& own = law_work_[lead].stiffness;
    own.damping = stiffness_.damping - own.damping;
    own.stiffness = stiffness_.stiffness - own.stiffness;
    own.force = stiffness_.force - own.force;
  }
}

// Energy ledger.

double World::wrench_power(std::size_t law, const Kinematics<double>& kinematics) const {
  double power = 0;
  const auto add = [&](const FrameWrench<double>& wrench, FrameAxes axes) {
    const Motion<double> V = frame_velocity(model_, kinematics, wrench.frame, axes);
    power += wrench.F_F.f.dot(V.v) + wrench.F_F.n.dot(V.w);
  };
  for (const auto& wrench : law_work_[law].wrenches) add(wrench, FrameAxes::local);
  for (const auto& wrench : law_work_[law].world_wrenches) {
    add(wrench, FrameAxes::local_world_aligned);
  }
  return power;
}

/// Powers of the forces of the last evaluation with these velocities.
void World::compute_powers(const VectorX<double>& v, EnergyEntries& powers) {
  powers.fill(0);
  const auto at = [&](EnergyEntry entry) -> double& {
    return powers[static_cast<std::size_t>(entry)];
  };
  at(EnergyEntry::motors) = motors_.dot(v);
  const Coupling<double>& coupling = model_.coupling();
  coupling.expand_velocity(v.data(), joint_v_.data());
  at(EnergyEntry::damping) = -model_.canonical().damping.dot(joint_v_.cwiseAbs2());
  if (has_wrenches_) forward_kinematics(model_, evaluated_.q, v, kinematics_);
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const EnergyEntry entry = laws_[i]->energy_entry();
    if (entry == EnergyEntry::conservative || !leads_group(laws_, i)) continue;
    if (law_work_[i].acts) at(entry) += law_work_[i].tau.dot(v) + wrench_power(i, kinematics_);
  }
}

const EnergyEntries& World::powers(const RobotState<double>& s) {
  if (dx_.size() != s.x.size()) dx_ = s.x;
  evaluate_forces(s, dx_);
  compute_powers(s.v, powers_);
  return powers_;
}

void World::add_work(double h, const VectorX<double>& v) {
  compute_powers(v, powers_);
  add_work(h, powers_);
}

void World::end_part(const double& h, const VectorX<double>& v, bool first) {
  if (first) step_work_.fill(0);
  compute_powers(v, powers_);
  for (std::size_t i = 0; i < kEnergyEntries; ++i) step_work_[i] += h * powers_[i];
  has_step_work_ = true;
}

void World::add_work(double h, const EnergyEntries& mean_power) {
  for (std::size_t i = 0; i < kEnergyEntries; ++i) step_work_[i] = h * mean_power[i];
  has_step_work_ = true;
}

/// Work in a step of the semi-implicit method that ends with velocities v: for the mass matrix at
/// its start, forces f change the kinetic energy by exactly h f (v0 + v1) / 2. The force of a law
/// is that of the last evaluation, at velocities u, and what acts at the end of the step,
/// f - D (v1 - u) - h K v1.
void World::record_step(const RobotState<double>& before, double h, const VectorX<double>& v) {
  step_work_.fill(0);
  has_step_work_ = true;
  const auto at = [&](EnergyEntry entry) -> double& {
    return step_work_[static_cast<std::size_t>(entry)];
  };
  mean_v_ = (before.v + v) / 2;
  at(EnergyEntry::motors) = h * motors_.dot(mean_v_);
  const Coupling<double>& coupling = model_.coupling();
  const auto joints = [&](const VectorX<double>& x, VectorX<double>& buffer) -> const auto& {
    if (coupling.is_identity()) return x;
    coupling.expand_velocity(x.data(), buffer.data());
    return buffer;
  };
  const VectorX<double>& mean = joints(mean_v_, joint_mean_v_);
  const VectorX<double>& end = joints(v, joint_v_);
  const VectorX<double>& u = joints(evaluated_.v, joint_u_);
  if (has_damping_) {
    at(EnergyEntry::damping) =
        -h * (model_.canonical().damping.array() * end.array() * mean.array()).sum();
  }
  if (has_wrenches_) forward_kinematics(model_, evaluated_.q, mean_v_, kinematics_);
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const EnergyEntry entry = laws_[i]->energy_entry();
    if (entry == EnergyEntry::conservative || !leads_group(laws_, i)) continue;
    const LawWork& law = law_work_[i];
    if (law.acts) at(entry) += h * law.tau.dot(mean_v_);
    if (has_wrenches_ && law.acts) at(entry) += h * wrench_power(i, kinematics_);
    if (!law.is_stiff) continue;
    const double implicit =
        ((law.stiffness.damping.array() * (end - u).array() +
          h * law.stiffness.stiffness.array() * end.array() - law.stiffness.force.array()) *
         mean.array())
            .sum();
    at(entry) -= h * implicit;
  }
  if (contacts_ == nullptr && joint_impulses_ != nullptr) {
    at(EnergyEntry::friction) -= joint_impulses_->friction_dissipated();
    at(EnergyEntry::stops) -= joint_impulses_->stops_dissipated();
  }
}

/// What contacts, joint friction and hard stops took in the step that ended in s, and what lifting
/// of overlapping bodies added.
void World::commit_contact_work(const RobotState<double>& s) {
  const ContactReport& report = contacts_->report();
  ledger_.add(EnergyEntry::contacts, -report.dissipated);
  ledger_.add(EnergyEntry::friction, -report.friction_dissipated);
  ledger_.add(EnergyEntry::stops, -report.stops_dissipated);
  if (const VectorX<double>* lift = contacts_->lift()) commit_correction(s, *lift);
}

/// Potential energy by a displacement that ended in s.
void World::commit_correction(const RobotState<double>& s, const VectorX<double>& displacement) {
  tau_ = -displacement;
  space_.move(s.q, tau_, middle_.q);
  forward_kinematics(model_, middle_.q, kinematics_);
  const double before = potential_energy(model_, kinematics_);
  forward_kinematics(model_, s.q, kinematics_);
  ledger_.add(EnergyEntry::correction, potential_energy(model_, kinematics_) - before);
}

/// Adds the work of the step that ended in s to the ledger. What damping, friction and stops take
/// in a step is never negative (EnergyLedger::loss).
void World::commit_work(const RobotState<double>& s) {
  has_step_work_ = false;
  const auto at = [&](EnergyEntry entry) -> double& {
    return step_work_[static_cast<std::size_t>(entry)];
  };
  // Without energy before, only forces of this step can have stored some, or impulses of contacts,
  // which the next step shows.
  if (stops_begin_ || stored_in_stops_ != 0 || at(EnergyEntry::stops) != 0) {
    const double last = std::exchange(stored_in_stops_, stored_in_stops(s));
    at(EnergyEntry::stops) += stored_in_stops_ - last;
  }
  for (const EnergyEntry entry :
       {EnergyEntry::damping, EnergyEntry::friction, EnergyEntry::stops}) {
    at(entry) = ledger_.loss(entry, at(entry));
  }
  ledger_.add(step_work_);
}

double World::stored_in_stops(const RobotState<double>& s) {
  ForceInput now(model_, s, kinematics_);
  double sum = 0;
  for (const auto& law : laws_) {
    if (law->energy_entry() == EnergyEntry::stops) sum += law->energy(now);
  }
  return sum;
}

EnergyState World::energy_state(const RobotState<double>& s) {
  ForceInput now(model_, s, kinematics_);
  EnergyState state;
  state.kinetic = kinetic_energy(model_, now.kinematics());
  state.potential = potential_energy(model_, now.kinematics());
  for (const auto& law : laws_) {
    const double stored = law->energy(now);
    const EnergyEntry entry = law->energy_entry();
    state.stored += stored;
    // Those of stops are counted step by step.
    if (entry == EnergyEntry::stops || entry == EnergyEntry::conservative) continue;
    state.stored_in[static_cast<std::size_t>(entry)] += stored;
  }
  if (contacts_ != nullptr) state.stored += contacts_->stored();
  return state;
}

void World::begin_ledger(const RobotState<double>& s) {
  has_step_work_ = false;
  ledger_.begin(energy_state(s));
  stored_in_stops_ = stored_in_stops(s);
}

EnergyBalance World::balance(const RobotState<double>& s) {
  return ledger_.balance(energy_state(s));
}

const VectorX<double>& World::implicit_acceleration() {
  if (has_implicit_acceleration_) return implicit_acceleration_;
  // M (a - a0) = -(S a + D (v - u) + h K v - f)
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
