#include "limb/estimate/filter/chi_square.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/error.hpp"

namespace limb {
namespace {

TEST(ChiSquare, ClosedForms) {
  for (const double x : {0.01, 0.5, 2.0, 7.0, 40.0}) {
    // Two degrees of freedom: 1 - exp(-x/2). One: erf(sqrt(x/2)). Four: 1 - exp(-x/2) (1 + x/2).
    EXPECT_NEAR(chi_square_probability(x, 2), -std::expm1(-x / 2), 1e-14);
    EXPECT_NEAR(chi_square_probability(x, 1), std::erf(std::sqrt(x / 2)), 1e-14);
    EXPECT_NEAR(chi_square_probability(x, 4), 1 - std::exp(-x / 2) * (1 + x / 2), 1e-14);
  }
  EXPECT_EQ(chi_square_probability(-1, 3), 0);
  EXPECT_EQ(chi_square_probability(std::numeric_limits<double>::infinity(), 3), 1);
}

// Standard tables.
TEST(ChiSquare, Tables) {
  EXPECT_NEAR(chi_square_quantile(0.95, 1), 3.841, 5e-4);
  EXPECT_NEAR(chi_square_quantile(0.95, 3), 7.815, 5e-4);
  EXPECT_NEAR(chi_square_quantile(0.999, 3), 16.266, 5e-4);
  EXPECT_NEAR(chi_square_quantile(0.025, 100), 74.222, 5e-4);
  EXPECT_NEAR(chi_square_quantile(0.975, 100), 129.561, 5e-4);
}

TEST(ChiSquare, QuantileInvertsProbability) {
  for (const double dof : {1.0, 3.0, 15.0, 750.0}) {
    for (const double p : {0.001, 0.3, 0.5, 0.99, 0.9999}) {
      EXPECT_NEAR(chi_square_probability(chi_square_quantile(p, dof), dof), p, 1e-12);
    }
  }
}

TEST(ChiSquare, BandOfAnAverage) {
  const ChiSquareBand band = chi_square_band(15, 50);
  // Nearly normal: 15 -+ 1.96 sqrt(2 15 / 50), and a little to the right.
  EXPECT_NEAR(band.low, 15 - 1.96 * std::sqrt(30.0 / 50), 0.06);
  EXPECT_NEAR(band.high, 15 + 1.96 * std::sqrt(30.0 / 50), 0.06);
}

TEST(ChiSquare, RejectsInvalidArguments) {
  EXPECT_THROW(chi_square_quantile(1, 3), Error);
  EXPECT_THROW(chi_square_quantile(0.5, 0), Error);
  EXPECT_THROW(chi_square_probability(1, -2), Error);
}

}  // namespace
}  // namespace limb
