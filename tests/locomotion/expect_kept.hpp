#pragma once

#include <gtest/gtest.h>

#include "tests/locomotion/worst.hpp"

namespace limb::testing {

/// Every step solved to the tolerance of the options; forces inside their pyramids and torques
/// inside their limits, but for that tolerance, which counts in weights.
inline void expect_kept(const Worst& worst, double weight,
                        double tolerance = QpOptions{}.tolerance) {
  EXPECT_GT(worst.steps, 0);
  EXPECT_EQ(worst.fall_backs, 0);
  EXPECT_EQ(worst.unsolved, 0);
  // The solver measures by its own sums; ours round otherwise.
  EXPECT_LE(worst.residuals.stationarity, 1.1 * tolerance);
  EXPECT_LE(worst.residuals.primal, 1.1 * tolerance);
  // The sum over all constraints is kept to 10 tolerances, but with signs. Measured: 3e-4.
  EXPECT_LE(worst.residuals.complementarity, 1000 * tolerance);
  EXPECT_LE(worst.residuals.dual, 10 * tolerance);
  EXPECT_LE(worst.outside_cone, 2 * tolerance * weight);
  EXPECT_LE(worst.over_limit, 2 * tolerance * weight);
}

}  // namespace limb::testing
