#pragma once

#include <utility>

#include "limb/dynamics/aba.hpp"
#include "limb/sim/actuators.hpp"
#include "limb/sim/contact/contacts.hpp"
#include "limb/sim/joint_laws.hpp"
#include "limb/sim/loop_keeper.hpp"
#include "limb/sim/sticking_joints.hpp"

namespace limb {

class CompiledMotion;

struct WorldOptions {
  enum class Dynamics {
    templates,  ///< aba
    compiled,   ///< machine code for this robot, about three times as fast, made in milliseconds;
                ///< robots with both loops and couplings, and wrenches on frames that no law
                ///< names, take aba
  };
  enum class Friction {
    none,    ///< joints turn without Coulomb friction
    smooth,  ///< SmoothFriction, for any integrator
    exact,   ///< StickingJoints, for the semi-implicit method
  };
  enum class Stops {
    none,  ///< limits of joints are ignored
    soft,  ///< SoftStops, for any integrator
    hard,  ///< StickingJoints, for the semi-implicit method
  };
  Friction friction = Friction::smooth;
  Stops stops = Stops::soft;
  FrictionCurve curve = {};
  SoftStops::Parameters soft_stops = {};
  double restitution = 0;  ///< of hard stops
  Dynamics dynamics = Dynamics::templates;
};

/// A robot and all that acts on it, as the equation that integrators follow:
///
///   M(q) a + h(q, v) = motors + force laws + J^T wrenches,  loops closed
///
/// Weight, armature and viscous damping are the model's. Make it once; evaluating it does not
/// allocate.
class World final : public Equation<double> {
 public:
  explicit World(Model<double> model, const WorldOptions& options = {});
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Model<double>& model() const { return model_; }
  /// Numbers that a state has besides q and v.
  int extra_size() const { return actuators_.lags(); }
  /// Neutral, at rest, the loops closed.
  State<double> initial_state();

  /// One more force. Its law belongs to the world.
  template <typename Law, typename... Arguments>
  Law& add(Arguments&&... arguments) {
    auto law = std::make_unique<Law>(std::forward<Arguments>(arguments)...);
    Law& result = *law;
    add_law(std::move(law));
    return result;
  }
  void add_law(std::unique_ptr<ForceLaw> law);

  /// Ground that the robot can stand on, for the semi-implicit method. Before a Simulation is made.
  Contacts& set_contact(ContactSetup setup);
  /// Or null.
  const Contacts* contacts() const { return contacts_.get(); }

  /// Without this, one ideal actuator for each driven velocity. States made before are void.
  void set_actuators(std::vector<Actuator> actuators);
  Actuators& actuators() { return actuators_; }

  /// A step begins in a state: what jumps in time is held from here.
  void hold(double t);
  /// The next time after t at which something jumps.
  double next_jump(double t) const;
  /// After a step, and at the begin: loops that are not closed are closed.
  void settle(State<double>& s);
  /// s; as long as contacts can be sure of the step that was computed last (Contacts).
  double straight_step() const;
  /// Whether there are impulses, which the semi-implicit method alone applies.
  bool has_impulses() const {
    return contacts_ != nullptr || (sticking_ != nullptr && sticking_->rows() > 0);
  }

  /// @throws Error (computation failed, with the time) if no inertia opposes a velocity.
  void rates(const State<double>& s, VectorX<double>& a, VectorX<double>& dx) override;
  void add_impulses(const State<double>& before, const double& h, VectorX<double>& v) override;

  struct Energy {
    double kinetic = 0, potential = 0, stored = 0;  ///< J; stored: in springs
    double total() const { return kinetic + potential + stored; }
  };
  Energy energy(const State<double>& s);
  /// Of all that moves, about the mass centre, in world axes: N s, N m s. Armature has no part in
  /// it; a robot without mass has none.
  Force<double> momentum(const State<double>& s);
  /// Torques of the motors in the last evaluation, on the robot's own velocities.
  const VectorX<double>& motor_torque() const { return motors_; }
  /// Accelerations of the last evaluation are the caller's; what acted besides motors is here.
  const Loads& loads() const { return loads_; }
  /// Its wrenches, all in the axes of their frames, as sensors there feel them; s is the state of
  /// that evaluation.
  void read_wrenches(const State<double>& s, std::vector<FrameWrench<double>>& wrenches);

 private:
  void prepare();
  void center_velocity(const State<double>& before, double h, VectorX<double>& v);

  Model<double> model_;
  Workspace<double> work_;
  Kinematics<double> kinematics_;
  Actuators actuators_;
  std::vector<std::unique_ptr<ForceLaw>> laws_;
  std::unique_ptr<StickingJoints> sticking_;
  std::unique_ptr<LoopKeeper> loops_;
  std::unique_ptr<Compiled> mass_matrix_;  ///< of contacts
  std::unique_ptr<Contacts> contacts_;
  std::unique_ptr<CompiledMotion> compiled_;
  bool prepared_ = true;  ///< compiled for the laws that there are
  Loads loads_;
  VectorX<double> motors_;
  // Of center_velocity():
  ConfigurationSpace<double> space_;
  State<double> middle_;
  VectorX<double> a_, dx_;
};

}  // namespace limb
