#pragma once

#include <utility>

#include "limb/dynamics/recursive/aba.hpp"
#include "limb/sim/contact/contacts.hpp"
#include "limb/sim/forces/actuators.hpp"
#include "limb/sim/forces/joint_impulse_solver.hpp"
#include "limb/sim/forces/joint_laws.hpp"
#include "limb/sim/world/loop_projection.hpp"

namespace limb {

class CompiledMotion;

struct WorldOptions {
  enum class Dynamics {
    templates,  ///< aba
    compiled,   ///< machine code for this robot, about three times as fast, compiled in
                ///< milliseconds; robots with both loops and couplings, and wrenches on frames
                ///< that no law declares, use aba
  };
  enum class Friction {
    none,    ///< no Coulomb friction of joints
    smooth,  ///< SmoothFriction, for any integrator
    exact,   ///< JointImpulseSolver, for the semi-implicit method
  };
  enum class Stops {
    none,  ///< joint limits are ignored
    soft,  ///< SoftStops, for any integrator
    hard,  ///< JointImpulseSolver, for the semi-implicit method
  };
  Friction friction = Friction::smooth;
  Stops stops = Stops::soft;
  FrictionCurve curve = {};
  SoftStops::Parameters soft_stops = {};
  double restitution = 0;  ///< of hard stops
  Dynamics dynamics = Dynamics::templates;
};

/// A robot and all forces on it, as an equation of motion:
///
///   M(q) a + h(q, v) = motors + force laws + J^T wrenches,  loops closed
///
/// Gravity, armature and viscous damping are those of the model. Evaluation does not allocate.
///
/// In a step of the semi-implicit method, forces quadratic in velocity are those of the mean
/// velocity of the step, and damping and springs of joints, with damping D and stiffness K
/// (ForceLaw::add_stiffness), act at its end:
///
///   (M + h D + h^2 K) a = forces at the start - h K v
///
/// which is stable for any D and K (docs/adr/0017-implicit-joint-forces.md).
class World final : public Equation<double> {
 public:
  explicit World(Model<double> model, const WorldOptions& options = {});
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Model<double>& model() const { return model_; }
  /// Number of states besides q and v.
  int extra_size() const { return actuators_.lags(); }
  /// Neutral configuration at rest, with closed loops.
  RobotState<double> initial_state();

  /// Adds a force law, owned by the world.
  template <typename Law, typename... Arguments>
  Law& add(Arguments&&... arguments) {
    auto law = std::make_unique<Law>(std::forward<Arguments>(arguments)...);
    Law& result = *law;
    add_law(std::move(law));
    return result;
  }
  void add_law(std::unique_ptr<ForceLaw> law);

  /// Adds ground and contact, for the semi-implicit method. Call before constructing a Simulation.
  Contacts& set_contact(ContactSetup setup);
  /// Null without contact.
  const Contacts* contacts() const { return contacts_.get(); }

  /// Default: one ideal actuator per actuated velocity. Invalidates existing states.
  void set_actuators(std::vector<Actuator> actuators);
  Actuators& actuators() { return actuators_; }

  /// Called at the start of a step: forces discontinuous in time take their value just after t.
  void begin_step(double t);
  /// The next discontinuity of a force after t.
  double next_jump(double t) const;
  /// Called after a step, and for the initial state: commits the impulses of contacts and closes
  /// the loops.
  void commit_step(RobotState<double>& s);
  /// s; accepted length of the last computed step: shorter where contact points or hinges move far
  /// in it.
  double accepted_step() const;
  /// Whether there are impulses, which only the semi-implicit method applies.
  bool has_impulses() const {
    return contacts_ != nullptr || (joint_impulses_ != nullptr && joint_impulses_->rows() > 0);
  }

  /// @throws Error (computation failed, with the time) if the mass matrix is singular.
  void rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>& dx) override;
  /// Evaluates the forces only: add_impulses() computes the velocities.
  void step_rates(const RobotState<double>& s, VectorX<double>& a, VectorX<double>& dx) override;
  void add_impulses(const RobotState<double>& before, const double& h, VectorX<double>& v) override;
  void end_part(const double& h, const VectorX<double>& v, bool first) override;

  struct Energy {
    double kinetic = 0, potential = 0, stored = 0;  ///< J; stored: in springs
    double total() const { return kinetic + potential + stored; }
  };
  Energy energy(const RobotState<double>& s);
  /// Damping and stiffness of all forces on joints in a state.
  const JointStiffness& stiffness(const RobotState<double>& s);

  // Energy ledger, for Simulation: the work of all forces, step by step. Steps of the semi-implicit
  // method and of the implicit midpoint rule are recorded as they are computed; for the others
  // Simulation calls one of the functions add_work().

