#pragma once

#include "limb/sim/force_law.hpp"

/// Forces between a joint's two sides.
namespace limb {

/// A joint of one freedom, as it stands among the joints' coordinates. Followers of a coupling
/// count too.
struct JointPlace {
  int q = 0, v = 0;  ///< index in the joints' q and v
};
/// Every plain coordinate (an angle or a length with one velocity), in the order of the joints.
std::vector<JointPlace> plain_coordinates(const Model<double>& model);
/// @throws Error if the joint has not one freedom, with the nearest name if there is none.
JointPlace joint_place(const char* call, const Model<double>& model, std::string_view joint);

/// A spring and damper across a joint: tau = stiffness (rest - q) - damping v.
class JointSpring final : public ForceLaw {
 public:
  struct Parameters {
    double stiffness = 0;  ///< N m/rad or N/m
    double rest = 0;       ///< rad or m
    double damping = 0;    ///< N m s/rad or N s/m
  };
  JointSpring(const Model<double>& model, std::string_view joint, const Parameters& parameters);
  void add(Instant& now, Loads& loads) override;
  double energy(Instant& now) const override;

 private:
  double coordinate(const VectorX<double>& y) const;
  Coupling<double>::Row row_;  ///< the joint's q as a sum over the robot's own
  std::vector<int> yq_;        ///< place in q of each term
  Parameters parameters_;
};

/// Stops at the limits of the model's joints: beyond a limit a spring and damper pushes back, and
/// never pulls. Each joint has the stiffness at which its own inertia, at the neutral
/// configuration, would oscillate with `frequency`.
class SoftStops final : public ForceLaw {
 public:
  struct Parameters {
    double frequency = 15;     ///< Hz; a step should be shorter than a tenth of its inverse
    double damping_ratio = 1;  ///< 1: critical, hardly any rebound; 0: all energy comes back
  };
  explicit SoftStops(const Model<double>& model) : SoftStops(model, Parameters()) {}
  SoftStops(const Model<double>& model, const Parameters& parameters);
  void add(Instant& now, Loads& loads) override;
  double energy(Instant& now) const override;

  struct Stop {
    JointPlace place;
    double lower, upper, stiffness, damping;
  };
  const std::vector<Stop>& stops() const { return stops_; }

 private:
  const VectorX<double>& expand(const Instant& now) const;
  std::vector<Stop> stops_;
  mutable VectorX<double> q_;
  VectorX<double> v_, tau_, own_;
};

/// Limits of a joint's plain coordinates, or infinite.
double lower_limit(const Model<double>& model, const JointPlace& place);
double upper_limit(const Model<double>& model, const JointPlace& place);

/// How Coulomb friction depends on velocity.
struct FrictionCurve {
  double static_ratio = 1;       ///< friction at rest over that in motion, >= 1
  double stribeck_speed = 0.05;  ///< rad/s or m/s at which the excess at rest has faded
  double smooth_speed = 1e-3;    ///< rad/s or m/s below which the smooth law is not yet full
};

/// Coulomb friction of the model's joints as a smooth function of velocity, for any integrator:
///
///   tau = -(f + (f_s - f) exp(-(v / v_s)^2)) tanh(v / v_0)
///
/// A joint that should stick creeps with at most v_0; exact sticking is StickingJoints'.
class SmoothFriction final : public ForceLaw {
 public:
  explicit SmoothFriction(const Model<double>& model) : SmoothFriction(model, FrictionCurve()) {}
  SmoothFriction(const Model<double>& model, const FrictionCurve& curve);
  void add(Instant& now, Loads& loads) override;

 private:
  FrictionCurve curve_;
  VectorX<double> friction_, v_, tau_, own_;
};

void check_friction(const char* call, const FrictionCurve& curve);

}  // namespace limb
