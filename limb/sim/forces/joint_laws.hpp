#pragma once

#include "limb/sim/forces/force_law.hpp"

/// Joint springs, soft stops and smooth friction.
namespace limb {

/// A scalar coordinate of a joint, by its indices before couplings: followers of a coupling are
/// included.
struct JointCoordinate {
  int q = 0, v = 0;  ///< index in q and v before couplings
};
/// Coordinates and velocities of all joints, before couplings: those of the state itself, or with
/// couplings the buffer with their values.
const VectorX<double>& joint_positions(const ForceInput& now, VectorX<double>& buffer);
const VectorX<double>& joint_velocities(const ForceInput& now, VectorX<double>& buffer);

/// Every scalar coordinate (an angle or a length whose rate is a velocity), in joint order.
std::vector<JointCoordinate> scalar_coordinates(const Model<double>& model);
/// @throws Error unless the joint has one degree of freedom; for an unknown joint, with the nearest
/// name.
JointCoordinate joint_coordinate(const char* call, const Model<double>& model,
                                 std::string_view joint);

/// A spring and damper across a joint: tau = stiffness (rest - q) - damping v.
class JointSpring final : public ForceLaw {
 public:
  struct Parameters {
    double stiffness = 0;  ///< N m/rad or N/m
    double rest = 0;       ///< rad or m
    double damping = 0;    ///< N m s/rad or N s/m
  };
  JointSpring(const Model<double>& model, std::string_view joint, const Parameters& parameters);
  void add(ForceInput& now, AppliedLoads& loads) override;
  void add_stiffness(ForceInput& now, JointStiffness& joints) override;
  double energy(ForceInput& now) const override;
  EnergyEntry energy_entry() const override { return EnergyEntry::springs; }

 private:
  double coordinate(const VectorX<double>& y) const;
  JointCoordinate joint_;
  Coupling<double>::Row row_;  ///< the joint's q as a sum over the robot's q
  std::vector<int> yq_;        ///< index in q of each term
  Parameters parameters_;
};

/// Compliant stops at the joint limits of the model: beyond a limit, a unilateral spring and
/// damper. The stiffness of each joint is such that its inertia, in the neutral configuration,
/// oscillates with `frequency`.
class SoftStops final : public ForceLaw {
 public:
  struct Parameters {
    double frequency = 15;     ///< Hz; explicit methods: a step shorter than a tenth of its inverse
    double damping_ratio = 1;  ///< 1: critical, hardly any rebound; 0: elastic
  };
  explicit SoftStops(const Model<double>& model) : SoftStops(model, Parameters()) {}
  SoftStops(const Model<double>& model, const Parameters& parameters);
  void add(ForceInput& now, AppliedLoads& loads) override;
  void add_stiffness(ForceInput& now, JointStiffness& joints) override;
  bool is_active() const override { return is_active_; }
  bool begin_within(ForceInput& before, double h, const VectorX<double>& end_velocity) override;
  double energy(ForceInput& now) const override;
  EnergyEntry energy_entry() const override { return EnergyEntry::stops; }

  struct Stop {
    JointCoordinate coordinate;
    double lower, upper, stiffness, damping;
  };
  const std::vector<Stop>& stops() const { return stops_; }

 private:
  std::vector<Stop> stops_;
  std::vector<signed char> begins_;  ///< of each stop: within this step at the upper, lower limit
  bool any_begins_ = false, is_active_ = false;
  double step_ = 0;
  mutable VectorX<double> q_;
  VectorX<double> v_, tau_joints_, tau_;
};

/// Limits of a scalar coordinate; infinite by default.
double lower_limit(const Model<double>& model, const JointCoordinate& coordinate);
double upper_limit(const Model<double>& model, const JointCoordinate& coordinate);

/// How Coulomb friction depends on velocity.
struct FrictionCurve {
  double static_ratio = 1;       ///< static over kinetic friction, >= 1
  double stribeck_speed = 0.05;  ///< rad/s or m/s, decay of the static excess
  double smooth_speed = 1e-3;    ///< rad/s or m/s, width of the smooth transition
};

/// Coulomb friction of the model's joints as a smooth function of velocity, for any integrator:
///
///   tau = -(f + (f_s - f) exp(-(v / v_s)^2)) tanh(v / v_0)
///
/// A joint that should stick creeps, with a velocity of the order of v_0; JointImpulseSolver is
/// exact.
class SmoothFriction final : public ForceLaw {
 public:
  explicit SmoothFriction(const Model<double>& model) : SmoothFriction(model, FrictionCurve()) {}
  SmoothFriction(const Model<double>& model, const FrictionCurve& curve);
  void add(ForceInput& now, AppliedLoads& loads) override;
  void add_stiffness(ForceInput& now, JointStiffness& joints) override;
  EnergyEntry energy_entry() const override { return EnergyEntry::friction; }

 private:
  /// Friction over speed, of joint velocity i.
  double secant(Eigen::Index i, double v) const;

  FrictionCurve curve_;
  VectorX<double> friction_, v_, tau_joints_, tau_;
};

void check_friction(const char* call, const FrictionCurve& curve);

}  // namespace limb
