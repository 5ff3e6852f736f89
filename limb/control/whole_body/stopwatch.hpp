#pragma once

#include <chrono>

namespace limb {

/// Measures elapsed wall-clock time, for the parts of a control step.
class Stopwatch {
 public:
  void restart() { start_ = Clock::now(); }
  double microseconds() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace limb
