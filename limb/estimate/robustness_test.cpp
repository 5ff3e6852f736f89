// What real sensors do: slips, wrong contacts, gaps, stamps out of order, saturation, NaN. Each is
// handled and counted, and whatever comes, the covariance stays one.
#include <gtest/gtest.h>

#include "limb/estimate/testing/dog.hpp"
#include "limb/estimate/testing/monte_carlo.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

using testing::dog_walk;
using testing::expect_sound;
using testing::gated;

const std::vector<WalkOptions::Slip> kSlips(1);

/// Error of position at the end; `forces` may be changed before they are used.
template <typename Change>
double error_at_the_end(const SyntheticWalk& walk, const EstimatorOptions& options,
                        const Change& change, EstimatorDiagnostics* diagnostics = nullptr) {
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
  expect_sound(estimator.filter());
  if (diagnostics != nullptr) *diagnostics = estimator.diagnostics();
  return error.norm();
}
void as_it_is(double, std::vector<double>&) {}

class Robustness : public ::testing::TestWithParam<FilterKind> {};

TEST_P(Robustness, SlipsAreRefused) {
  const SyntheticWalk& walk = dog_walk(kSlips);
  EstimatorDiagnostics with, without;
  const double refused = error_at_the_end(walk, gated(GetParam(), 0.999), as_it_is, &with);
  const double believed = error_at_the_end(walk, gated(GetParam(), 1), as_it_is, &without);
  const double plain = error_at_the_end(dog_walk({}), gated(GetParam(), 0.999), as_it_is);
  std::printf(
      "slips: %.1f mm with gating, %.1f without, %.1f without slips; %d refused, %d slips\n",
      1e3 * refused, 1e3 * believed, 1e3 * plain, static_cast<int>(with.feet_refused),
      static_cast<int>(with.slips));
  EXPECT_GT(with.slips, 0u);
  EXPECT_EQ(without.feet_refused, 0u);
  EXPECT_LT(refused, 0.5 * believed);
}

TEST_P(Robustness, ContactsThatAreNoneAreRefused) {
  // A switch that sticks: one foot says that it stands, all the time.
  const auto stuck = [](double t, std::vector<double>& forces) {
    if (t > 2) forces[1] = 100;
  };
  EstimatorDiagnostics with;
  const double refused = error_at_the_end(dog_walk({}), gated(GetParam(), 0.999), stuck, &with);
  const double believed = error_at_the_end(dog_walk({}), gated(GetParam(), 1), stuck);
  // A switch that fails: one foot is never seen.
  const double missed =
      error_at_the_end(dog_walk({}), gated(GetParam(), 0.999),
                       [](double, std::vector<double>& forces) { forces[2] = 0; });
  std::printf("stuck contact: %.1f mm with gating, %.1f without; missed contact %.1f\n",
              1e3 * refused, 1e3 * believed, 1e3 * missed);
  EXPECT_GT(with.feet_refused, 50u);
  EXPECT_LT(refused, 0.3 * believed);
  EXPECT_LT(missed, 0.05);
}

TEST_P(Robustness, StampsAreKeptInOrder) {
  const SyntheticWalk& walk = dog_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  EstimatorOptions options = gated(GetParam(), 0.999);
  BaseEstimator straight(walk.model(), walk.options().feet, "", options),
      shuffled(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4, 100);
  ImuSample old;
  int k = 0;
  while (noisy.next() && k < 300) {
    const double t = noisy.instant().t;
    EXPECT_TRUE(straight.imu(t, noisy.imu()));
    straight.legs(t, noisy.q(), noisy.v(), forces);
    EXPECT_TRUE(shuffled.imu(t, noisy.imu()));
    EXPECT_FALSE(shuffled.imu(t, noisy.imu()));  // a duplicate
    if (k > 0) {
      EXPECT_FALSE(shuffled.imu(t - 0.005, old));  // and one too late
    }
    const bool used = shuffled.legs(t, noisy.q(), noisy.v(), forces);
    EXPECT_EQ(used, shuffled.ready());
    EXPECT_FALSE(shuffled.legs(t, noisy.q(), noisy.v(), forces));
    EXPECT_FALSE(shuffled.legs(t - 0.001, noisy.q(), noisy.v(), forces));
    old = noisy.imu();
    ++k;
  }
  // As if nothing had been.
  EXPECT_TRUE(shuffled.ready());
  EXPECT_EQ(straight.filter().state().p_WS, shuffled.filter().state().p_WS);
  EXPECT_EQ(straight.filter().covariance(), shuffled.filter().covariance());
  EXPECT_EQ(shuffled.diagnostics().imu_duplicate, 300u);
  EXPECT_EQ(shuffled.diagnostics().imu_late, 299u);
  EXPECT_EQ(shuffled.diagnostics().leg_duplicate, 300u);
  EXPECT_EQ(shuffled.diagnostics().leg_late, 300u);
  // Joints that are ahead of the filter are not used either.
  EXPECT_FALSE(shuffled.legs(shuffled.time() + 1, noisy.q(), noisy.v(), forces));
  EXPECT_EQ(shuffled.diagnostics().leg_early, 1u);
}

