#include "limb/estimate/estimator/consistency_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

constexpr double kWindow = 1;  // s
/// Innovations of one foot are correlated over some hundredths of a second, so that a window has
/// the spread of about thirty independent rows: 1 +- 0.26. Beyond four deviations it is too high.
constexpr double kHigh = 2;
constexpr int kFewRows = 30;

}  // namespace

const char* to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::consistent:
      return "consistent";
    case Verdict::overconfident:
      return "overconfident";
    case Verdict::lost:
      return "lost";
  }
  return "";
}

void ConsistencyMonitor::reset() {
  *this = {};
}

void ConsistencyMonitor::add(double t, double nis, int rows, int measured, int refused) {
  if (open_ && !(t - start_ < kWindow && t >= start_)) close_window();
  if (!open_) {
    open_ = true;
    start_ = t;
  }
  sum_ += nis;
  rows_ += rows;
  window_measured_ += measured;
  window_refused_ += refused;
}

void ConsistencyMonitor::close_window() {
  total_sum_ += sum_;
  total_rows_ += rows_;
  measured_ += window_measured_;
  refused_ += window_refused_;
  if (rows_ >= kFewRows) {
    ++windows_;
    const double mean = sum_ / rows_;
    if (mean > kHigh) ++high_;
    if (mean > worst_) {
      worst_ = mean;
      worst_t_ = start_;
    }
  }
  sum_ = window_measured_ = window_refused_ = 0;
  rows_ = 0;
  open_ = false;
}

void ConsistencyMonitor::add_bias(double t, double square) {
  ++biases_;
  if (square < largest_bias_) return;
  largest_bias_ = square;
  bias_t_ = t;
}

void ConsistencyMonitor::set_lost(double t, const char* reason) {
  if (lost_) return;
  lost_ = true;
  lost_t_ = t;
  lost_reason_ = reason;
}

ConsistencyMonitor::Result ConsistencyMonitor::result() const {
  ConsistencyMonitor all = *this;
  if (all.open_) all.close_window();
  Result r;
  r.windows = all.windows_;
  r.windows_high = all.high_;
  if (all.total_rows_ > 0) r.nis_per_row = all.total_sum_ / all.total_rows_;
  if (all.windows_ > 0) r.worst_window = all.worst_;
  if (all.measured_ > 0) r.refused = all.refused_ / all.measured_;
  // One window in fifty may be high by chance or by one slip.
  constexpr double kMean = 1.3, kRefused = 0.2, kShare = 0.02;
  // Small steps of a bias are absorbed: the filter widens its biases.
  constexpr double kLargestBias = 300, kBiases = 3, kBiasesPerWindow = 0.05;
  if (lost_) {
    r.verdict = Verdict::lost;
    r.t = lost_t_;
    r.reason = lost_reason_;
  } else if (largest_bias_ > kLargestBias ||
             biases_ > kBiases + kBiasesPerWindow * static_cast<double>(r.windows)) {
    r.verdict = Verdict::overconfident;
    r.t = bias_t_;
    r.reason = "the mean of innovations is not zero: a bias of the IMU changed, or feet slide";
  } else if (r.nis_per_row > kMean) {
    r.verdict = Verdict::overconfident;
    r.t = all.worst_t_;
    r.reason = "innovations are larger than stated";
  } else if (static_cast<double>(all.high_) >
             std::max(0.0, kShare * static_cast<double>(all.windows_))) {
    r.verdict = Verdict::overconfident;
    r.t = all.worst_t_;
    r.reason = "innovations are larger than stated for a second or more";
  } else if (r.refused > kRefused) {
    r.verdict = Verdict::overconfident;
    r.t = all.worst_t_;
    r.reason = "too many measurements of feet are refused";
  }
  return r;
}

}  // namespace limb
