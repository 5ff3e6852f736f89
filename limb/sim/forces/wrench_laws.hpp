#pragma once

#include "limb/math/noise_generator.hpp"
#include "limb/sim/forces/force_law.hpp"

/// Wrenches on frames as functions of time.
namespace limb {

/// Constant wrenches, each during an interval of time.
class WrenchSchedule final : public ForceLaw {
 public:
  struct Push {
    FrameId frame;
    double begin = 0, end = 0;  ///< s
    Force<double> F;            ///< N, N m
    WrenchAxes axes = WrenchAxes::world;
  };
  /// @throws Error for an unknown frame, numbers that are not finite, or an end before its begin.
  WrenchSchedule(const Model<double>& model, std::vector<Push> pushes);
  void add(ForceInput& now, AppliedLoads& loads) override;
  int max_wrenches() const override { return static_cast<int>(pushes_.size()); }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  void begin_step(double t) override { t_ = t; }
  double next_jump(double t) const override;

 private:
  std::vector<Push> pushes_;
  double t_ = 0;  ///< start of the step
};

/// A random wrench, redrawn every `period`: each component normal, with these deviations.
class RandomWrench final : public ForceLaw {
 public:
  struct Parameters {
    FrameId frame;
    double force_deviation = 0;   ///< N, each component
    double moment_deviation = 0;  ///< N m, each component
    double period = 0.1;          ///< s
    WrenchAxes axes = WrenchAxes::world;
  };
  RandomWrench(const Model<double>& model, const Parameters& parameters, std::uint64_t seed);
  void add(ForceInput& now, AppliedLoads& loads) override;
  int max_wrenches() const override { return 1; }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  void begin_step(double t) override;
  double next_jump(double t) const override;

 private:
  Parameters parameters_;
  NoiseGenerator noise_;
  double index_ = -1;  ///< of the present period
  Force<double> F_;
};

}  // namespace limb