TEST_P(Robustness, GapsNaNAndSaturationAreCountedAndSurvived) {
  const SyntheticWalk& walk = dog_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  EstimatorOptions options = gated(GetParam(), 0.999);
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
    if (k == 700) imu.gyro.x() = 5;  // a knock
    EXPECT_EQ(estimator.imu(t, imu), k % 100 != 50);
    VectorX<double> q = noisy.q();
    if (k % 100 == 20) q[8] = nan;
    if (k % 100 == 30) forces[0] = nan;
    estimator.legs(t, q, noisy.v(), forces);
    if (estimator.ready()) error = estimator.filter().state().p_WS - noisy.truth().p_WS;
  }
  expect_sound(estimator.filter());
  const EstimatorDiagnostics& d = estimator.diagnostics();
  EXPECT_EQ(d.imu_gaps, 1u);
  EXPECT_EQ(d.imu_saturated, 1u);
  EXPECT_EQ(d.imu_not_finite, 12u);
  EXPECT_EQ(d.leg_not_finite, 11u);  // one was in the gap
  EXPECT_GE(d.contacts_not_finite, 9u);
  EXPECT_EQ(d.counts().size(), 27u);
  // The walk began at the origin of its own, with a height that the filter was not told.
  error.z() += noisy.truth().p_WS.z();
  EXPECT_LT(error.head<2>().norm(), 0.1);

  // A gap of a second: feet and velocity are forgotten, and found again.
  const double t = estimator.time() + 1;
  EXPECT_TRUE(estimator.imu(t, {Vec::Zero(), {0, 0, 9.81}}));
  EXPECT_EQ(estimator.diagnostics().imu_lost, 1u);
  EXPECT_EQ(estimator.filter().state().feet, 0);
  expect_sound(estimator.filter());
}

// One stamp of next year: half a second later the clock of all the other samples counts again, and
// the walk goes on.
TEST_P(Robustness, OneStampFarAheadIsForgotten) {
  const SyntheticWalk& walk = dog_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 8);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", gated(GetParam(), 0.999));
  std::vector<double> forces(4);
  double before = 0, refused = 0, error = 0;
  int k = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    const bool odd = ++k == 700;
    const bool taken = estimator.imu(odd ? t + 3e7 : t, noisy.imu());
    if (!taken) refused += t - before;
    before = t;
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (estimator.ready()) error = (estimator.filter().state().v_WS - noisy.truth().v_WS).norm();
  }
  EXPECT_EQ(estimator.diagnostics().clock_set_back, 1u);
  EXPECT_NEAR(refused, 0.5, 0.02);  // EstimatorOptions::lost_gap
  EXPECT_NEAR(estimator.time(), before, 1e-12);
  EXPECT_LT(error, 0.1);
  expect_sound(estimator.filter());
}

/// Numbers of any size to every function of an estimator.
void feed_anything(FilterKind kind, std::uint64_t seed) {
  const Model<double> dog = testing::walkers()[0].load();
  NoiseSource random(seed);
  EstimatorOptions options;
  options.filter = kind;
  options.ground_height = 0;
  // A number of any size, sometimes none.
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
    BaseEstimator estimator(dog, testing::walkers()[0].feet, "", options);
    estimator.initialize(0, {}, Matrix15::Identity());
    VectorX<double> q(dog.position_size()), v(dog.velocity_size());
    std::vector<double> forces(4);
    double t = 0;
    for (int k = 0; k < 4000; ++k) {
      t += 0.01 * (random.uniform() - 0.1);
      if (random.uniform() < 0.01) t += 3;
      estimator.imu(random.uniform() < 0.01 ? any() : t, {vector(5), vector(20)});
      // A stamp from the future has made all others late.
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
        expect_sound(estimator.filter());
        ASSERT_TRUE(estimator.estimate().covariance.allFinite());
      }
    }
    EXPECT_GT(estimator.diagnostics().feet_used, options.gate == 1 ? 100u : 0u);
  }
}

TEST_P(Robustness, AnythingAtAllLeavesACovariance) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    feed_anything(GetParam(), seed);
  }
}

TEST_P(Robustness, RestThenReplayGivesTheSameBits) {
  const SyntheticWalk& walk = dog_walk({});
  const EstimatorOptions options = gated(GetParam(), 0.999);
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
    // Stood still for a second before it walked.
    EXPECT_NEAR(ready, 1, 0.02);
    // In the origin of its own, at the height of which it was told nothing.
    const Vec way = estimator.estimate().X_WB.p;
    const Vec truth = noisy.truth().p_WS - walk.instants().front().truth.p_WS;
    EXPECT_LT((way - truth).norm(), 0.05);
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

INSTANTIATE_TEST_SUITE_P(Kinds, Robustness,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
