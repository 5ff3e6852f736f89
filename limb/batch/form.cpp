#include "limb/batch/form.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace limb {

const char* name(Form form) {
  constexpr const char* kNames[] = {"automatic", "straight line", "recursion", "split"};
  return kNames[static_cast<int>(form)];
}

double fastest_ns(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnough = 1e6;
  constexpr int kLeast = 3, kMost = 64;
  call();  // brings code and data near
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int k = 0; k < kLeast || (k < kMost && total < kEnough); ++k) {
    const auto start = Clock::now();
    call();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    best = std::min(best, ns);
    total += ns;
  }
  return best;
}

}  // namespace limb
