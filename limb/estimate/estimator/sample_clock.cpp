#include "limb/estimate/estimator/sample_clock.hpp"

#include <algorithm>
#include <cmath>

namespace limb {

void SampleClock::reset() {
  count_ = next_ = 0;
  period_ = std::nan("");
  delay_ = 0;
}

void SampleClock::add(double T) {
  if (!std::isfinite(period_)) {
    delay_ = 0;
  } else if (T > 2 * period_) {
    // Until the next sample shows whether this one was late, it may be as old as the gap.
    delay_ += T - period_;
  } else if (T > period_ / 2) {
    delay_ = 0;  // no queue: samples were lost, or the queue is empty
  } else {
    delay_ = std::max(0.0, delay_ + T - period_);
  }
  recent_[static_cast<std::size_t>(next_)] = T;
  next_ = (next_ + 1) % kRecent;
  count_ = std::min(count_ + 1, kRecent);
  constexpr int kFirst = 8, kEvery = 16;
  if (count_ == kFirst || next_ % kEvery == 0) update_period();
}

void SampleClock::update_period() {
  std::array<double, kRecent> sorted = recent_;
  const auto middle = sorted.begin() + count_ / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + count_);
  period_ = *middle;
}

bool SampleClock::is_gap(double T, double longest) const {
  return T > longest && !(T <= 3 * period_);
}

}  // namespace limb
