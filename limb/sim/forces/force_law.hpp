#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/dynamics/recursive/external.hpp"
#include "limb/dynamics/recursive/wrench_port.hpp"
#include "limb/sim/integrate/equation.hpp"
#include "limb/sim/world/energy_ledger.hpp"

/// Forces on a simulated robot besides gravity, motors and joint drives. Every kind of force is a
/// ForceLaw.
namespace limb {

/// State of a robot, for force laws, with kinematics computed on demand.
class ForceInput {
 public:
  ForceInput(const Model<double>& robot, const RobotState<double>& s,
             Kinematics<double>& kinematics)
      : model(robot), t(s.t), q(s.q), v(s.v), kinematics_(kinematics) {}

  const Model<double>& model;
  double t;
  const VectorX<double>&q, &v;

  /// Poses and velocities of all bodies; computed at the first call.
  const Kinematics<double>& kinematics() {
    if (!has_velocities_) forward_kinematics(model, q, v, kinematics_);
    has_velocities_ = has_poses_ = true;
    return kinematics_;
  }
  /// Poses only, in half the time.
  const Kinematics<double>& poses() {
    if (!has_poses_) forward_kinematics(model, q, kinematics_);
    has_poses_ = true;
    return kinematics_;
  }

 private:
  Kinematics<double>& kinematics_;
  bool has_velocities_ = false, has_poses_ = false;
};

/// Sum of the forces.
struct AppliedLoads {
  VectorX<double> tau;                              ///< on the velocities of the robot
  std::vector<FrameWrench<double>> wrenches;        ///< at the origin of their frame, in its axes
  std::vector<FrameWrench<double>> world_wrenches;  ///< at the origin of their frame, world axes

  void add(const WrenchPort& port, const Force<double>& F) {
    (port.axes == WrenchAxes::world ? world_wrenches : wrenches).push_back({port.frame, F});
  }
};

/// Damping and stiffness of the force on each joint velocity, before couplings; never negative.
struct JointStiffness {
  VectorX<double> damping;    ///< N m s/rad or N s/m
  VectorX<double> stiffness;  ///< N m/rad or N/m
  /// N m or N; forces that begin to act within a step (ForceLaw::begin_within): what they would be
  /// at its start with this stiffness.
  VectorX<double> force = {};
};

class ForceLaw {
 public:
  virtual ~ForceLaw() = default;

  /// Adds the force in this state. Must not allocate.
  virtual void add(ForceInput& now, AppliedLoads& loads) = 0;
  /// Adds how much the force on each joint falls with its velocity and its coordinate, for the
  /// semi-implicit method, which takes this part of the force at the end of the step. More than the
  /// derivatives is stable, too. Must not allocate.
  virtual void add_stiffness(ForceInput&, JointStiffness&) {}
  /// Whether the force of the last add() may be other than zero, and with it add_stiffness().
  virtual bool is_active() const { return true; }
  /// Notes which unilateral forces, such as those of stops, begin to act in a step of length h from
  /// the state `before` that ends with these joint velocities; add_stiffness() includes them from
  /// then on, so that they act at the end of the step as those that act from its start. h = 0:
  /// none. @returns whether that differs from the last call.
  virtual bool begin_within(ForceInput&, double, const VectorX<double>&) { return false; }
  /// Largest number of wrenches that add() appends.
  virtual int max_wrenches() const { return 0; }
  /// Appends their frames and axes, if known: compiled worlds are compiled for these, and use the
  /// slower templates if a wrench acts elsewhere.
  virtual void append_ports(std::vector<WrenchPort>&) const {}
  /// Stored (potential) energy, J.
  virtual double energy(ForceInput&) const { return 0; }
  /// The entry of the energy ledger for what this force adds or dissipates.
  virtual EnergyEntry energy_entry() const { return EnergyEntry::external; }

  /// Called at the start t of each step. A law that is discontinuous in time takes its value just
  /// after t and keeps it to the end of the step. Times never decrease.
  virtual void begin_step(double) {}
  /// The next discontinuity after t. Adaptive integrators end a step there.
  virtual double next_jump(double) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace limb
