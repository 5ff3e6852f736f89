#pragma once

#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"

namespace limb::testing {

/// Standard deviations of the initial state in the common errors: p, rotation, v, biases.
inline Eigen::Matrix<double, 15, 1> initial_deviations(double tilt = 0.02, double yaw = 0.02) {
  Eigen::Matrix<double, 15, 1> d;
  d << 0.01, 0.01, 0.01, tilt, tilt, yaw, 0.05, 0.05, 0.05, 5e-3, 5e-3, 5e-3, 0.05, 0.05, 0.05;
  return d;
}

/// Noise of a typical MEMS unit and of good encoders, and feet that creep a little.
inline WalkErrors typical_errors() {
  WalkErrors errors;
  errors.encoder = 1e-3;
  errors.encoder_rate = 0.02;
  errors.creep = 2e-3;
  return errors;
}

/// Estimator options that match that noise.
inline EstimatorOptions matching_options(const WalkErrors& errors, FilterKind kind) {
  EstimatorOptions options;
  options.filter = kind;
  options.imu = errors.imu;
  options.contact_noise = errors.creep;
  options.encoder = errors.encoder;
  options.encoder_rate = errors.encoder_rate;
  options.foot_error = 1e-5;
  options.adapt = false;
  options.gate = 1;
  return options;
}

/// The truth changed by the negative of a common error.
inline FilterState off_by(const FilterState& truth, const Eigen::Matrix<double, 15, 1>& e) {
  FilterState x = truth;
  x.p_WS -= e.segment<3>(0);
  x.R_WS = truth.R_WS * so3::exp<double>(-e.segment<3>(3));
  x.v_WS -= e.segment<3>(6);
  x.gyro_bias -= e.segment<3>(9);
  x.accel_bias -= e.segment<3>(12);
  return x;
}

/// Runs an estimator over a noisy walk, from an initial state drawn from its covariance. Calls
/// observe(walk, estimator) after each instant.
template <typename Observe>
void run_walk(const SyntheticWalk& walk, WalkErrors errors, const EstimatorOptions& options,
              std::uint64_t seed, const Observe& observe) {
  NoiseGenerator start(derived_seed(seed, 1));
  const Eigen::Matrix<double, 15, 1> deviations = initial_deviations();
  Eigen::Matrix<double, 15, 1> e;
  for (int i = 0; i < 15; ++i) e[i] = deviations[i] * start.normal();
  NoisyWalk noisy(walk, errors, seed);
  BaseEstimator estimator(walk.model(), walk.options().feet, walk.options().imu, options);
  std::vector<double> forces(walk.options().feet.size());
  while (noisy.next()) {
    if (!estimator.ready()) {
      estimator.initialize(noisy.instant().t, off_by(noisy.truth(), e),
                           Matrix15(deviations.cwiseAbs2().asDiagonal()));
    }
    estimator.imu(noisy.instant().t, noisy.imu());
    for (std::size_t i = 0; i < forces.size(); ++i) {
      forces[i] = noisy.instant().contact[i] ? 100 : 0;
    }
    estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
    observe(noisy, estimator);
  }
}

}  // namespace limb::testing
