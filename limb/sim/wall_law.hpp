#pragma once

#include "limb/sim/force_law.hpp"

namespace limb {

/// A compliant plane that one point of the robot, the origin of a frame, may press into: a spring
/// and damper along its normal that pushes and never pulls, and Coulomb friction along it, smooth
/// about rest.
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
  /// @throws Error for a frame that the model has not, a normal that is not unit, negative numbers.
  WallLaw(const Model<double>& model, const Parameters& parameters);

  void add(Instant& now, Loads& loads) override;
  int max_wrenches() const override { return 1; }
  void append_ports(std::vector<WrenchPort>& ports) const override {
    ports.push_back({parameters_.frame, WrenchAxes::frame});
  }
  /// Of its spring.
  double energy(Instant& now) const override;

  /// How deep the point is inside, m; negative: outside.
  double depth(Instant& now) const;

 private:
  Parameters parameters_;
};

}  // namespace limb
