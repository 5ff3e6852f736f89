#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/// Times two implementations in turns in one run: windows of about 0.2 ms alternate between them
/// and the fastest window of each counts, so that other processes affect both equally.
namespace limb::bench {

using Clock = std::chrono::steady_clock;

inline double milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

struct Timing {
  std::string name;
  double limb_ns;
  double other_ns;
  [[nodiscard]] double ratio() const { return other_ns / limb_ns; }
};

/// One window: ns per call over `calls` calls of body(i), i = 0, 1, ...
template <typename Body>
double window_ns(Body& body, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) body(i);
  const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
  return elapsed.count() / calls;
}

template <typename Limb, typename Other>
Timing side_by_side(const std::string& name, Limb limb, Other other, int windows = 1000) {
  constexpr double kWindow = 0.2e6;
  const double guess = std::max({window_ns(limb, 100), window_ns(other, 100), 0.5});
  const int calls = std::max(1, static_cast<int>(kWindow / guess));
  Timing best{name, std::numeric_limits<double>::infinity(),
              std::numeric_limits<double>::infinity()};
  for (int k = 0; k < windows; ++k) {
    best.limb_ns = std::min(best.limb_ns, window_ns(limb, calls));
    best.other_ns = std::min(best.other_ns, window_ns(other, calls));
  }
  return best;
}

/// Prints a table with the ratio other / limb; limb is faster above 1.
inline void print(const std::string& title, const std::string& other,
                  const std::vector<Timing>& timings) {
  std::printf("%s\n%-44s %9s %9s %7s\n", title.c_str(), "", "limb ns", (other + " ns").c_str(),
              "ratio");
  for (const Timing& t : timings) {
    std::printf("%-44s %9.2f %9.2f %6.2fx%s\n", t.name.c_str(), t.limb_ns, t.other_ns, t.ratio(),
                t.ratio() < 0.97 ? "  slower" : "");
  }
}

}  // namespace limb::bench
