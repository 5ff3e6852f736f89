// Standstill is found in white noise, and not in motion of any size that matters.
#include "limb/estimate/estimator/standstill_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/math/noise_generator.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

struct Found {
  int windows = 0;
  double worst = 0;  ///< distance of the rate from the bias
};

Found run(double rate, double seconds, double amplitude, double period, double noise_factor = 1) {
  const ImuNoise noise;
  const Vec bias(0.01, -0.02, 0.005);
  NoiseGenerator random(3);
  const double root = noise_factor * std::sqrt(rate);
  const auto vec = [&](double s) {
    return Vec(s * random.normal(), s * random.normal(), s * random.normal());
  };
  StandstillDetector detector;
  Found found;
  for (int k = 0; k < seconds * rate; ++k) {
    const double t = k / rate, sway = amplitude * std::cos(2 * 3.14159265358979 * t / period);
    const ImuSample sample{bias + Vec(sway, 0, 0) + vec(noise.gyro * root),
                           Vec(0, 0, 9.81) + vec(noise.accel * root)};
    if (!detector.add(t, sample, noise)) continue;
    ++found.windows;
    found.worst = worse(found.worst, (detector.rate() - bias).norm());
  }
  return found;
}

TEST(StandstillDetector, FindsRestAtAnyRate) {
  for (const double rate : {50.0, 200.0, 1000.0}) {
    const Found found = run(rate, 60, 0, 1);
    // A window of 0.8 s each, but for one in twenty that ends a quarter later; the mean of a window
    // has the density / sqrt(0.8) as deviation, 75 vectors within five of them.
    EXPECT_GE(found.windows, 60) << rate;
    EXPECT_LE(found.windows, 75) << rate;
    EXPECT_LT(found.worst, 5 * ImuNoise{}.gyro) << rate;
  }
}

TEST(StandstillDetector, ASwayIsMotion) {
  for (const double period : {0.6, 2.0}) {
    EXPECT_EQ(run(200, 60, 0.02, period).windows, 0) << period;
  }
  EXPECT_EQ(run(200, 60, 0.1, 4).windows, 0);
  // A slower one is not seen near its largest rate: BaseEstimator limits the change of the bias.
  EXPECT_LT(run(200, 60, 5e-3, 4).worst, 5e-3 + 5 * ImuNoise{}.gyro);
}

TEST(StandstillDetector, VibrationIsMotion) {
  EXPECT_EQ(run(200, 60, 0, 1, 3).windows, 0);
}

TEST(StandstillDetector, AnInterruptionStartsAgain) {
  const ImuNoise noise;
  StandstillDetector detector;
  int windows = 0;
  for (int k = 0; k < 2000; ++k) {
    if (k % 150 == 0) detector.restart();  // every 0.75 s
    windows += detector.add(k * 0.005, {Vec::Zero(), Vec(0, 0, 9.81)}, noise);
  }
  EXPECT_EQ(windows, 0);
}

}  // namespace
}  // namespace limb
