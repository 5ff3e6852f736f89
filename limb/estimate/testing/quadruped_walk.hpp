#pragma once

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/estimate/testing/monte_carlo.hpp"
#include "limb/estimate/testing/robots.hpp"

namespace limb::testing {

/// A walk of the quadruped of a few seconds; with two slips if the argument is not empty.
inline const SyntheticWalk& quadruped_walk(const std::vector<WalkOptions::Slip>& slips) {
  static const auto make = [](const std::vector<WalkOptions::Slip>& with) {
    const Walker quadruped = walkers()[0];
    WalkOptions walking;
    walking.feet = quadruped.feet;
    walking.rate = 200;
    walking.duration = 6;
    walking.crouch = 0.25;
    walking.slips = with;
    return SyntheticWalk(quadruped.load(), walking);
  };
  static const SyntheticWalk plain = make({});
  // A front foot slides by half a step, twice. It lands at 1.24 s and every 0.6 s from then on.
  static const SyntheticWalk slipping =
      make({{0, 2.48, 2.7, {0.25, 0.1, 0}}, {0, 3.68, 3.9, {-0.2, 0.2, 0}}});
  return slips.empty() ? plain : slipping;
}
inline EstimatorOptions gated_options(FilterKind kind, double gate) {
  EstimatorOptions options = matching_options(typical_errors(), kind);
  options.gate = gate;
  options.foot_error = 1e-3;
  return options;
}

/// The covariance is finite, symmetric and positive semidefinite, and the state is valid.
inline void expect_valid(const BaseFilter& filter) {
  const MatrixX<double> P = filter.covariance();
  ASSERT_TRUE(P.allFinite());
  EXPECT_EQ((P - P.transpose()).norm(), 0);
  const VectorX<double> values = P.selfadjointView<Eigen::Lower>().eigenvalues();
  // Ascending. Semidefinite to the rounding of its largest variance.
  ASSERT_TRUE(values.allFinite());
  EXPECT_GT(values[0], -1e-12 * values[values.size() - 1]);
  EXPECT_TRUE(filter.state().R_WS.allFinite() && filter.state().p_WS.allFinite() &&
              filter.state().v_WS.allFinite());
  EXPECT_TRUE(is_rotation<double>(filter.state().R_WS, 1e-9));
}

}  // namespace limb::testing
