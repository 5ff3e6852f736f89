// Fixed-interval smoothing: equal to batch least squares where the problem is linear, consistent
// and better than the filter on walks, and never less certain than the filter.
#include "limb/estimate/estimator/base_smoother.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "limb/base/testing/worst.hpp"
#include "limb/estimate/filter/chi_square.hpp"
#include "limb/estimate/testing/faulty_walk.hpp"
#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

/// A robot whose orientation and biases are known exactly, so that position, velocity and feet are
/// a linear problem with Gaussian noise.
struct LinearProblem {
  static constexpr int kSteps = 40, kFeet = 2;
  static constexpr double T = 0.01, kAccel = 0.3, kContact = 0.05, kFoot = 0.02;
  static constexpr double kPosition = 0.1, kVelocity = 0.2;
  std::vector<Vec> accel;                    ///< measured, a sample per step
  std::vector<std::array<Vec, kFeet>> feet;  ///< measured p_SF after each step
  std::array<Vec, kFeet> first_feet;         ///< at the start

  LinearProblem() {
    NoiseGenerator noise(7);
    const auto vec = [&](double s) {
      return Vec(s * noise.normal(), s * noise.normal(), s * noise.normal());
    };
    Vec p = vec(kPosition), v = vec(kVelocity);
    std::array<Vec, kFeet> at = {Vec(0.2, 0.1, -0.4), Vec(0.2, -0.1, -0.4)};
    for (int i = 0; i < kFeet; ++i) first_feet[i] = at[i] - p + vec(kFoot);
    for (int k = 0; k < kSteps; ++k) {
      const Vec a = vec(1);
      accel.push_back(a + vec(kAccel / std::sqrt(T)));
      p += v * T + a * T * T / 2;
      v += a * T;
      std::array<Vec, kFeet> measured;
      for (int i = 0; i < kFeet; ++i) {
        at[i] += vec(kContact * std::sqrt(T));
        measured[i] = at[i] - p + vec(kFoot);
      }
      feet.push_back(measured);
    }
  }
};

