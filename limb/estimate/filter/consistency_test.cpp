// Consistency of the filters: NEES and NIS over 50 seeded walks.
#include <gtest/gtest.h>

#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/testing/monte_carlo.hpp"
#include "limb/estimate/testing/robots.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

class Consistency : public ::testing::TestWithParam<FilterKind> {};

TEST_P(Consistency, FiftyWalksOfAQuadruped) {
  constexpr int kRuns = 50;
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 200;
  walking.duration = 12;
  walking.speed = 0.5;
  walking.crouch = 0.25;
  const SyntheticWalk walk(quadruped.load(), walking);
  const WalkErrors errors = testing::typical_errors();
  const EstimatorOptions options = testing::matching_options(errors, GetParam());

  constexpr int kEvery = 20;
  std::vector<double> nees;
  double nis = 0, nis_rows = 0, drift = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::size_t k = 0;
    FilterState from[2], to[2];
    testing::run_walk(walk, errors, options, static_cast<std::uint64_t>(run + 1),
                      [&](const NoisyWalk& noisy, const BaseEstimator& estimator) {
                        to[0] = estimator.filter().state();
                        to[1] = noisy.truth();
                        if (k == 0) std::copy_n(to, 2, from);
                        if (k++ % kEvery != 0) return;
                        const std::size_t at = (k - 1) / kEvery;
                        if (nees.size() <= at) nees.push_back(0);
                        nees[at] += estimator.filter().nees(noisy.truth()) / kRuns;
                        if (estimator.time() == walk.instants().back().t) {
                          nis += estimator.diagnostics().nis_sum;
                          nis_rows += static_cast<double>(estimator.diagnostics().nis_rows);
                        }
                      });
    // The initial yaw is unobservable: paths are compared after alignment.
    const double yaw = so3::log<double>(from[1].R_WS * from[0].R_WS.transpose()).z();
    const Vec path = axis_rotation<double>(2, yaw) * (to[0].p_WS - from[0].p_WS);
    drift += (path - (to[1].p_WS - from[1].p_WS)).norm() / walk.length() / kRuns;
  }
  // The average of 50 is inside the band with 95 % probability at each time; over many times about
  // one in twenty may be outside, and neighbouring times are correlated.
  const ChiSquareBand band = chi_square_band(15, kRuns);
  int inside = 0;
  double mean = 0;
  for (const double x : nees) {
    inside += x > band.low && x < band.high;
    mean += x / static_cast<double>(nees.size());
  }
  const double share = inside / static_cast<double>(nees.size());
  std::printf(
      "%s: NEES %.3f, band %.3f to %.3f, inside %.0f %% of times; NIS/row %.4f; drift %.3f "
      "%% of %.2f m\n",
      GetParam() == FilterKind::invariant ? "inekf" : "eskf", mean, band.low, band.high,
      100 * share, nis / nis_rows, 100 * drift, walk.length());
  EXPECT_GT(mean, band.low);
  EXPECT_LT(mean, band.high);
  EXPECT_GE(share, 0.9);
  // Over a million rows, whose mean has a deviation of 0.0013; the noise of a foot at touchdown is
  // that of all its rows, and the model is linearized.
  EXPECT_NEAR(nis / nis_rows, 1, 0.01);
  EXPECT_LT(drift, 0.01);
}

/// Ten walks of each robot, with point feet or soles.
TEST(ConsistencyOfWalkers, OnEveryRobot) {
  constexpr int kRuns = 10;
  for (const testing::Walker& walker : testing::available_walkers()) {
    WalkOptions walking;
    walking.feet = walker.feet;
    walking.imu = walker.imu;
    walking.rate = 200;
    walking.duration = 4;
    walking.rest = 0.3;
    const SyntheticWalk walk(walker.load(), walking);
    const WalkErrors errors = testing::typical_errors();
    const auto options = testing::matching_options(errors, FilterKind::invariant);
    double nees = 0;
    for (int run = 0; run < kRuns; ++run) {
      testing::run_walk(walk, errors, options, static_cast<std::uint64_t>(100 + run),
                        [&](const NoisyWalk& noisy, const BaseEstimator& estimator) {
                          if (estimator.time() < walk.instants().back().t) return;
                          nees += estimator.filter().nees(noisy.truth()) / kRuns;
                        });
    }
    // Only at the end: ten independent values. Five robots, so 99 %.
    const ChiSquareBand band = chi_square_band(15, kRuns, 0.99);
    std::printf("%-20s NEES at the end %.2f, band %.2f to %.2f\n", walker.name.c_str(), nees,
                band.low, band.high);
    EXPECT_GT(nees, band.low) << walker.name;
    EXPECT_LT(nees, band.high) << walker.name;
  }
}

