#pragma once

#include <stdexcept>
#include <string>

namespace limb::testing {

/// Bounds a loop that ends only if the code under test makes progress, so that a fault fails the
/// test instead of hanging it:
///   for (StepLimit limit(1000); limit.next() && s.t < 1;) integrator.advance(motion, s, 1);
class StepLimit {
 public:
  explicit StepLimit(long steps) : steps_(steps) {}
  /// True; throws after the given number of steps.
  bool next() {
    if (++taken_ > steps_) {
      throw std::runtime_error("the loop did not end within " + std::to_string(steps_) + " steps");
    }
    return true;
  }

 private:
  long steps_, taken_ = 0;
};

}  // namespace limb::testing
