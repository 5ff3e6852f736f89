// Yaw and position of the world stay unobservable: by rank, information and variance; and
// convergence from large initial errors.
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "limb/base/testing/worst.hpp"
#include "limb/estimate/filter/error_state_filter.hpp"
#include "limb/estimate/filter/invariant_filter.hpp"
#include "limb/estimate/testing/monte_carlo.hpp"
#include "limb/estimate/testing/robots.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// A quadruped that sways on four feet in contact.
SyntheticWalk swaying(double duration) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions options;
  options.feet = quadruped.feet;
  options.rate = 200;
  options.duration = duration;
  options.rest = 0;
  options.speed = 0;
  options.turning = 0.2;
  options.duty = 1;
  options.sway = 0.02;
  options.tilt = 0.1;
  options.crouch = 0.25;
  return {quadruped.load(), options};
}

enum class Kind { standard, kept, invariant };

std::unique_ptr<BaseFilter> make(Kind kind, const FilterOptions& options) {
  if (kind == Kind::invariant) return std::make_unique<InvariantFilter>(options);
  return std::make_unique<ErrorStateFilter>(
      options, kind == Kind::kept ? Observability::kept : Observability::ignored);
}

/// A rotation of the world about the vertical, in the errors of the filter.
VectorX<double> world_rotation(const BaseFilter& filter, Kind kind) {
  const FilterState& x = filter.state();
  const Vec z = Vec::UnitZ();
  VectorX<double> n = VectorX<double>::Zero(x.errors());
  if (kind == Kind::invariant) {
    n.segment<3>(ErrorIndex::rotation) = z;
    return n;
  }
  n.segment<3>(ErrorIndex::position) = z.cross(x.p_WS);
  n.segment<3>(ErrorIndex::rotation) = x.R_WS.transpose() * z;
  n.segment<3>(ErrorIndex::velocity) = z.cross(x.v_WS);
  for (int i = 0; i < x.feet; ++i) {
    n.segment<3>(ErrorIndex::foot(i)) = z.cross(x.p_WF[static_cast<std::size_t>(i)]);
  }
  return n;
}

struct Study {
  int rank = 0, errors = 0;
  double gap = 0;          ///< ratio of the last significant singular value to the next
  double information = 0;  ///< about the rotation of the world, final over initial
};

/// Runs a filter without process noise, so that all information comes from measurements, from a
/// wrong initial state; and stacks H F ... F with the linearizations of the filter.
Study study(Kind kind, double duration) {
  const SyntheticWalk walk = swaying(duration);
  FilterOptions options;
  options.imu = {0, 0, 0, 0};
  options.contact_noise = 0;
  auto filter = make(kind, options);
  WalkErrors errors = testing::typical_errors();
  errors.creep = 0;
  NoisyWalk noisy(walk, errors, 3);
  LegKinematics legs(walk.model(), walk.options().feet);
  ImuSample last;
  MatrixX<double> O, F;
  VectorX<double> n;
  double before = 0;
  double t = 0;
  while (noisy.next()) {
    legs.update(noisy.q(), noisy.v());
    if (noisy.instant().t == 0) {
      Eigen::Matrix<double, 15, 1> off = testing::initial_deviations();
      off.segment<3>(ErrorIndex::position) += Vec(2, 3, 1);
      filter->reset(testing::off_by(noisy.truth(), off), Matrix15(off.cwiseAbs2().asDiagonal()));
      for (int i = 0; i < 4; ++i) {
        filter->add_foot(i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3));
      }
      F = MatrixX<double>::Identity(27, 27);
      n = world_rotation(*filter, kind);
      before = n.dot(MatrixX<double>(filter->covariance()).ldlt().solve(n));
    } else {
      ImuStep step;
      const ImuSample held{(last.gyro + noisy.imu().gyro) / 2,
                           (last.accel + noisy.imu().accel) / 2};
      const FilterState& x = filter->state();
      integrate_imu({held.gyro - x.gyro_bias, held.accel - x.accel_bias}, noisy.instant().t - t, {},
                    step);
      F = filter->transition(step) * F;
      EXPECT_EQ(filter->predict(held, noisy.instant().t - t), Status::ok);
    }
    t = noisy.instant().t;
    last = noisy.imu();
    std::vector<BaseMeasurement> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(foot_position(filter->state(), i, legs.p_SF(i), legs.noise(i, 1e-3, 1e-3)));
    }
    if (O.rows() < 2000) {
      O.conservativeResize(O.rows() + 12, 27);
      for (int i = 0; i < 4; ++i) {
        O.middleRows(O.rows() - 12 + 3 * i, 3) =
            filter->jacobian(all[static_cast<std::size_t>(i)]) * F;
      }
    }
    const FilterState at = filter->state();
    EXPECT_TRUE(filter->update(all).ok());
    if (kind == Kind::kept) {
      // The covariance was transformed to the new state, and with it the errors.
      const FilterState& x = filter->state();
      MatrixX<double> T = MatrixX<double>::Identity(27, 27);
      const Vec z = Vec::UnitZ(), u = at.R_WS.transpose() * z;
      T.block<3, 3>(0, 3) = z.cross(x.p_WS - at.p_WS) * u.transpose();
      T.block<3, 3>(6, 3) = z.cross(x.v_WS - at.v_WS) * u.transpose();
      for (std::size_t i = 0; i < 4; ++i) {
        T.block<3, 3>(ErrorIndex::foot(static_cast<int>(i)), 3) =
            z.cross(x.p_WF[i] - at.p_WF[i]) * u.transpose();
      }
      T.block<3, 3>(3, 3) = x.R_WS.transpose() * at.R_WS;
      F = T * F;
    }
  }
  const VectorX<double> singular = O.bdcSvd().singularValues();
  Study result;
  result.errors = 27;
  for (int k = 0; k < 27; ++k) {
    // Columns are of order one; rounding over some hundred products stays below 1e-9.
    result.rank += singular[k] > 1e-9 * singular[0];
  }
  if (result.rank < 27) result.gap = singular[result.rank - 1] / singular[result.rank];
  n = world_rotation(*filter, kind);
  result.information = n.dot(MatrixX<double>(filter->covariance()).ldlt().solve(n)) / before;
  return result;
}

