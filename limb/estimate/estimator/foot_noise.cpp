#include "limb/estimate/estimator/foot_noise.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

constexpr double kLag = 0.1;      // s
constexpr double kMemory = 10;    // s
constexpr double kLongest = 0.1;  // s between samples that follow each other
/// The assumed noise counts as many changes as these.
constexpr double kPriorFast = 10, kPriorSlow = 20;
/// A squared change beyond this multiple of the expected one counts as much as that.
constexpr double kCut = 9;

}  // namespace

FootNoise::FootNoise(double contact_noise) : first_walk_(contact_noise) {
  reset();
}

void FootNoise::reset() {
  scale_ = 1;
  contact_noise_ = first_walk_;
  started_ = false;
  has_prior_ = false;
  prior_variance_ = 0;
  fast_ = slow_ = {};
  pairs_ = {};
}

void FootNoise::add(double t, const Foot* feet, int count) {
  const double T = started_ ? t - t_ : 0;
  const bool follows = started_ && T > 0 && T <= kLongest;
  started_ = true;
  t_ = t;
  if (follows) {
    const double factor = std::exp(-T / kMemory);
    fast_.fade(factor);
    slow_.fade(factor);
  }
  std::size_t k = 0;
  bool changed = false;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < i; ++j, ++k) {
      Pair& pair = pairs_[k];
      if (!feet[i].stands || !feet[j].stands) {
        pair.open = false;
        continue;
      }
      const Vector3<double> line = feet[i].p_SF - feet[j].p_SF;
      const double distance = line.norm();
      if (!(distance > 1e-3)) continue;
      const double variance =
          line.dot((feet[i].noise + feet[j].noise) * line) / (distance * distance);
      const double q = contact_noise_ * contact_noise_;
      if (!pair.open || !follows) {
        pair.anchor = distance;
        pair.anchor_variance = variance;
        pair.anchor_t = t;
        pair.walks = feet[i].walks || feet[j].walks;
      } else {
        if (!has_prior_) {
          has_prior_ = true;
          prior_variance_ = 2 * kPriorFast * variance;
        }
        const double change = distance - pair.distance, both = variance + pair.variance;
        fast_.add(std::min(change * change, kCut * (scale_ * both + 2 * q * T)), both, T);
        if (const double lag = t - pair.anchor_t; lag >= kLag) {
          const double slow = distance - pair.anchor, ends = variance + pair.anchor_variance;
          if (pair.walks && lag < 2 * kLag) {
            slow_.add(std::min(slow * slow, kCut * (scale_ * ends + 2 * q * lag)), ends, lag);
          }
          pair.anchor = distance;
          pair.anchor_variance = variance;
          pair.anchor_t = t;
          pair.walks = feet[i].walks || feet[j].walks;
          changed = true;
        }
      }
      pair.open = true;
      pair.distance = distance;
      pair.variance = variance;
    }
  }
  if (changed) solve();
}

void FootNoise::solve() {
  // squares = s^2 variances + 2 q^2 times, for both: the prior of s^2 in the first equation, that
  // of q^2 in the second.
  const double prior_time = kPriorSlow * kLag, prior_walk = first_walk_ * first_walk_;
  const double a = fast_.variances + prior_variance_, b = 2 * fast_.times, c = slow_.variances,
               d = 2 * (slow_.times + prior_time);
  const double fast = fast_.squares + prior_variance_,
               slow = slow_.squares + 2 * prior_time * prior_walk;
  const double determinant = a * d - b * c;
  if (!(determinant > 0)) return;
  scale_ = std::clamp((fast * d - slow * b) / determinant, kLeastScale, kLargestScale);
  const double walk = (slow - scale_ * c) / d;
  contact_noise_ = std::clamp(std::sqrt(std::max(0.0, walk)), std::min(first_walk_, kLeastWalk),
                              std::max(first_walk_, kLargestWalk));
}

}  // namespace limb
