#pragma once

#include <array>

namespace limb {

/// Time stamps of a periodic stream of samples: its period, gaps, and samples that were delivered
/// late. A logger that stalls stamps a queue of old samples within a moment: after a gap, samples
/// follow at a fraction of the period until the queue is empty.
class SampleClock {
 public:
  void reset();
  /// The interval from the previous stamp to a new one, s, positive.
  void add(double T);

  /// s, median of the last intervals; NaN before the first ones.
  double period() const { return period_; }
  /// Whether an interval is a gap: more than three periods, and more than `longest`, s.
  bool is_gap(double T, double longest) const;
  /// s, the largest age of the last sample: zero, unless it may have waited in a queue.
  double delay() const { return delay_; }

 private:
  static constexpr int kRecent = 64;  ///< a queue of a few ten samples does not move the median
  void update_period();

  std::array<double, kRecent> recent_{};
  int count_ = 0, next_ = 0;
  double period_ = 0, delay_ = 0;
};

}  // namespace limb
