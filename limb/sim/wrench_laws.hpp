#pragma once

#include "limb/sim/force_law.hpp"
#include "limb/sim/random.hpp"

/// Wrenches on frames as functions of time.
namespace limb {

/// Pushes of constant wrench, each from its begin to its end.
class WrenchSchedule final : public ForceLaw {
 public:
  struct Push {
    FrameId frame;
    double begin = 0, end = 0;  ///< s
    Force<double> F;            ///< N, N m
    WrenchAxes axes = WrenchAxes::world;
  };
  /// @throws Error for a frame that the model has not, numbers that are not finite, or an end
  /// before its begin.
  WrenchSchedule(const Model<double>& model, std::vector<Push> pushes);
  void add(Instant& now, Loads& loads) override;
  int max_wrenches() const override { return static_cast<int>(pushes_.size()); }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  void hold(double t) override { held_ = t; }
  double next_jump(double t) const override;

 private:
  std::vector<Push> pushes_;
  double held_ = 0;
};

/// A wrench that is drawn anew every `period`: each component normal, with these deviations.
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
  void add(Instant& now, Loads& loads) override;
  int max_wrenches() const override { return 1; }
  void append_ports(std::vector<WrenchPort>& ports) const override;
  void hold(double t) override;
  double next_jump(double t) const override;

 private:
  Parameters parameters_;
  NoiseSource noise_;
  double index_ = -1;  ///< of the period that the wrench is for
  Force<double> F_;
};

}  // namespace limb
