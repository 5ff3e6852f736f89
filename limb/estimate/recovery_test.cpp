// Minutes without feet, and states that are wrong: the estimate comes back by itself.
#include <gtest/gtest.h>

#include "limb/estimate/testing/dog.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// A dog that stands, is carried about for minutes with its feet in the air, and walks on from
/// where it was. Its IMU sees all of it.
class Journey {
 public:
  Journey(FilterKind kind, double minutes, double sway)
      : noisy_(testing::dog_walk({}), testing::typical_errors(), 6),
        estimator_(noisy_walk().model(), noisy_walk().options().feet, "",
                   testing::gated(kind, 0.999)) {
    while (noisy_.next() && noisy_.instant().t < 1.1) walk_on();
    // Swings about where it is, once a second; the sensor stays in its place.
    const double begin = noisy_.instant().t;
    const FilterState there = noisy_.truth();
    const double rate = 2 * std::numbers::pi, T = 0.005;
    for (int k = 1; k * T < 60 * minutes; ++k) {
      const double t = k * T;
      const Vec turn(sway * std::sin(rate * t), 0, 0);
      ImuSample sample{Vec(rate * sway * std::cos(rate * t), 0, 0),
                       so3::exp<double>(-turn) * there.R_WS.transpose() * Vec(0, 0, 9.81)};
      sample.gyro += there.gyro_bias;
      sample.accel += there.accel_bias;
      estimator_.imu(begin + t, sample);
    }
    after_ = 60 * minutes;
    testing::expect_sound(estimator_.filter());
  }

  /// Walks on, with its feet and a fix now and then, if wanted.
  void come_back(bool fixes) {
    int k = 0;
    while (noisy_.next()) {
      walk_on();
      if (!fixes || ++k % 20 != 0) continue;
      const double t = noisy_.instant().t + after_;
      estimator_.position_fix(t, noisy_.truth().p_WS, Vec::Zero(), 1e-4 * Mat::Identity());
      const Vec x = noisy_.truth().R_WS.col(0);
      estimator_.yaw_fix(t, std::atan2(x.y(), x.x()), 0.01);
    }
    testing::expect_sound(estimator_.filter());
  }

  const FilterState& truth() const { return noisy_.truth(); }
  const FilterState& state() const { return estimator_.filter().state(); }
  const EstimatorDiagnostics& counts() const { return estimator_.diagnostics(); }
  Vec deviation(int place) const {
    return estimator_.filter().common_covariance().diagonal().segment<3>(place).cwiseSqrt();
  }
  double tilt_error() const {
    const Vec up = truth().R_WS.transpose().col(2), found = state().R_WS.transpose().col(2);
    return up.cross(found).norm();
  }

 private:
  static const SyntheticWalk& noisy_walk() { return testing::dog_walk({}); }
  void walk_on() {
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

class Recovery : public ::testing::TestWithParam<FilterKind> {};

// Left standing: rest is seen, and tells tilt and velocity again.
TEST_P(Recovery, AfterFiveMinutesAtRestWithoutFeet) {
  Journey dog(GetParam(), 5, 0);
  EXPECT_GT(dog.counts().velocity_lost, 3u);
  EXPECT_GT(dog.counts().rest_recovered, 3u);
  const auto refused = dog.counts().feet_refused;
  dog.come_back(false);
  EXPECT_EQ(dog.counts().updates_failed, 0u);
  EXPECT_LT(dog.counts().feet_refused, refused + 20);
  EXPECT_LT((dog.state().v_WS - dog.truth().v_WS).norm(), 0.05);
  EXPECT_LT(dog.tilt_error(), 0.02);
  // Where it is it does not know, and says so.
  const Vec error = dog.state().p_WS - dog.truth().p_WS;
  EXPECT_LT(error.cwiseQuotient(dog.deviation(ErrorPlace::position)).norm(), 4);
}

// Carried about: there is no rest, so that feet alone have to tell velocity and tilt.
TEST_P(Recovery, AfterFiveMinutesOfSwayingWithoutFeet) {
  Journey dog(GetParam(), 5, 0.2);
  EXPECT_GT(dog.counts().velocity_lost, 3u);
  EXPECT_EQ(dog.counts().rest_recovered, 0u);
  dog.come_back(false);
  EXPECT_LT((dog.state().v_WS - dog.truth().v_WS).norm(), 0.1);
  EXPECT_LT(dog.tilt_error(), 0.05);
}

TEST_P(Recovery, FixesPutItInItsPlace) {
  for (const double sway : {0.0, 0.2}) {
    Journey dog(GetParam(), 5, sway);
    dog.come_back(true);
    EXPECT_GT(dog.counts().fixes_used, 50u);
    EXPECT_LT((dog.state().p_WS - dog.truth().p_WS).norm(), 0.05) << sway;
    EXPECT_LT(dog.tilt_error(), 0.03) << sway;
    const Vec error = dog.state().p_WS - dog.truth().p_WS;
    EXPECT_LT(error.cwiseQuotient(dog.deviation(ErrorPlace::position)).norm(), 6) << sway;
  }
}

// A state that is wrong and sure of itself: what all speak against gives way.
TEST_P(Recovery, FromAWrongStateThatIsSure) {
  const SyntheticWalk& walk = testing::dog_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", testing::gated(GetParam(), 0.999));
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
  testing::expect_sound(estimator.filter());
  EXPECT_GT(estimator.diagnostics().feet_recovered, 0u);
  EXPECT_GT(estimator.diagnostics().fixes_recovered, 1u);  // place and heading
  const FilterState &x = estimator.filter().state(), &truth = noisy.truth();
  EXPECT_LT((x.p_WS - truth.p_WS).norm(), 0.05);
  EXPECT_LT((x.v_WS - truth.v_WS).norm(), 0.1);
  EXPECT_LT(so3::log<double>(x.R_WS.transpose() * truth.R_WS).norm(), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Recovery,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
