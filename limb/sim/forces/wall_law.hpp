#pragma once

#include "limb/sim/forces/force_law.hpp"

namespace limb {

/// A compliant plane against which one point of the robot, the origin of a frame, may press: a
/// unilateral spring and damper along the normal, and Coulomb friction, regularized near rest.
class WallLaw final : public ForceLaw {
 public:
  struct Parameters {
    FrameId frame;
    Vector3<double> point = Vector3<double>::Zero();    ///< m, any point of the plane, world
    Vector3<double> normal = Vector3<double>::UnitX();  ///< out of the wall, unit, world
    double stiffness = 1e4;                             ///< N/m
    double damping = 0;                                 ///< N s/m
    double friction = 0;                                ///< coefficient
    double slip = 1e-3;  ///< m/s: below it friction is proportional to the speed
  };
  /// @throws Error for an unknown frame, a normal that is not unit, or negative parameters.
  WallLaw(const Model<double>& model, const Parameters& parameters);

  void add(ForceInput& now, AppliedLoads& loads) override;
  int max_wrenches() const override { return 1; }
  void append_ports(std::vector<WrenchPort>& ports) const override {
    ports.push_back({parameters_.frame, WrenchAxes::frame});
  }
  /// Energy of the spring.
  double energy(ForceInput& now) const override;
  EnergyEntry energy_entry() const override { return EnergyEntry::walls; }

  /// Depth of the point inside the wall, m; negative: outside.
  double depth(ForceInput& now) const;

 private:
  Parameters parameters_;
};

}  // namespace limb