TEST(Observability, RankLeavesYawAndPosition) {
  const Study standard = study(Kind::standard, 0.75), kept = study(Kind::kept, 0.75),
              invariant = study(Kind::invariant, 0.75);
  std::printf("rank of 27: standard %d, kept %d (gap %.1e), invariant %d (gap %.1e)\n",
              standard.rank, kept.rank, kept.gap, invariant.rank, invariant.gap);
  EXPECT_EQ(kept.rank, 23);
  EXPECT_EQ(invariant.rank, 23);
  EXPECT_EQ(standard.rank, 24);  // spurious information about yaw
}

TEST(Observability, NoInformationAboutAWorldRotation) {
  const Study standard = study(Kind::standard, 4), kept = study(Kind::kept, 4),
              invariant = study(Kind::invariant, 4);
  std::printf(
      "information about yaw, relative to the initial one: standard %.4g, kept %.9f, invariant "
      "%.9f\n",
      standard.information, kept.information, invariant.information);
  // To the rounding of a covariance whose variances span eight orders of magnitude.
  EXPECT_NEAR(kept.information, 1, 1e-6);
  EXPECT_NEAR(invariant.information, 1, 1e-6);
  EXPECT_GT(standard.information, 1.1);
}

/// Yaw and horizontal variance over a walk.
TEST(Observability, YawAndPositionKeepTheirVarianceOnAWalk) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 100;
  walking.duration = 20;
  walking.crouch = 0.25;
  const SyntheticWalk walk(quadruped.load(), walking);
  const WalkErrors errors = testing::typical_errors();
  for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
    const EstimatorOptions options = testing::matching_options(errors, kind);
    Worst yaw, variance_xy;
    yaw.add(0);
    variance_xy.add(0);
    testing::run_walk(walk, errors, options, 5, [&](const NoisyWalk&, const BaseEstimator& e) {
      const auto P = e.estimate().covariance;
      // Variance of a rotation about the world's z, and of the position along x and y.
      const Vec z = e.estimate().X_WB.R.transpose() * Vec::UnitZ();
      const double now = z.dot(P.block<3, 3>(3, 3) * z), here = P(0, 0) + P(1, 1);
      // They may not decrease, except for rounding and the effect of correlated biases.
      EXPECT_GT(now, 0.999 * yaw.value());
      EXPECT_GE(here, 0.98 * variance_xy.value()) << "horizontal variance";
      yaw.add(now);
      variance_xy.add(here);
    });
    EXPECT_GT(yaw.value(), 0.02 * 0.02);
  }
}

