#include "limb/control/locomotion/gait.hpp"

#include <cmath>
#include <limits>

#include "limb/base/check.hpp"

namespace limb {

Gait::Phase Gait::phase(int foot, double t) const {
  if (duty >= 1) return {true, 0, std::numeric_limits<double>::infinity()};
  double s = t / period - offsets[static_cast<std::size_t>(foot)];
  s -= std::floor(s);
  if (s < duty) return {true, s / duty, (duty - s) * period};
  return {false, (s - duty) / (1 - duty), (1 - s) * period};
}

void Gait::check(const char* call, int feet) const {
  check_size(call, "offsets of gait '" + name + "'", static_cast<std::ptrdiff_t>(offsets.size()),
             feet, "one per foot");
  check_positive(call, "period of gait '" + name + "'", period);
  if (!(duty > 0 && duty <= 1)) {
    fail(call, "duty of gait '" + name + "'", to_text(duty), "above 0, at most 1");
  }
  for (const double offset : offsets) {
    if (!(offset >= 0 && offset < 1)) {
      fail(call, "offset of gait '" + name + "'", to_text(offset), "at least 0 and below 1");
    }
  }
}

Gait Gait::stand(int feet) {
  return {"stand", 1, 1, std::vector<double>(static_cast<std::size_t>(feet), 0)};
}
Gait Gait::trot(double period, double duty) {
  return {"trot", period, duty, {0, 0.5, 0.5, 0}};
}
// Touch-downs are a quarter of the period apart, in the order RL, FL, RR, FR.
Gait Gait::walk(double period, double duty) {
  return {"walk", period, duty, {0.25, 0.75, 0, 0.5}};
}

}  // namespace limb