/// Velocity odometry keeps no state of the feet, so that velocity errors accumulate.
TEST(ConsistencyOfWalkers, VelocityOdometryDriftsLittle) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 200;
  walking.duration = 12;
  walking.speed = 0.5;
  walking.crouch = 0.25;
  const SyntheticWalk walk(quadruped.load(), walking);
  const WalkErrors errors = testing::typical_errors();
  auto options = testing::matching_options(errors, FilterKind::invariant);
  options.odometry = Odometry::velocity;
  options.foot_speed = 0.01;
  double nees = 0, nis = 0, drift = 0;
  constexpr int kRuns = 10;
  for (int run = 0; run < kRuns; ++run) {
    Vec first = Vec::Zero();
    testing::run_walk(walk, errors, options, static_cast<std::uint64_t>(run + 1),
                      [&](const NoisyWalk& noisy, const BaseEstimator& e) {
                        // Relative to the initial error.
                        const Vec error = e.filter().state().p_WS - noisy.truth().p_WS;
                        if (noisy.instant().t == 0) first = error;
                        if (e.time() < walk.instants().back().t) return;
                        nees += e.filter().nees(noisy.truth()) / kRuns;
                        nis += e.diagnostics().nis_sum /
                               static_cast<double>(e.diagnostics().nis_rows) / kRuns;
                        drift += (error - first).norm() / walk.length() / kRuns;
                      });
  }
  std::printf(
      "velocity odometry: NEES %.2f, NIS/row %.3f, drift %.2f %% including the initial yaw error\n",
      nees, nis, 100 * drift);
  // Ten independent values at the end.
  const ChiSquareBand band = chi_square_band(15, kRuns, 0.99);
  EXPECT_GT(nees, band.low);
  EXPECT_LT(nees, band.high);
  // The speed of the feet, which do not move but for their creep, is assumed too large.
  EXPECT_LT(nis, 1);
  EXPECT_LT(drift, 0.03);
}

/// With the noise that the walk has: encoder rates through the Jacobian of the leg, and the
/// gyroscope through its lever arm, at 100 Hz, the bandwidth that velocity odometry assumes.
TEST_P(Consistency, VelocityOdometryHasTheNoiseOfItsSensors) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 100;
  walking.duration = 6;
  walking.crouch = 0.25;
  const SyntheticWalk walk(quadruped.load(), walking);
  for (const double gyro : {2e-3, 2e-2}) {
    WalkErrors errors = testing::typical_errors();
    errors.creep = 0;
    errors.imu.gyro = gyro;
    auto options = testing::matching_options(errors, GetParam());
    options.odometry = Odometry::velocity;
    options.foot_speed = 1e-5;
    double nis = 0, rows = 0;
    for (std::uint64_t run = 1; run <= 10; ++run) {
      testing::run_walk(walk, errors, options, run, [&](const NoisyWalk&, const BaseEstimator& e) {
        if (e.time() < walk.instants().back().t) return;
        nis += e.diagnostics().nis_sum;
        rows += static_cast<double>(e.diagnostics().nis_rows);
      });
    }
    std::printf("velocity odometry, gyroscope %.0e: NIS/row %.4f of %.0f\n", gyro, nis / rows,
                rows);
    // Fifty thousand rows have a deviation of 0.006; a gyroscope sample also enters the prediction,
    // whose error is therefore not independent of it.
    EXPECT_NEAR(nis / rows, 1, 0.05);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Consistency,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
