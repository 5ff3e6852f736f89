// Recovery of the estimate after minutes without contact, and from wrong states.
#include <gtest/gtest.h>

#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// A quadruped that stands, is lifted for minutes with its feet in the air, and walks on from the
/// same place. Its IMU measures all of it.
class Journey {
 public:
  Journey(FilterKind kind, double minutes, double sway)
      : noisy_(testing::quadruped_walk({}), testing::typical_errors(), 6),
        estimator_(noisy_walk().model(), noisy_walk().options().feet, "",
                   testing::gated_options(kind, 0.999)) {
    while (noisy_.next() && noisy_.instant().t < 1.1) process();
    // Oscillates about its pose at 1 Hz; the position of the sensor does not change.
    const double start = noisy_.instant().t;
    const FilterState held = noisy_.truth();
    const double rate = 2 * std::numbers::pi, T = 0.005;
    for (int k = 1; k * T < 60 * minutes; ++k) {
      const double t = k * T;
      const Vec turn(sway * std::sin(rate * t), 0, 0);
      ImuSample sample{Vec(rate * sway * std::cos(rate * t), 0, 0),
                       so3::exp<double>(-turn) * held.R_WS.transpose() * Vec(0, 0, 9.81)};
      sample.gyro += held.gyro_bias;
      sample.accel += held.accel_bias;
      estimator_.imu(start + t, sample);
    }
    after_ = 60 * minutes;
    testing::expect_valid(estimator_.filter());
  }

  /// Walks on, with its feet and optionally with fixes.
  void continue_walk(bool fixes) {
    int k = 0;
    while (noisy_.next()) {
      process();
      if (!fixes || ++k % 20 != 0) continue;
      const double t = noisy_.instant().t + after_;
      estimator_.position_fix(t, noisy_.truth().p_WS, Vec::Zero(), 1e-4 * Mat::Identity());
      const Vec x = noisy_.truth().R_WS.col(0);
      estimator_.yaw_fix(t, std::atan2(x.y(), x.x()), 0.01);
    }
    testing::expect_valid(estimator_.filter());
  }

  const FilterState& truth() const { return noisy_.truth(); }
  const FilterState& state() const { return estimator_.filter().state(); }
  const EstimatorDiagnostics& counts() const { return estimator_.diagnostics(); }
  Vec deviation(int index) const {
    return estimator_.filter().common_covariance().diagonal().segment<3>(index).cwiseSqrt();
  }
  double tilt_error() const {
    const Vec up = truth().R_WS.transpose().col(2), found = state().R_WS.transpose().col(2);
    return up.cross(found).norm();
  }

 private:
  static const SyntheticWalk& noisy_walk() { return testing::quadruped_walk({}); }
  void process() {
    const double t = noisy_.instant().t + after_;
    std::vector<double> forces(4);
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy_.instant().contact[i] ? 100 : 0;
    estimator_.imu(t, noisy_.imu());
    estimator_.legs(t, noisy_.q(), noisy_.v(), forces);
  }

  NoisyWalk noisy_;
  BaseEstimator estimator_;
  double after_ = 0;
};

class BaseEstimatorRecovery : public ::testing::TestWithParam<FilterKind> {};

// At rest: tilt and velocity are reinitialized.
TEST_P(BaseEstimatorRecovery, AfterFiveMinutesAtRestWithoutFeet) {
  Journey journey(GetParam(), 5, 0);
  EXPECT_GT(journey.counts().velocity_lost, 3u);
  EXPECT_GT(journey.counts().rest_recovered, 3u);
  const auto refused = journey.counts().feet_rejected;
  journey.continue_walk(false);
  EXPECT_EQ(journey.counts().updates_failed, 0u);
  EXPECT_LT(journey.counts().feet_rejected, refused + 20);
  EXPECT_LT((journey.state().v_WS - journey.truth().v_WS).norm(), 0.05);
  EXPECT_LT(journey.tilt_error(), 0.02);
  // The position is uncertain, with a consistent covariance.
  const Vec error = journey.state().p_WS - journey.truth().p_WS;
  EXPECT_LT(error.cwiseQuotient(journey.deviation(ErrorIndex::position)).norm(), 4);
}

// Swaying, without rest: only the feet correct velocity and tilt.
TEST_P(BaseEstimatorRecovery, AfterFiveMinutesOfSwayingWithoutFeet) {
  Journey journey(GetParam(), 5, 0.2);
  EXPECT_GT(journey.counts().velocity_lost, 3u);
  EXPECT_EQ(journey.counts().rest_recovered, 0u);
  journey.continue_walk(false);
  EXPECT_LT((journey.state().v_WS - journey.truth().v_WS).norm(), 0.1);
  EXPECT_LT(journey.tilt_error(), 0.05);
}

TEST_P(BaseEstimatorRecovery, FixesRecoverThePosition) {
  for (const double sway : {0.0, 0.2}) {
    Journey journey(GetParam(), 5, sway);
    journey.continue_walk(true);
    EXPECT_GT(journey.counts().fixes_used, 50u);
    EXPECT_LT((journey.state().p_WS - journey.truth().p_WS).norm(), 0.05) << sway;
    EXPECT_LT(journey.tilt_error(), 0.03) << sway;
    const Vec error = journey.state().p_WS - journey.truth().p_WS;
    EXPECT_LT(error.cwiseQuotient(journey.deviation(ErrorIndex::position)).norm(), 6) << sway;
  }
}

// A wrong state with a small covariance is reset when all measurements contradict it.
TEST_P(BaseEstimatorRecovery, FromAnOverconfidentWrongState) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  BaseEstimator estimator(walk.model(), walk.options().feet, "",
                          testing::gated_options(GetParam(), 0.999));
  std::vector<double> forces(4);
  int k = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    if (k == 0) {
      FilterState wrong = noisy.truth();
      wrong.v_WS += Vec(3, 0, 0);
      wrong.p_WS += Vec(20, -10, 3);
      wrong.R_WS = so3::exp<double>(Vec(0, 0, 2)) * wrong.R_WS;
      estimator.initialize(t, wrong, 1e-6 * Matrix15::Identity());
    }
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    estimator.imu(t, noisy.imu());
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (++k % 10 != 0) continue;
    estimator.position_fix(t, noisy.truth().p_WS, Vec::Zero(), 1e-4 * Mat::Identity());
    const Vec x = noisy.truth().R_WS.col(0);
    estimator.yaw_fix(t, std::atan2(x.y(), x.x()), 0.01);
  }
  testing::expect_valid(estimator.filter());
  EXPECT_GT(estimator.diagnostics().feet_recovered, 0u);
  EXPECT_GT(estimator.diagnostics().fixes_recovered, 1u);  // position and heading
  const FilterState &x = estimator.filter().state(), &truth = noisy.truth();
  EXPECT_LT((x.p_WS - truth.p_WS).norm(), 0.05);
  EXPECT_LT((x.v_WS - truth.v_WS).norm(), 0.1);
  EXPECT_LT(so3::log<double>(x.R_WS.transpose() * truth.R_WS).norm(), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BaseEstimatorRecovery,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
