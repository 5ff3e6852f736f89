// Faults of real sensors: slips, wrong contacts, gaps, stamps out of order, saturation, NaN. Each
// is handled and counted, and the covariance stays valid for any input.
#include <gtest/gtest.h>

#include "limb/estimate/testing/monte_carlo.hpp"
#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

using testing::expect_valid;
using testing::gated_options;
using testing::quadruped_walk;

const std::vector<WalkOptions::Slip> kSlips(1);

/// Final position error; `change` may modify the forces before they are used.
template <typename Change>
double final_error(const SyntheticWalk& walk, const EstimatorOptions& options, const Change& change,
                   EstimatorDiagnostics* diagnostics = nullptr) {
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4);
  Vec error = Vec::Zero();
  while (noisy.next()) {
    const double t = noisy.instant().t;
    if (!estimator.ready()) {
      estimator.initialize(t, noisy.truth(),
                           Matrix15((1e-6 * Eigen::Matrix<double, 15, 1>::Ones()).asDiagonal()));
    }
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    change(t, forces);
    estimator.imu(t, noisy.imu());
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    error = estimator.filter().state().p_WS - noisy.truth().p_WS;
  }
  expect_valid(estimator.filter());
  if (diagnostics != nullptr) *diagnostics = estimator.diagnostics();
  return error.norm();
}
void unchanged(double, std::vector<double>&) {}

class BaseEstimatorRobustness : public ::testing::TestWithParam<FilterKind> {};

TEST_P(BaseEstimatorRobustness, SlipsAreRejected) {
  const SyntheticWalk& walk = quadruped_walk(kSlips);
  EstimatorDiagnostics with, without;
  const double rejected = final_error(walk, gated_options(GetParam(), 0.999), unchanged, &with);
  const double accepted = final_error(walk, gated_options(GetParam(), 1), unchanged, &without);
  const double plain = final_error(quadruped_walk({}), gated_options(GetParam(), 0.999), unchanged);
  std::printf(
      "slips: %.1f mm with gating, %.1f without, %.1f without slips; %d rejected, %d slips\n",
      1e3 * rejected, 1e3 * accepted, 1e3 * plain, static_cast<int>(with.feet_rejected),
      static_cast<int>(with.slips));
  EXPECT_GT(with.slips, 0u);
  EXPECT_EQ(without.feet_rejected, 0u);
  EXPECT_LT(rejected, 0.5 * accepted);
}

TEST_P(BaseEstimatorRobustness, FalseContactsAreRejected) {
  // A stuck switch: one foot always reports contact.
  const auto stuck = [](double t, std::vector<double>& forces) {
    if (t > 2) forces[1] = 100;
  };
  EstimatorDiagnostics with;
  const double rejected =
      final_error(quadruped_walk({}), gated_options(GetParam(), 0.999), stuck, &with);
  const double accepted = final_error(quadruped_walk({}), gated_options(GetParam(), 1), stuck);
  // A failed switch: one foot never reports contact.
  const double missed = final_error(quadruped_walk({}), gated_options(GetParam(), 0.999),
                                    [](double, std::vector<double>& forces) { forces[2] = 0; });
  std::printf("stuck contact: %.1f mm with gating, %.1f without; missed contact %.1f\n",
              1e3 * rejected, 1e3 * accepted, 1e3 * missed);
  EXPECT_GT(with.feet_rejected, 50u);
  EXPECT_LT(rejected, 0.3 * accepted);
  EXPECT_LT(missed, 0.05);
}

