#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "limb/control/whole_body.hpp"

namespace limb::testing {

/// The worst of all steps of a run, by what the program promises.
struct Worst {
  QpResiduals residuals;
  double outside_cone = 0, over_limit = 0;
  int iterations = 0, fall_backs = 0, steps = 0, unsolved = 0;

  void take(const WholeBodyReport& r) {
    residuals.stationarity = std::max(residuals.stationarity, r.residuals.stationarity);
    residuals.primal = std::max(residuals.primal, r.residuals.primal);
    residuals.dual = std::max(residuals.dual, r.residuals.dual);
    residuals.complementarity = std::max(residuals.complementarity, r.residuals.complementarity);
    outside_cone = std::max(outside_cone, r.outside_cone);
    over_limit = std::max(over_limit, r.over_limit);
    iterations = std::max(iterations, r.iterations);
    fall_backs += r.fell_back ? 1 : 0;
    unsolved += r.status == QpStatus::solved ? 0 : 1;
    ++steps;
  }
};

/// Every step solved to the tolerance of the options; forces inside their pyramids and torques
/// inside their limits, but for that tolerance.
inline void expect_kept(const Worst& worst, double tolerance = QpOptions{}.tolerance) {
  EXPECT_GT(worst.steps, 0);
  EXPECT_EQ(worst.fall_backs, 0);
  EXPECT_EQ(worst.unsolved, 0);
  // The solver measures by its own sums; ours round otherwise.
  EXPECT_LE(worst.residuals.stationarity, 1.1 * tolerance);
  EXPECT_LE(worst.residuals.primal, 1.1 * tolerance);
  // What was found to tolerance is a multiplier of size up to 1e4 (a weight squared times an
  // acceleration) times a slack of the tolerance, or the other way round.
  EXPECT_LE(worst.residuals.complementarity, 1e4 * tolerance);
  EXPECT_LE(worst.residuals.dual, 10 * tolerance);
  EXPECT_LE(worst.outside_cone, 2 * tolerance);
  EXPECT_LE(worst.over_limit, 2 * tolerance);
}

}  // namespace limb::testing
