#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"

namespace limb::testing {

/// What goes wrong on a walk, drawn by a seed.
struct WalkFaults {
  double lost_share = 0.05;    ///< of the samples, in gaps
  double longest_gap = 0.2;    ///< s
  double gyro_step = 2e-3;     ///< rad/s per axis, standard deviation of one step of the bias
  double accel_step = 0.03;    ///< m/s^2
  double late_contact = 0.03;  ///< s, largest delay of contact flags, at touch-down and at lift-off
  int slips = 3;               ///< of single feet, at 0.1 to 0.3 m/s for 0.1 to 0.25 s
  double outage = 0;           ///< s without any data, once
};

inline std::vector<WalkOptions::Slip> random_slips(int count, double duration, int feet,
                                                   std::uint64_t seed) {
  NoiseGenerator random(derived_seed(seed, 11));
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * 0.5 * std::erfc(-random.normal() / std::sqrt(2.0));
  };
  std::vector<WalkOptions::Slip> slips;
  for (int i = 0; i < count; ++i) {
    const double begin = uniform(1.5, duration - 1.5), angle = uniform(0, 6.283),
                 speed = uniform(0.1, 0.3);
    slips.push_back({std::min(feet - 1, static_cast<int>(uniform(0, feet))),
                     begin,
                     begin + uniform(0.1, 0.25),
                     {speed * std::cos(angle), speed * std::sin(angle), 0}});
  }
  return slips;
}

struct FaultyRun {
  ConsistencyMonitor::Result verdict;
  EstimatorDiagnostics diagnostics;
  double position_error = 0, yaw_error = 0;  ///< at the end: m, rad
  double position_deviation = 0;             ///< stated, m
  double nees = 0;                           ///< at the end, of p, R and v: 9 expected
  double mean_nees = 0;                      ///< over the walk
  /// Normalized squares at the end of position (3 expected), tilt (2), yaw (1), velocity (3), each
  /// by its own block of the covariance.
  std::array<double, 4> parts{};
  double contact_noise = 0;  ///< in use at the end, m/sqrt(s)
};

/// Walks with faults, from rest to rest.
inline FaultyRun run_faulty(const SyntheticWalk& walk, WalkErrors errors, const WalkFaults& faults,
                            EstimatorOptions options, std::uint64_t seed) {
  // A unit has a bias of its own: that of the accelerometer as the initial covariance states it.
  NoiseGenerator unit(derived_seed(seed, 13));
  for (int i = 0; i < 3; ++i) {
    errors.gyro_bias[i] += 5e-3 * unit.normal();
    errors.accel_bias[i] += options.initial.accel_bias_deviation * unit.normal();
  }
  NoiseGenerator random(derived_seed(seed, 12));
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * 0.5 * std::erfc(-random.normal() / std::sqrt(2.0));
  };
  const double duration = walk.options().duration, start = 1.3, rate = walk.options().rate;
  struct Span {
    double begin, end;
    bool joints;  ///< joints are missing, too
  };
  std::vector<Span> gaps;
  for (double lost = 0; lost < faults.lost_share * duration;) {
    const double begin = uniform(start, duration - 0.5), length = uniform(0.02, faults.longest_gap);
    gaps.push_back({begin, begin + length, random.normal() > 0});
    lost += length;
  }
  if (faults.outage > 0) gaps.push_back({duration / 2, duration / 2 + faults.outage, true});
  const double gyro_time = uniform(start, duration - 2), accel_time = uniform(start, duration - 2);
  Vector3<double> gyro_step, accel_step;
  for (int i = 0; i < 3; ++i) {
    gyro_step[i] = faults.gyro_step * random.normal();
    accel_step[i] = faults.accel_step * random.normal();
  }
  const std::size_t feet = walk.options().feet.size();
  const auto& instants = walk.instants();
  std::vector<int> late(feet);
  const auto draw_delay = [&] {
    return static_cast<int>(uniform(0, faults.late_contact) * rate + 0.5);
  };
  std::vector<std::vector<char>> flags(feet, std::vector<char>(instants.size()));
  for (std::size_t i = 0; i < feet; ++i) {
    // Each change is reported after its own delay.
    bool now = instants[0].contact[i], reported = now;
    int wait = 0;
    for (std::size_t k = 0; k < instants.size(); ++k) {
      if (instants[k].contact[i] != now) {
        now = instants[k].contact[i];
        wait = draw_delay();
      } else if (wait > 0) {
        --wait;
      }
      if (wait == 0) reported = now;
      flags[i][k] = reported;
    }
  }
  // The initial position and heading are known.
  const WalkInstant& first = instants[0];
  options.initial.p_WB = first.q.head<3>();
  const auto R0 = to_matrix(quat_xyzw(first.q[3], first.q[4], first.q[5], first.q[6]));
  options.initial.yaw = std::atan2(R0(1, 0), R0(0, 0));
  NoisyWalk noisy(walk, errors, seed);
  BaseEstimator estimator(walk.model(), walk.options().feet, walk.options().imu, options);
  std::vector<double> forces(feet);
  FaultyRun run;
  int rows = 0;
  for (std::size_t k = 0; noisy.next(); ++k) {
    const double t = noisy.instant().t;
    bool no_imu = false, no_joints = false;
    for (const Span& gap : gaps) {
      if (t < gap.begin || t >= gap.end) continue;
      no_imu = true;
      no_joints = no_joints || gap.joints;
    }
    ImuSample imu = noisy.imu();
    if (t >= gyro_time) imu.gyro += gyro_step;
    if (t >= accel_time) imu.accel += accel_step;
    for (std::size_t i = 0; i < feet; ++i) forces[i] = flags[i][k] ? 100 : 0;
    if (!no_imu) estimator.imu(t, imu);
    if (!no_joints) estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (!estimator.ready()) continue;
    const BaseEstimate e = estimator.estimate();
    if (e.t != t) continue;
    const VectorX<double>& q = noisy.instant().q;
    const Matrix3<double> R = to_matrix(quat_xyzw(q[3], q[4], q[5], q[6]));
    Eigen::Matrix<double, 9, 1> error;
    error << e.X_WB.p - q.head<3>(), so3::log<double>(R.transpose() * e.X_WB.R),
        e.v_WB - R * noisy.instant().v.head<3>();
    run.nees = error.dot(e.covariance.ldlt().solve(error));
    run.mean_nees += run.nees;
    ++rows;
    run.position_error = error.head<3>().norm();
    run.yaw_error = std::abs(error[5]);
    run.position_deviation = std::sqrt(e.covariance.topLeftCorner<3, 3>().trace());
    const auto part = [&](int at, int size) {
      const MatrixX<double> P = e.covariance.block(at, at, size, size);
      const VectorX<double> x = error.segment(at, size);
      return x.dot(P.ldlt().solve(x));
    };
    run.parts = {part(0, 3), part(3, 2), part(5, 1), part(6, 3)};
  }
  run.mean_nees /= std::max(rows, 1);
  run.verdict = estimator.verdict();
  run.diagnostics = estimator.diagnostics();
  run.contact_noise = estimator.foot_noise().contact_noise();
  return run;
}

}  // namespace limb::testing