TEST_P(BaseEstimatorRobustness, SamplesOutOfOrderAreIgnored) {
  const SyntheticWalk& walk = quadruped_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  EstimatorOptions options = gated_options(GetParam(), 0.999);
  BaseEstimator straight(walk.model(), walk.options().feet, "", options),
      shuffled(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4, 100);
  ImuSample old;
  int k = 0;
  while (noisy.next() && k < 300) {
    const double t = noisy.instant().t;
    EXPECT_EQ(straight.imu(t, noisy.imu()), Status::ok);
    straight.legs(t, noisy.q(), noisy.v(), forces);
    EXPECT_EQ(shuffled.imu(t, noisy.imu()), Status::ok);
    EXPECT_NE(shuffled.imu(t, noisy.imu()), Status::ok);  // a duplicate
    if (k > 0) {
      EXPECT_NE(shuffled.imu(t - 0.005, old), Status::ok);  // a late sample
    }
    const bool used = shuffled.legs(t, noisy.q(), noisy.v(), forces) == Status::ok;
    EXPECT_EQ(used, shuffled.ready());
    EXPECT_NE(shuffled.legs(t, noisy.q(), noisy.v(), forces), Status::ok);
    EXPECT_NE(shuffled.legs(t - 0.001, noisy.q(), noisy.v(), forces), Status::ok);
    old = noisy.imu();
    ++k;
  }
  // The same result as without them.
  EXPECT_TRUE(shuffled.ready());
  EXPECT_EQ(straight.filter().state().p_WS, shuffled.filter().state().p_WS);
  EXPECT_EQ(straight.filter().covariance(), shuffled.filter().covariance());
  EXPECT_EQ(shuffled.diagnostics().imu_duplicate, 300u);
  EXPECT_EQ(shuffled.diagnostics().imu_late, 299u);
  EXPECT_EQ(shuffled.diagnostics().leg_duplicate, 300u);
  EXPECT_EQ(shuffled.diagnostics().leg_late, 300u);
  // Joint samples ahead of the filter are not used either.
  EXPECT_NE(shuffled.legs(shuffled.time() + 1, noisy.q(), noisy.v(), forces), Status::ok);
  EXPECT_EQ(shuffled.diagnostics().leg_early, 1u);
}

TEST_P(BaseEstimatorRobustness, GapsNaNAndSaturationAreHandled) {
  const SyntheticWalk& walk = quadruped_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  EstimatorOptions options = gated_options(GetParam(), 0.999);
  options.gyro_range = 5;
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4);
  const double nan = std::nan("");
  Vec error = Vec::Zero();
  int k = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    ++k;
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    if (t > 2 && t < 2.1) continue;  // a gap
    ImuSample imu = noisy.imu();
    if (k % 100 == 50) imu.accel.y() = nan;
    if (k == 700) imu.gyro.x() = 5;  // an impact
    EXPECT_EQ(estimator.imu(t, imu), k % 100 != 50 ? Status::ok : Status::not_finite);
    VectorX<double> q = noisy.q();
    if (k % 100 == 20) q[8] = nan;
    if (k % 100 == 30) forces[0] = nan;
    estimator.legs(t, q, noisy.v(), forces);
    if (estimator.ready()) error = estimator.filter().state().p_WS - noisy.truth().p_WS;
  }
  expect_valid(estimator.filter());
  const EstimatorDiagnostics& d = estimator.diagnostics();
  EXPECT_EQ(d.imu_gaps, 1u);
  EXPECT_EQ(d.imu_saturated, 1u);
  EXPECT_EQ(d.imu_not_finite, 12u);
  EXPECT_EQ(d.leg_not_finite, 11u);  // one was in the gap
  EXPECT_GE(d.contacts_not_finite, 9u);
  EXPECT_EQ(d.counts().size(), 37u);
  // The estimate starts at the origin; the height was not given.
  error.z() += noisy.truth().p_WS.z();
  EXPECT_LT(error.head<2>().norm(), 0.1);

  // A gap of a second: feet and velocity are reset.
  const double t = estimator.time() + 1;
  EXPECT_EQ(estimator.imu(t, {Vec::Zero(), {0, 0, 9.81}}), Status::ok);
  EXPECT_EQ(estimator.diagnostics().imu_lost, 1u);
  EXPECT_EQ(estimator.filter().state().feet, 0);
  expect_valid(estimator.filter());
}

// One stamp far in the future: after half a second the clock is set back to the other samples.
TEST_P(BaseEstimatorRobustness, OneStampFarInTheFutureIsDiscarded) {
  const SyntheticWalk& walk = quadruped_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 8);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", gated_options(GetParam(), 0.999));
  std::vector<double> forces(4);
  double before = 0, ignored = 0, error = 0;
  int k = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    const bool odd = ++k == 700;
    const bool taken = estimator.imu(odd ? t + 3e7 : t, noisy.imu()) == Status::ok;
    if (!taken) ignored += t - before;
    before = t;
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (estimator.ready()) error = (estimator.filter().state().v_WS - noisy.truth().v_WS).norm();
  }
  EXPECT_EQ(estimator.diagnostics().clock_set_back, 1u);
  EXPECT_NEAR(ignored, 0.5, 0.02);  // EstimatorOptions::lost_gap
  EXPECT_NEAR(estimator.time(), before, 1e-12);
  EXPECT_LT(error, 0.1);
  expect_valid(estimator.filter());
}

