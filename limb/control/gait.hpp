#pragma once

#include <string>
#include <vector>

namespace limb {

/// When each foot stands: a cycle of `period` in which a foot stands from its offset on for the
/// share `duty` and is in the air for the rest.
struct Gait {
  std::string name;
  double period = 1;            ///< s
  double duty = 1;              ///< share of the period on the ground, 0 to 1; 1: always
  std::vector<double> offsets;  ///< of each foot, share of the period at which it touches down

  bool operator==(const Gait&) const = default;
  double stance_time() const { return duty * period; }
  double swing_time() const { return (1 - duty) * period; }

  /// Where a foot is in its cycle at time t since the gait began.
  struct Phase {
    bool stands = true;
    double progress = 0;  ///< of the present part, 0 to 1
    double left = 0;      ///< s until the other part begins; infinite where none does
  };
  Phase phase(int foot, double t) const;

  /// @throws Error unless there is an offset for each of the feet, in [0, 1), a positive period and
  /// a duty above 0 and up to 1.
  void check(const char* call, int feet) const;

  /// All feet on the ground.
  static Gait stand(int feet);
  /// Feet are front left, front right, rear left, rear right. Diagonal pairs.
  static Gait trot(double period = 0.5, double duty = 0.55);
  /// One foot after the other: rear left, front left, rear right, front right.
  static Gait walk(double period = 1.0, double duty = 0.8);
};

}  // namespace limb
