#include "limb/sim/world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/batch/compiled.hpp"
#include "limb/dynamics/energy.hpp"
#include "limb/dynamics/frames.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/model/canonical.hpp"
#include "limb/sim/compiled_motion.hpp"
#include "limb/sim/step_end.hpp"

namespace limb {
namespace {

/// Impulses that change velocities by more than so many times what the other forces do.
constexpr double kNoBlow = 3;

constexpr JointEffects kEffects = {true, true, false};  // Coulomb friction is a law of its own

/// Appends wrenches that are given in the world's axes in those of their frames.
void turn_into_frames(Instant& now, const std::vector<FrameWrench<double>>& world_wrenches,
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
      motors_(VectorX<double>::Zero(model_.velocity_size())),
      space_(model_),
      a_(motors_) {
  loads_.tau = motors_;
  const bool has_friction = model_.canonical().has_friction;
  if (has_friction && options.friction == WorldOptions::Friction::smooth) {
    add<SmoothFriction>(model_, options.curve);
  }
  if (options.stops == WorldOptions::Stops::soft) {
    auto stops = std::make_unique<SoftStops>(model_, options.soft_stops);
    if (!stops->stops().empty()) add_law(std::move(stops));
  }
  StickingJoints::Parameters sticking;
  sticking.friction = options.friction == WorldOptions::Friction::exact;
  sticking.stops = options.stops == WorldOptions::Stops::hard;
  sticking.curve = options.curve;
  sticking.restitution = options.restitution;
  if (sticking.friction || sticking.stops) {
    sticking_ = std::make_unique<StickingJoints>(model_, sticking);
  }
  if (!model_.loops().empty()) loops_ = std::make_unique<LoopKeeper>(model_);
  if (options.dynamics == WorldOptions::Dynamics::compiled && CompiledMotion::serves(model_)) {
    compiled_ = std::make_unique<CompiledMotion>(model_, kEffects);
  }
}

World::~World() = default;

State<double> World::initial_state() {
  State<double> s = make_state(model_, extra_size());
  settle(s);
  return s;
}

void World::add_law(std::unique_ptr<ForceLaw> law) {
  laws_.push_back(std::move(law));
  std::size_t room = 0;
  for (const auto& each : laws_) room += static_cast<std::size_t>(each->max_wrenches());
  loads_.wrenches.reserve(room);
  loads_.world_wrenches.reserve(room);
  prepared_ = compiled_ == nullptr;
}

/// Compiles for the places of all laws, once they are there.
void World::prepare() {
  std::vector<WrenchPort> ports;
  for (const auto& law : laws_) law->append_ports(ports);
  compiled_->set_ports(ports);
  prepared_ = true;
}

void World::set_actuators(std::vector<Actuator> actuators) {
  actuators_ = Actuators(model_, std::move(actuators));
}

void World::hold(double t) {
  if (!prepared_) prepare();
  actuators_.hold(t);
  for (const auto& law : laws_) law->hold(t);
}

double World::next_jump(double t) const {
  double next = actuators_.next_jump(t);
  for (const auto& law : laws_) next = std::min(next, law->next_jump(t));
  return next;
}

Contacts& World::set_contact(ContactSetup setup) {
  contacts_ = std::make_unique<Contacts>(model_, std::move(setup));
  if (compiled_ != nullptr) {
    CompileOptions options;
    options.effects = kEffects;
    mass_matrix_ = std::make_unique<Compiled>(model_, std::vector{Function::crba}, options);
    contacts_->use(mass_matrix_.get());
  }
  return *contacts_;
}

void World::settle(State<double>& s) {
  if (!prepared_) prepare();
  if (contacts_ != nullptr) contacts_->settle(s);
  if (loops_ == nullptr || (compiled_ != nullptr && compiled_->close(s))) return;
  loops_->close(model_, s);
}

void World::read_wrenches(const State<double>& s, std::vector<FrameWrench<double>>& wrenches) {
  wrenches.assign(loads_.wrenches.begin(), loads_.wrenches.end());
  if (loads_.world_wrenches.empty()) return;
  Instant now(model_, s, kinematics_);
  turn_into_frames(now, loads_.world_wrenches, wrenches);
}

void World::rates(const State<double>& s, VectorX<double>& a, VectorX<double>& dx) {
  motors_.setZero();
  actuators_.evaluate(s, motors_, dx);
  loads_.tau = motors_;
  loads_.wrenches.clear();
  loads_.world_wrenches.clear();
  Instant now(model_, s, kinematics_);
  for (const auto& law : laws_) law->add(now, loads_);
  if (compiled_ != nullptr && compiled_->accelerate(s, loads_, a)) return;
  turn_into_frames(now, loads_.world_wrenches, loads_.wrenches);
  loads_.world_wrenches.clear();
  const int singular = loads_.wrenches.empty()
                           ? aba(model_, work_, s.q, s.v, loads_.tau, a, kEffects)
                           : aba(model_, work_, s.q, s.v, loads_.tau, loads_.wrenches, a, kEffects);
  if (singular >= 0) {
    fail_step("simulate", s.t,
              fmt::format("no inertia opposes velocity {} of the robot", singular));
  }
}

double World::straight_step() const {
  return contacts_ != nullptr ? contacts_->straight_step()
                              : std::numeric_limits<double>::infinity();
}

/// Velocities at the end of a step of length h without impulses, once more, from the accelerations
/// at the mean of the velocities instead of the first ones: forces that grow with their square then
/// keep the energy as well as those of the positions do (docs/adr/0011-contact.md).
void World::center_velocity(const State<double>& before, double h, VectorX<double>& v) {
  middle_.t = before.t;
  middle_.q = before.q;
  middle_.x = before.x;
  middle_.v = (before.v + v) / 2;
  // What stands will be held as in the last step; the blow of an impact does not come again.
  const VectorX<double>& held = contacts_->impulse_acceleration();
  if (contacts_->ended_at(before.t) &&
      h * held.lpNorm<1>() <= kNoBlow * (v - before.v).lpNorm<1>()) {
    middle_.v += h / 2 * held;
  }
  if (dx_.size() != before.x.size()) dx_ = before.x;
  rates(middle_, a_, dx_);
  v = before.v + h * a_;
  space_.keep_axes(middle_.v, h, v);
}

void World::add_impulses(const State<double>& before, const double& h, VectorX<double>& v) {
  if (contacts_ != nullptr) {
    // rad/s and m/s together; below, the forces that grow with their square are nothing.
    constexpr double kSlow = 0.1;
    if (before.v.lpNorm<1>() > kSlow) center_velocity(before, h, v);
    contacts_->apply(model_, before, h, v, sticking_.get());
  } else if (sticking_ != nullptr) {
    sticking_->apply(model_, work_, before, h, v);
  }
}

World::Energy World::energy(const State<double>& s) {
  Instant now(model_, s, kinematics_);
  Energy energy;
  energy.kinetic = kinetic_energy(model_, now.kinematics());
  energy.potential = potential_energy(model_, now.kinematics());
  for (const auto& law : laws_) energy.stored += law->energy(now);
  if (contacts_ != nullptr) energy.stored += contacts_->stored();
  return energy;
}

Force<double> World::momentum(const State<double>& s) {
  if (!(model_.total_mass() > 0)) return {};
  Instant now(model_, s, kinematics_);
  return centroidal_momentum(model_, now.kinematics());
}

}  // namespace limb