  /// Starts the ledger in a state.
  void begin_ledger(const RobotState<double>& s);
  /// Energies, and the work since the start of the ledger.
  EnergyBalance balance(const RobotState<double>& s);
  /// Adds work of the forces of the last evaluation over a time h with these velocities.
  void add_work(double h, const VectorX<double>& v);
  /// Power of each entry, W, in a state.
  const EnergyEntries& powers(const RobotState<double>& s);
  /// Adds work of the step that the next commit_step() ends.
  void add_work(double h, const EnergyEntries& mean_power);
  /// Powers of the last evaluations by rates(), newest last; only after keep_powers().
  void keep_powers(std::size_t evaluations) { kept_powers_.resize(evaluations); }
  const std::vector<EnergyEntries>& kept_powers() const { return kept_powers_; }
  /// Centroidal momentum, about the centre of mass in world axes: N s, N m s. Without armature;
  /// zero for a robot without mass.
  Force<double> momentum(const RobotState<double>& s);
  /// Change of the accelerations of the last step because damping and springs act at its end.
  const VectorX<double>& implicit_acceleration();
  /// Motor torques of the last evaluation, on the velocities of the robot.
  const VectorX<double>& motor_torque() const { return motors_; }
  /// Forces of the last evaluation: tau includes the motors.
  const AppliedLoads& loads() const { return loads_; }
  /// The wrenches of loads(), all in the axes of their frames, as force sensors measure them; s is
  /// the state of that evaluation.
  void read_wrenches(const RobotState<double>& s, std::vector<FrameWrench<double>>& wrenches);

 private:
  void prepare();
  void center_velocity(const RobotState<double>& before, double h, VectorX<double>& v);
  void begin_forces_within(const RobotState<double>& before, const RobotState<double>& evaluated,
                           double h, VectorX<double>& v);
  void limit_rotation(const VectorX<double>& v0, double h, const VectorX<double>& v);
  void evaluate_forces(const RobotState<double>& s, VectorX<double>& dx);
  void accelerate(const RobotState<double>& s, VectorX<double>& a);
  void advance_velocity(const RobotState<double>& before, const RobotState<double>& evaluated,
                        double h, VectorX<double>& v);
  DelassusMatrix& step_mass();
  void add_stiffness(ForceInput& now);
  double wrench_power(std::size_t law, const Kinematics<double>& kinematics) const;
  void compute_powers(const VectorX<double>& v, EnergyEntries& powers);
  void record_step(const RobotState<double>& before, double h, const VectorX<double>& v);
  void commit_contact_work(const RobotState<double>& s);
  void commit_correction(const RobotState<double>& s, const VectorX<double>& displacement);
  void commit_work(const RobotState<double>& s);
  double stored_in_stops(const RobotState<double>& s);
  EnergyState energy_state(const RobotState<double>& s);

  Model<double> model_;
  Workspace<double> work_;
  Kinematics<double> kinematics_;
  Actuators actuators_;
  std::vector<std::unique_ptr<ForceLaw>> laws_;
  /// A law in the last evaluation and in the present step, for the energy ledger.
  struct LawWork {
    VectorX<double> tau;                        ///< on the velocities of the robot
    JointStiffness stiffness;                   ///< that acts at the end of a step
    std::vector<FrameWrench<double>> wrenches;  ///< in the axes of their frames
    std::vector<FrameWrench<double>> world_wrenches;
    bool acts = false, is_stiff = false;  ///< whether tau and wrenches, stiffness, are of this step
  };
  std::vector<LawWork> law_work_;
  EnergyLedger ledger_;
  EnergyEntries step_work_ = {}, powers_ = {};
  bool has_step_work_ = false;  ///< of a step that has not been committed yet
  bool has_wrenches_ = false;   ///< in the last evaluation
  double stored_in_stops_ = 0;  ///< J, after the last step
  bool has_damping_ = false;
  bool stops_begin_ = false;  ///< within the present step (ForceLaw::begin_within)
  std::vector<EnergyEntries> kept_powers_;
  std::unique_ptr<JointImpulseSolver> joint_impulses_;
  std::unique_ptr<LoopProjection> loops_;
  std::unique_ptr<StepFunctions> step_functions_;  ///< may be null
  std::unique_ptr<Contacts> contacts_;
  std::unique_ptr<CompiledMotion> compiled_;
  bool prepared_ = true;  ///< compiled for the present laws
  AppliedLoads loads_;
  VectorX<double> motors_;
  // Implicit forces of the last step: their stiffness, added inertia (zero: not implicit), sum and
  // configuration, and the change of acceleration, if it is computed.
  JointStiffness stiffness_;
  VectorX<double> added_inertia_;
  /// s; step of the added inertia, if only the model's damping is implicit: it is then constant.
  double added_inertia_step_ = std::numeric_limits<double>::quiet_NaN();
  bool implicit_ = false, has_implicit_acceleration_ = true;
  VectorX<double> implicit_acceleration_, implicit_force_, implicit_q_;
  std::vector<int> hinges_;  ///< joint velocities of hinges in a row
  double accepted_step_ = std::numeric_limits<double>::infinity();
  DelassusMatrix step_mass_;  ///< without contacts, or with loops
  // Scratch of center_velocity() and advance_velocity():
  ConfigurationSpace<double> space_;
  RobotState<double> middle_;
  VectorX<double> a_, dx_, tau_, reduced_, joint_tau_, joint_a_, joint_v_, joint_u_;
  // Scratch of the ledger: state of the last evaluation, mean velocities of the step.
  RobotState<double> evaluated_;
  VectorX<double> mean_v_, joint_mean_v_;
};

}  // namespace limb
