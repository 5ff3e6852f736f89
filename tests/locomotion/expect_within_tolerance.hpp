#pragma once

#include <gtest/gtest.h>

#include "tests/locomotion/worst_step.hpp"

namespace limb::testing {

/// Every step was solved to the tolerance of the options, with forces inside their friction
/// pyramids and torques within their limits up to that tolerance, in units of the weight.
inline void expect_within_tolerance(const WorstStep& worst, double weight,
                                    double tolerance = QpOptions{}.tolerance) {
  EXPECT_GT(worst.steps, 0);
  EXPECT_EQ(worst.fall_backs, 0);
  EXPECT_EQ(worst.unsolved, 0);
  // The residuals computed by limb round differently from those of the solver.
  EXPECT_LE(worst.residuals.stationarity, 1.1 * tolerance);
  EXPECT_LE(worst.residuals.primal, 1.1 * tolerance);
  // The solver bounds the signed sum over all constraints by 10 tolerances. Measured: 3e-4.
  EXPECT_LE(worst.residuals.complementarity, 1000 * tolerance);
  EXPECT_LE(worst.residuals.dual, 10 * tolerance);
  EXPECT_LE(worst.outside_cone, 2 * tolerance * weight);
  EXPECT_LE(worst.over_limit, 2 * tolerance * weight);
}

}  // namespace limb::testing
