#include "limb/batch/strategy.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace limb {

const char* to_text(Strategy strategy) {
  constexpr const char* kNames[] = {"automatic", "straight_line", "recursion", "split"};
  return kNames[static_cast<int>(strategy)];
}

double fastest_ns(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  constexpr double kMaxTotal = 1e6;
  constexpr int kMinCalls = 3, kMaxCalls = 64;
  call();  // warms the caches
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int k = 0; k < kMinCalls || (k < kMaxCalls && total < kMaxTotal); ++k) {
    const auto start = Clock::now();
    call();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    best = std::min(best, ns);
    total += ns;
  }
  return best;
}

}  // namespace limb