TEST(BaseSmoother, EqualsBatchLeastSquaresOnALinearProblem) {
  const LinearProblem problem;
  using L = LinearProblem;
  // Batch: unknown p, v of each time and the feet at each time, one axis after the other.
  constexpr int kPerTime = 2 + L::kFeet, kUnknowns = kPerTime * (L::kSteps + 1);
  Eigen::Matrix<double, Eigen::Dynamic, 3> solution(kUnknowns, 3);
  MatrixX<double> covariance;
  for (int axis = 0; axis < 3; ++axis) {
    MatrixX<double> A = MatrixX<double>::Zero(kUnknowns, kUnknowns);
    VectorX<double> b = VectorX<double>::Zero(kUnknowns);
    // Adds (J x - y)^T W (J x - y).
    const auto add = [&](const MatrixX<double>& J, const VectorX<double>& y,
                         const MatrixX<double>& W) {
      A += J.transpose() * W * J;
      b += J.transpose() * W * y;
    };
    const auto at = [&](int k, int part) { return kPerTime * k + part; };
    MatrixX<double> J = MatrixX<double>::Zero(2, kUnknowns);
    J(0, at(0, 0)) = J(1, at(0, 1)) = 1;
    MatrixX<double> W = MatrixX<double>::Zero(2, 2);
    W(0, 0) = 1 / (L::kPosition * L::kPosition);
    W(1, 1) = 1 / (L::kVelocity * L::kVelocity);
    add(J, VectorX<double>::Zero(2), W);
    const auto foot = [&](int k, int i, double measured) {
      MatrixX<double> row = MatrixX<double>::Zero(1, kUnknowns);
      row(0, at(k, 2 + i)) = 1;
      row(0, at(k, 0)) = -1;
      add(row, VectorX<double>::Constant(1, measured),
          MatrixX<double>::Constant(1, 1, 1 / (L::kFoot * L::kFoot)));
    };
    for (int i = 0; i < L::kFeet; ++i) foot(0, i, problem.first_feet[i][axis]);
    for (int k = 0; k < L::kSteps; ++k) {
      // White acceleration noise of a density over T.
      const double T = L::T, a = problem.accel[k][axis], q = L::kAccel * L::kAccel;
      MatrixX<double> F = MatrixX<double>::Zero(2, kUnknowns), Q(2, 2);
      F(0, at(k + 1, 0)) = F(1, at(k + 1, 1)) = 1;
      F(0, at(k, 0)) = F(1, at(k, 1)) = -1;
      F(0, at(k, 1)) = -T;
      Q << q * T * T * T / 3, q * T * T / 2, q * T * T / 2, q * T;
      VectorX<double> y(2);
      y << a * T * T / 2, a * T;
      add(F, y, Q.inverse());
      for (int i = 0; i < L::kFeet; ++i) {
        MatrixX<double> row = MatrixX<double>::Zero(1, kUnknowns);
        row(0, at(k + 1, 2 + i)) = 1;
        row(0, at(k, 2 + i)) = -1;
        add(row, VectorX<double>::Zero(1),
            MatrixX<double>::Constant(1, 1, 1 / (L::kContact * L::kContact * T)));
        foot(k + 1, i, problem.feet[k][i][axis]);
      }
    }
    const Eigen::LDLT<MatrixX<double>> factor(A);
    solution.col(axis) = factor.solve(b);
    covariance = factor.solve(MatrixX<double>::Identity(kUnknowns, kUnknowns));
  }
  for (const FilterKind kind : {FilterKind::invariant, FilterKind::error_state}) {
    EstimatorOptions options;
    options.filter = kind;
    options.imu = {0, L::kAccel, 0, 0};
    options.contact_noise = L::kContact;
    options.gate = 1;
    options.longest_gap = 1;
    const Model<double> model = testing::walkers()[0].load();
    const Vec up = -model.gravity();  // a sensor that stands still measures this
    BaseSmoother smoother(BaseEstimator(
        LegKinematics(model, std::vector<std::string>{"FL_foot", "FR_foot"}), options));
    Matrix15 P = Matrix15::Zero();
    P.topLeftCorner<3, 3>().diagonal().setConstant(L::kPosition * L::kPosition);
    P.block<3, 3>(6, 6).diagonal().setConstant(L::kVelocity * L::kVelocity);
    smoother.initialize(0, {}, P);
    const auto measure = [&](double t, const std::array<Vec, L::kFeet>& feet) {
      std::vector<FootSample> samples;
      for (const Vec& p : feet) {
        samples.push_back({p, L::kFoot * L::kFoot * Matrix3<double>::Identity(), 1});
      }
      ASSERT_EQ(smoother.feet(t, samples), Status::ok);
    };
    // Between two samples the estimator holds their mean, which is the sample of the problem.
    Vec last = problem.accel[0];
    smoother.imu(0, {Vec::Zero(), problem.accel[0] + up});
    measure(0, problem.first_feet);
    for (int k = 0; k < L::kSteps; ++k) {
      const Vec now = 2 * problem.accel[k] - last;
      ASSERT_EQ(smoother.imu((k + 1) * L::T, {Vec::Zero(), now + up}), Status::ok);
      last = now;
      measure((k + 1) * L::T, problem.feet[k]);
    }
    int count = 0, row = L::kSteps;
    smoother.smooth([&](const BaseSmoother::Point& point) {
      ASSERT_NEAR(point.smoothed.t, row * L::T, 1e-12);
      // Sums of some hundred steps with weights of 1e6: 1e-16 x 1e6 x a margin of 10.
      constexpr double kNear = 1e-9;
      for (int axis = 0; axis < 3; ++axis) {
        EXPECT_NEAR(point.state.p_WS[axis], solution(kPerTime * row, axis), kNear) << row;
        EXPECT_NEAR(point.state.v_WS[axis], solution(kPerTime * row + 1, axis), kNear) << row;
        EXPECT_NEAR(point.smoothed.covariance(axis, axis),
                    covariance(kPerTime * row, kPerTime * row), kNear);
        EXPECT_NEAR(point.smoothed.covariance(6 + axis, 6 + axis),
                    covariance(kPerTime * row + 1, kPerTime * row + 1), kNear);
      }
      ++count;
      --row;
    });
    EXPECT_EQ(count, L::kSteps + 1);
  }
}

Eigen::Matrix<double, 9, 1> error_of(const BaseEstimate& e, const WalkInstant& truth) {
  const Matrix3<double> R = to_matrix(quat_xyzw(truth.q[3], truth.q[4], truth.q[5], truth.q[6]));
  Eigen::Matrix<double, 9, 1> error;
  error << e.X_WB.p - truth.q.head<3>(), so3::log<double>(R.transpose() * e.X_WB.R),
      e.v_WB - R * truth.v.head<3>();
  return error;
}

class Smoothing : public ::testing::TestWithParam<FilterKind> {};

