// The variance of what is held in a gap, against the closed form of a sine and of a ramp.
#include "limb/estimate/estimator/signal_variation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace limb {
namespace {

using Vec = Vector3<double>;

/// Variances of a sine A sin(w t) of one axis: its mean over T differs from the value before by
///   A^2 / 2 <|(e^{iwT} - 1) / (iwT) - 1|^2>, and from the mean of both ends by
///   A^2 / 2 |sin(x) / x - cos(x)|^2, x = w T / 2.
double of_last(double A, double w, double T) {
  const double x = w * T, re = std::sin(x) / x - 1, im = (1 - std::cos(x)) / x;
  return A * A / 2 * (re * re + im * im);
}
double of_mean(double A, double w, double T) {
  const double x = w * T / 2, d = std::sin(x) / x - std::cos(x);
  return A * A / 2 * d * d;
}

TEST(SignalVariation, OfASine) {
  constexpr double A = 0.7, w = 2 * 3.14159265358979 / 0.6;
  for (const double period : {0.001, 0.0025, 0.005, 0.01}) {
    SignalVariation variation;
    for (int k = 0; k * period < 12; ++k) {
      const double x = A * std::sin(w * k * period);
      variation.add(period, {Vec(x, 0, 0), Vec(0, 3 * x, 9.81)});
    }
    for (const double T : {0.025, 0.05, 0.1, 0.2}) {
      // The lags are whole numbers of samples: 30 ms instead of 25 at a period of 10 ms.
      EXPECT_NEAR(variation.of_last(T).gyro.x() / of_last(A, w, T), 1, T > 0.03 ? 0.35 : 0.5)
          << period << " " << T;
      EXPECT_NEAR(variation.of_mean(T).accel.y() / of_mean(3 * A, w, T), 1, T > 0.03 ? 0.35 : 0.8)
          << period << " " << T;
    }
    EXPECT_LT(variation.of_last(0.01).gyro.x(), variation.of_last(0.025).gyro.x());
    EXPECT_EQ(variation.of_last(1).gyro, variation.of_last(0.2).gyro);
    EXPECT_NEAR(variation.of_last(0.2).gyro.y(), 0, 1e-12);
  }
}

// A ramp differs from its last value by half of its change, and from the mean of both ends by
// nothing; a constant by nothing.
TEST(SignalVariation, OfARamp) {
  SignalVariation variation;
  EXPECT_FALSE(variation.is_known());
  EXPECT_TRUE(variation.of_last(0.1).gyro.isZero());
  constexpr double kSlope = 2, T = 0.1;
  for (int k = 0; k < 1000; ++k)
    variation.add(0.005, {Vec(0, kSlope * k * 0.005, 0), Vec(1, 2, 3)});
  EXPECT_TRUE(variation.is_known());
  EXPECT_NEAR(variation.of_last(T).gyro.y(), kSlope * kSlope * T * T / 4, 1e-9);
  EXPECT_NEAR(variation.of_mean(T).gyro.norm(), 0, 1e-9);
  EXPECT_NEAR(variation.of_last(T).accel.norm(), 0, 1e-9);
  // Half of a lag: a quarter of the variance below the first one.
  EXPECT_NEAR(variation.of_last(0.0125).gyro.y() / variation.of_last(0.025).gyro.y(), 0.25, 1e-9);
}

// What lies between two parts is not measured.
TEST(SignalVariation, AGapIsNotMeasured) {
  SignalVariation variation;
  for (int part = 0; part < 20; ++part) {
    variation.restart();
    for (int k = 0; k < 100; ++k) variation.add(0.005, {Vec(part % 2, 0, 0), Vec::Zero()});
  }
  EXPECT_NEAR(variation.of_last(0.2).gyro.norm(), 0, 1e-12);
}

}  // namespace
}  // namespace limb
