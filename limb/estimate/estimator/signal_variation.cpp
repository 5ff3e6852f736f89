#include "limb/estimate/estimator/signal_variation.hpp"

#include <algorithm>
#include <cmath>

namespace limb {

void SignalVariation::reset() {
  lags_ = {};
  now_ = {};
  count_ = next_ = 0;
}

void SignalVariation::add(double T, const ImuSample& sample) {
  constexpr double kMemory = 3;  // s
  if (count_ == 0) {
    now_ = {0, {}, sample, Vector3<double>::Zero()};
    entries_[0] = now_;
    count_ = next_ = 1;
    return;
  }
  now_.t += T;
  now_.distance += T * now_.integral.accel + T * T / 6 * (2 * now_.value.accel + sample.accel);
  now_.integral.gyro += T / 2 * (now_.value.gyro + sample.gyro);
  now_.integral.accel += T / 2 * (now_.value.accel + sample.accel);
  now_.value = sample;
  const auto entry = [&](int back) -> Entry& {
    return entries_[static_cast<std::size_t>((next_ - back + kEntries) % kEntries)];
  };
  const double spacing = now_.t - entry(1).t;
  if (spacing < kSpacing * (1 - 1e-6)) return;
  // One of the lags at a time.
  const std::size_t k = static_cast<std::size_t>(next_) % kLags.size();
  const int back = std::max(1, static_cast<int>(kLags[k] / spacing + 0.5));
  if (back <= count_) {
    const Entry& then = entry(back);
    const double time = now_.t - then.t;
    Lag& lag = lags_[k];
    // The mean of the past at first, fading from then on.
    lag.weight = std::min(lag.weight + 1, kMemory / (static_cast<double>(kLags.size()) * spacing));
    const auto add_square = [&](const Vector3<double>& difference, Vector3<double>& variance) {
      variance += (difference.cwiseAbs2() - variance) / lag.weight;
    };
    const auto add_both = [&](Vector3<double> ImuSample::*part, Vector3<double> Variance::*to) {
      const Vector3<double> mean = (now_.integral.*part - then.integral.*part) / time;
      add_square(mean - then.value.*part, lag.last.*to);
      add_square(mean - (then.value.*part + sample.*part) / 2, lag.mean.*to);
    };
    if (std::abs(time - kLags[k]) < 0.5 * kLags[k]) {
      add_both(&ImuSample::gyro, &Variance::gyro);
      add_both(&ImuSample::accel, &Variance::accel);
      // Both differences are constant over the time: their moments are the same.
      const Vector3<double> mean = (now_.integral.accel - then.integral.accel) / time;
      const Vector3<double> moment =
          (now_.distance - then.distance - time * then.integral.accel) / (time * time) - mean / 2;
      add_square(moment, lag.last.moment);
      lag.mean.moment = lag.last.moment;
    } else {
      --lag.weight;
    }
  }
  entries_[static_cast<std::size_t>(next_)] = now_;
  next_ = (next_ + 1) % kEntries;
  count_ = std::min(count_ + 1, kEntries);
}

bool SignalVariation::is_known() const {
  return std::any_of(lags_.begin(), lags_.end(), [](const Lag& lag) { return lag.weight > 0; });
}

SignalVariation::Variance SignalVariation::at(double T, Variance Lag::*kind) const {
  // Linear between the lags; proportional to T^2 below the first, constant beyond the last.
  double t_low = 0;
  Variance low;
  for (std::size_t i = 0; i < kLags.size(); ++i) {
    if (!(lags_[i].weight > 0)) continue;
    const Variance high = lags_[i].*kind;
    if (T <= kLags[i]) {
      const double ratio = (T - t_low) / (kLags[i] - t_low);
      const double share = t_low == 0 ? ratio * ratio : ratio;
      return {low.gyro + share * (high.gyro - low.gyro),
              low.accel + share * (high.accel - low.accel),
              low.moment + share * (high.moment - low.moment)};
    }
    low = high;
    t_low = kLags[i];
  }
  return low;
}

}  // namespace limb
