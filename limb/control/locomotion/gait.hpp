#pragma once

#include <string>
#include <vector>

namespace limb {

/// Contact schedule of the feet: in each cycle of `period` a foot is in stance from its offset on
/// for the fraction `duty`, and in swing for the rest.
struct Gait {
  std::string name;
  double period = 1;            ///< s
  double duty = 1;              ///< fraction of the period in stance, 0 to 1; 1: always
  std::vector<double> offsets;  ///< phase of touch-down of each foot, fraction of the period

  bool operator==(const Gait&) const = default;
  double stance_time() const { return duty * period; }
  double swing_time() const { return (1 - duty) * period; }

  /// Phase of a foot at time t since the start of the gait.
  struct Phase {
    bool stands = true;
    double progress = 0;  ///< within stance or swing, 0 to 1
    double left = 0;      ///< s until the next change; infinite if it never changes
  };
  Phase phase(int foot, double t) const;

  /// @throws Error unless there is one offset in [0, 1) per foot, the period is positive, and the
  /// duty is above 0 and at most 1.
  void check(const char* call, int feet) const;

  /// All feet always in stance.
  static Gait stand(int feet);
  /// Diagonal pairs. Feet are front left, front right, rear left, rear right.
  static Gait trot(double period = 0.5, double duty = 0.55);
  /// One foot at a time: rear left, front left, rear right, front right.
  static Gait walk(double period = 1.0, double duty = 0.8);
};

}  // namespace limb