struct Convergence {
  double tilt_1s = 0, tilt_end = 0;  ///< rad
};

/// Tilt error of a filter with an initial error of 60 degrees.
Convergence converge(FilterKind kind, const Vec& axis, std::uint64_t seed) {
  const testing::Walker quadruped = testing::walkers()[0];
  static const SyntheticWalk walk = [&] {
    WalkOptions walking;
    walking.feet = quadruped.feet;
    walking.rate = 200;
    walking.duration = 5;
    walking.rest = 0.1;
    walking.crouch = 0.25;
    return SyntheticWalk(quadruped.load(), walking);
  }();
  const WalkErrors errors = testing::typical_errors();
  NoisyWalk noisy(walk, errors, seed);
  BaseEstimator estimator(walk.model(), walk.options().feet, "",
                          testing::matching_options(errors, kind));
  const double off = 60 * std::numbers::pi / 180;
  Eigen::Matrix<double, 15, 1> e = Eigen::Matrix<double, 15, 1>::Zero();
  e.segment<3>(ErrorIndex::rotation) = off * axis;
  const Eigen::Matrix<double, 15, 1> deviations = testing::initial_deviations(off, off);
  Convergence result;
  std::vector<double> forces(4);
  while (noisy.next()) {
    if (!estimator.ready()) {
      FilterState x = testing::off_by(noisy.truth(), e);
      estimator.initialize(0, x, Matrix15(deviations.cwiseAbs2().asDiagonal()));
    }
    estimator.imu(noisy.instant().t, noisy.imu());
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
    const Vec up = estimator.filter().state().R_WS.transpose() * Vec::UnitZ(),
              truth = noisy.truth().R_WS.transpose() * Vec::UnitZ();
    const double tilt = std::atan2(up.cross(truth).norm(), up.dot(truth));
    if (noisy.instant().t <= 1) result.tilt_1s = tilt;
    result.tilt_end = tilt;
  }
  return result;
}

TEST(Convergence, InvariantFilterConvergesFromSixtyDegrees) {
  const double degree = std::numbers::pi / 180;
  Worst worst_standard, worst_invariant, worst_1s[2];
  for (int k = 0; k < 8; ++k) {
    const double angle = k * std::numbers::pi / 4;
    const Vec axis(std::cos(angle), std::sin(angle), 0);
    const auto standard = converge(FilterKind::error_state, axis, 11);
    const auto invariant = converge(FilterKind::invariant, axis, 11);
    worst_standard.add(standard.tilt_end);
    worst_invariant.add(invariant.tilt_end);
    worst_1s[0].add(standard.tilt_1s);
    worst_1s[1].add(invariant.tilt_1s);
  }
  std::printf("worst tilt after 1 s and 5 s: eskf %.2f, %.2f deg; inekf %.2f, %.2f deg\n",
              worst_1s[0].value() / degree, worst_standard.value() / degree,
              worst_1s[1].value() / degree, worst_invariant.value() / degree);
  EXPECT_LT(worst_1s[1].value(), 2 * degree);
  EXPECT_LT(worst_invariant.value(), 1 * degree);
  // It linearizes at a wrong state and becomes overconfident.
  EXPECT_GT(worst_standard.value(), 10 * degree);
}

TEST(StandStill, HeightDoesNotDriftInTenMinutes) {
  const testing::Walker quadruped = testing::walkers()[0];
  WalkOptions walking;
  walking.feet = quadruped.feet;
  walking.rate = 50;
  walking.duration = 600;
  walking.rest = 300;
  walking.duty = 1;
  const SyntheticWalk walk(quadruped.load(), walking);
  WalkErrors errors = testing::typical_errors();
  errors.creep = 0;
  for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
    EstimatorOptions options = testing::matching_options(errors, kind);
    options.contact_noise = 1e-4;
    double first = 0;
    Worst worst;
    int k = 0;
    testing::run_walk(walk, errors, options, 4,
                      [&](const NoisyWalk& noisy, const BaseEstimator& e) {
                        const double error = (e.filter().state().p_WS - noisy.truth().p_WS).z();
                        if (k++ == 0) first = error;
                        worst.add(std::abs(error - first));
                      });
    std::printf("%s: height within %.2f mm over 10 minutes\n",
                kind == FilterKind::invariant ? "inekf" : "eskf", 1e3 * worst.value());
    EXPECT_LT(worst.value(), 5e-3);
  }
}

}  // namespace
}  // namespace limb