// Walks of a quadruped with matching noise: the smoothed errors have the stated size, are smaller
// than those of the filter, and the covariance is not larger.
TEST_P(Smoothing, IsConsistentAndBetterThanTheFilter) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  const WalkErrors errors = testing::typical_errors();
  const EstimatorOptions options = testing::matching_options(errors, GetParam());
  constexpr int kRuns = 50;
  double nees = 0, smoothed = 0, filtered = 0, smoothed_velocity = 0, filtered_velocity = 0;
  int count = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    NoiseGenerator start(derived_seed(seed, 1));
    // Position and yaw of the start are known: both estimates would keep their errors.
    auto deviations = testing::initial_deviations(0.02, 1e-4);
    deviations.head<3>().setConstant(1e-4);
    Eigen::Matrix<double, 15, 1> e;
    for (int i = 0; i < 15; ++i) e[i] = deviations[i] * start.normal();
    NoisyWalk noisy(walk, errors, seed);
    BaseSmoother smoother(BaseEstimator(walk.model(), walk.options().feet, "", options));
    std::vector<double> forces(4);
    bool started = false;
    while (noisy.next()) {
      const double t = noisy.instant().t;
      if (!started) {
        smoother.initialize(t, testing::off_by(noisy.truth(), e),
                            Matrix15(deviations.cwiseAbs2().asDiagonal()));
      }
      started = true;
      smoother.imu(t, noisy.imu());
      for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
      smoother.legs(t, noisy.q(), noisy.v(), forces);
    }
    std::size_t row = walk.instants().size();
    double largest = -1;
    smoother.smooth([&](const BaseSmoother::Point& point) {
      const WalkInstant& truth = walk.instants()[--row];
      ASSERT_EQ(point.smoothed.t, truth.t);
      const auto s = error_of(point.smoothed, truth), f = error_of(point.filtered, truth);
      smoothed += s.head<3>().squaredNorm();
      filtered += f.head<3>().squaredNorm();
      smoothed_velocity += s.tail<3>().squaredNorm();
      filtered_velocity += f.tail<3>().squaredNorm();
      if (row % 100 != 0) return;
      nees += s.dot(point.smoothed.covariance.ldlt().solve(s));
      ++count;
      // P_filtered - P_smoothed is positive semidefinite, to rounding of the largest variance.
      const MatrixX<double> reduced = point.P_filtered - point.P_smoothed;
      const VectorX<double> values = reduced.selfadjointView<Eigen::Lower>().eigenvalues();
      const double scale = point.P_filtered.diagonal().maxCoeff<Eigen::PropagateNaN>();
      largest = worse(largest, -values[0] / scale);
      for (int i = 0; i < 9; ++i) {
        EXPECT_LE(point.smoothed.covariance(i, i), point.filtered.covariance(i, i) * (1 + 1e-9));
      }
    });
    EXPECT_EQ(row, 0U);
    EXPECT_LT(largest, 1e-10);
  }
  // Errors of one run are correlated: as if there were one independent value per run and second.
  const ChiSquareBand band = chi_square_band(9, kRuns, 0.99);
  std::printf("smoothed NEES %.2f (%.2f to %.2f), position rms %.2f mm, filter %.2f mm\n",
              nees / count, band.low, band.high, 1e3 * std::sqrt(smoothed / count / 100),
              1e3 * std::sqrt(filtered / count / 100));
  EXPECT_GT(nees / count, band.low);
  EXPECT_LT(nees / count, band.high);
  std::printf("velocity rms %.2f mm/s, filter %.2f mm/s\n",
              1e3 * std::sqrt(smoothed_velocity / count / 100),
              1e3 * std::sqrt(filtered_velocity / count / 100));
  // The velocity at a time is measured before and after it; the position drifts, and the future
  // tells only what it says about tilt and biases.
  EXPECT_LT(smoothed, filtered);
  EXPECT_LT(smoothed_velocity, 0.7 * filtered_velocity);
}

INSTANTIATE_TEST_SUITE_P(BothFilters, Smoothing,
                         ::testing::Values(FilterKind::invariant, FilterKind::error_state),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "Invariant" : "ErrorState";
                         });

