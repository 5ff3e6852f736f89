// Noise measured in signals of known noise.
#include "limb/estimate/estimator/noise_estimate.hpp"

#include <gtest/gtest.h>

#include "limb/estimate/walk/synthetic_walk.hpp"
#include "limb/math/noise_generator.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

TEST(NoiseEstimator, DensitiesOfWhiteNoiseAtRest) {
  const ImuNoise truth{1.5e-3, 8e-3, 0, 0};
  for (const double rate : {100.0, 1000.0}) {
    NoiseGenerator random(3);
    NoiseEstimator estimator;
    const auto noise = [&](double density) {
      const double deviation = density * std::sqrt(rate);
      const double x = random.normal(), y = random.normal(), z = random.normal();
      return Vec(deviation * Vec(x, y, z));
    };
    for (int k = 0; k < 30 * rate; ++k) {
      estimator.add_imu(k / rate, {Vec(0.01, -0.02, 0) + noise(truth.gyro),
                                   Vec(0.3, 0, 9.8) + noise(truth.accel)});
    }
    const NoiseEstimate found = estimator.result();
    EXPECT_GT(found.rest, 25);
    // About 530 differences of three axes: a deviation of 2.5 %, with correlation.
    EXPECT_NEAR(found.imu.gyro / truth.gyro, 1, 0.1);
    EXPECT_NEAR(found.imu.accel / truth.accel, 1, 0.1);
  }
}

TEST(NoiseEstimator, MotionIsNotRest) {
  NoiseEstimator estimator;
  for (int k = 0; k < 2000; ++k) {
    const double t = k / 200.0;
    estimator.add_imu(t, {Vec(0.3 * std::sin(7 * t), 0, 0), Vec(0, std::sin(5 * t), 9.81)});
  }
  EXPECT_FALSE(estimator.result().has_rest());
  // At least the typical one; differences of successive samples of this motion are 0.01 rad/s.
  EXPECT_GE(estimator.result().imu.gyro, ImuNoise{}.gyro);
  EXPECT_LT(estimator.result().imu.gyro, 1e-3);
}

TEST(NoiseEstimator, ContactNoiseFromDistancesOfFeet) {
  WalkOptions walking;
  walking.feet = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};
  walking.rate = 200;
  walking.duration = 20;
  walking.crouch = 0.25;
  walking.duty = 1;
  walking.speed = walking.turning = 0;
  const SyntheticWalk walk(load_model("builtin:quadruped"), walking);
  for (const double creep : {4e-3, 1e-2}) {
    WalkErrors errors;
    errors.creep = creep;
    NoisyWalk noisy(walk, errors, 2);
    LegKinematics legs(walk.model(), walking.feet);
    NoiseEstimator estimator;
    while (noisy.next()) {
      legs.update(noisy.q(), noisy.v());
      estimator.add_feet(noisy.instant().t, legs, std::vector<bool>(4, true));
    }
    ASSERT_TRUE(estimator.result().has_contacts());
    // The median of about 590 changes, of which six share four feet.
    EXPECT_NEAR(estimator.result().contact_noise / creep, 1, 0.25);
  }
}

}  // namespace
}  // namespace limb