/// Calls every function of an estimator with arbitrary values.
void feed_arbitrary_values(FilterKind kind, std::uint64_t seed) {
  const Model<double> quadruped = testing::walkers()[0].load();
  NoiseGenerator random(seed);
  EstimatorOptions options;
  options.filter = kind;
  options.ground_height = 0;
  // A value of any magnitude, sometimes NaN or infinite.
  const auto any = [&] {
    const double u = random.uniform();
    if (u < 0.02) return std::nan("");
    if (u < 0.04) return std::numeric_limits<double>::infinity();
    if (u < 0.06) return 1e308 * random.normal();
    return std::pow(10, 6 * random.uniform() - 3) * random.normal();
  };
  const auto vector = [&](double scale) {
    const double x = random.normal(), y = random.normal(), z = random.normal();
    Vec v = scale * Vec(x, y, z);
    if (random.uniform() < 0.1) v[0] = any();
    return v;
  };
  for (int trial = 0; trial < 3; ++trial) {
    options.gate = trial == 0 ? 1 : 0.999;
    options.odometry = trial == 2 ? Odometry::velocity : Odometry::position;
    BaseEstimator estimator(quadruped, testing::walkers()[0].feet, "", options);
    estimator.initialize(0, {}, Matrix15::Identity());
    VectorX<double> q(quadruped.nq()), v(quadruped.nv());
    std::vector<double> forces(4);
    double t = 0;
    for (int k = 0; k < 4000; ++k) {
      t += 0.01 * (random.uniform() - 0.1);
      if (random.uniform() < 0.01) t += 3;
      estimator.imu(random.uniform() < 0.01 ? any() : t, {vector(5), vector(20)});
      // After a stamp from the future all others are late.
      if (estimator.time() > t) estimator.initialize(t, {}, Matrix15::Identity());
      for (auto& x : q) x = random.uniform() < 0.01 ? any() : random.normal();
      for (auto& x : v) x = random.uniform() < 0.01 ? any() : random.normal();
      for (auto& x : forces) x = random.uniform() < 0.05 ? any() : 100 * random.uniform();
      estimator.legs(t, q, v, forces);
      if (random.uniform() < 0.05) {
        estimator.position_fix(t, vector(10), vector(1), 1e-4 * Mat::Identity());
      }
      if (random.uniform() < 0.05) estimator.yaw_fix(t, any(), std::abs(any()));
      if (k % 50 == 0) {
        SCOPED_TRACE(k);
        expect_valid(estimator.filter());
        ASSERT_TRUE(estimator.estimate().covariance.allFinite());
      }
    }
    EXPECT_GT(estimator.diagnostics().feet_used, options.gate == 1 ? 100u : 0u);
  }
}

TEST_P(BaseEstimatorRobustness, ArbitraryInputKeepsTheCovarianceValid) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    feed_arbitrary_values(GetParam(), seed);
  }
}

TEST_P(BaseEstimatorRobustness, ReplayAfterResetIsBitIdentical) {
  const SyntheticWalk& walk = quadruped_walk({});
  const EstimatorOptions options = gated_options(GetParam(), 0.999);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  const auto replay = [&] {
    NoisyWalk noisy(walk, testing::typical_errors(), 6);
    std::vector<double> forces(4);
    double ready = -1;
    while (noisy.next()) {
      const double t = noisy.instant().t;
      for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
      estimator.imu(t, noisy.imu());
      estimator.legs(t, noisy.q(), noisy.v(), forces);
      if (ready < 0 && estimator.ready()) ready = t;
    }
    // At rest for a second before the walk.
    EXPECT_NEAR(ready, 1, 0.02);
    // Starts at the origin; the height was not given.
    const Vec path = estimator.estimate().X_WB.p;
    const Vec truth = noisy.truth().p_WS - walk.instants().front().truth.p_WS;
    EXPECT_LT((path - truth).norm(), 0.05);
  };
  replay();
  const FilterMatrix P = estimator.filter().covariance();
  const Vec p = estimator.filter().state().p_WS;
  estimator.reset();
  EXPECT_FALSE(estimator.ready());
  EXPECT_EQ(estimator.diagnostics().imu_samples, 0u);
  replay();
  EXPECT_EQ(p, estimator.filter().state().p_WS);
  EXPECT_EQ(P, estimator.filter().covariance());
}

INSTANTIATE_TEST_SUITE_P(Kinds, BaseEstimatorRobustness,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