// Walks of 40 s from rest, with default options and a sensor with biases of its own. The position
// drifts, and at the end both estimates are the same; over all of the walk and over all runs, the
// smoothed errors of position, attitude and velocity are smaller than those of the filter.
TEST(BaseSmoother, LongWalksAreBetterThanThoseOfTheFilter) {
  WalkOptions walking;
  walking.feet = testing::walkers()[0].feet;
  walking.rate = 100;
  walking.duration = 40;
  walking.rest = 1.2;
  walking.crouch = 0.25;
  const SyntheticWalk walk(testing::walkers()[0].load(), walking);
  constexpr int kRuns = 10;
  // Mean squares of position, tilt, yaw and velocity; for the median of single runs, the ratios.
  std::array<double, 4> smoothed{}, filtered{};
  double nees = 0, worst_end = 0;
  int better = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    WalkErrors errors = testing::typical_errors();
    NoiseGenerator unit(derived_seed(seed, 13));
    for (int i = 0; i < 3; ++i) {
      errors.gyro_bias[i] = 5e-3 * unit.normal();
      errors.accel_bias[i] = InitialOptions{}.accel_bias_deviation * unit.normal();
    }
    EstimatorOptions options;
    options.initial.p_WB = walk.instants()[0].q.head<3>();
    BaseSmoother smoother(BaseEstimator(walk.model(), walking.feet, "", options));
    NoisyWalk noisy(walk, errors, seed);
    std::vector<double> forces(4);
    while (noisy.next()) {
      smoother.imu(noisy.instant().t, noisy.imu());
      for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
      smoother.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
    }
    std::array<double, 4> s{}, f{};
    int count = 0;
    double run_nees = 0;
    smoother.smooth([&](const BaseSmoother::Point& point) {
      const auto row = static_cast<std::size_t>(std::lround(point.smoothed.t * walking.rate));
      const auto add = [&](const BaseEstimate& e, std::array<double, 4>& to) {
        const auto x = error_of(e, walk.instants()[row]);
        to[0] += x.head<3>().squaredNorm();
        to[1] += x.segment<2>(3).squaredNorm();
        to[2] += x[5] * x[5];
        to[3] += x.tail<3>().squaredNorm();
        return x;
      };
      const auto x = add(point.smoothed, s);
      const auto y = add(point.filtered, f);
      if (count++ == 0) worst_end = worse(worst_end, (x - y).norm());
      run_nees += x.dot(point.smoothed.covariance.ldlt().solve(x));
    });
    for (std::size_t i = 0; i < 4; ++i) {
      smoothed[i] += s[i] / count / kRuns;
      filtered[i] += f[i] / count / kRuns;
    }
    better += s[0] < f[0];
    nees += run_nees / count / kRuns;
  }
  const char* names[] = {"position, mm", "tilt, mrad", "yaw, mrad", "velocity, mm/s"};
  for (std::size_t i = 0; i < 4; ++i) {
    std::printf("%-15s rms %7.2f smoothed, %7.2f filter\n", names[i], 1e3 * std::sqrt(smoothed[i]),
                1e3 * std::sqrt(filtered[i]));
    EXPECT_LT(smoothed[i], filtered[i]) << names[i];
  }
  std::printf("NEES %.2f; position better in %d of %d runs\n", nees, better, kRuns);
  EXPECT_LT(worst_end, 1e-12);
  // Ten runs, each with errors that are correlated over all of it.
  const ChiSquareBand band = chi_square_band(9, kRuns, 0.999);
  EXPECT_GT(nees, band.low);
  EXPECT_LT(nees, band.high);
}

// Long logs: parts are merged, inputs go to a file, and the result stays the same to rounding.
TEST(BaseSmoother, ResultsDoNotDependOnMemory) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  const WalkErrors errors = testing::typical_errors();
  const auto run = [&](std::size_t memory) {
    NoisyWalk noisy(walk, errors, 3);
    BaseSmoother smoother(BaseEstimator(walk.model(), walk.options().feet), memory);
    std::vector<double> forces(4);
    while (noisy.next()) {
      const double t = noisy.instant().t;
      smoother.imu(t, noisy.imu());
      for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
      smoother.legs(t, noisy.q(), noisy.v(), forces);
    }
    std::vector<Vec> path;
    smoother.smooth(
        [&](const BaseSmoother::Point& point) { path.push_back(point.smoothed.X_WB.p); });
    return path;
  };
  const auto in_memory = run(BaseSmoother::kMemory), in_file = run(1000);
  ASSERT_EQ(in_memory.size(), in_file.size());
  ASSERT_GT(in_memory.size(), 900U);
  for (std::size_t i = 0; i < in_memory.size(); ++i) EXPECT_EQ(in_memory[i], in_file[i]);
}

// After a reset of the state, later data say nothing about the earlier one.
TEST(BaseSmoother, AResetSeparatesTheParts) {
  const SyntheticWalk& walk = testing::quadruped_walk({});
  NoisyWalk noisy(walk, testing::typical_errors(), 3);
  BaseSmoother smoother(BaseEstimator(walk.model(), walk.options().feet));
  std::vector<double> forces(4);
  while (noisy.next()) {
    const double t = noisy.instant().t;
    if (t > 3 && t < 4) continue;
    smoother.imu(t, noisy.imu());
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    smoother.legs(t, noisy.q(), noisy.v(), forces);
  }
  ASSERT_EQ(smoother.estimator().diagnostics().imu_lost, 1U);
  double last_before = -1;
  smoother.smooth([&](const BaseSmoother::Point& point) {
    if (point.smoothed.t > 3.001 || last_before >= 0) return;
    last_before = point.smoothed.t;
    EXPECT_EQ(point.smoothed.X_WB.p, point.filtered.X_WB.p);
  });
  EXPECT_GT(last_before, 2.9);
}

}  // namespace
}  // namespace limb
