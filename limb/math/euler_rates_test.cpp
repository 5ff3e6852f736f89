#include "limb/math/euler_rates.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <numbers>
#include <vector>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using namespace testing;
using testing::Dual;

constexpr double kPi = std::numbers::pi;
constexpr unsigned kSeed = 20240612;

struct State {
  Vector3<double> angles, rates;
};

std::vector<State> random_states(int count) {
  Random random(kSeed);
  std::vector<State> states;
  for (int n = 0; n < count; ++n) {
    const Vector3<double> angles = random.vector<double>(kPi);
    states.push_back({angles, random.vector<double>(2)});
  }
  return states;
}

double least_singular_value(const Matrix3<double>& E) {
  return Eigen::JacobiSVD<Matrix3<double>>(E).singularValues()[2];
}

// euler_to_matrix with dual numbers gives dR/dt without a step size, and [w] = dR/dt R^T.
TEST(EulerRates, MatchTheDerivativeOfTheMatrix) {
  Worst worst, worst_body;
  for (const EulerSequence& s : kEulerSequences) {
    for (const auto& [angles, rates] : random_states(50)) {
      const Matrix3<Dual> moving = euler_to_matrix(s, dual(angles, rates));
      const Matrix3<double> R = value(moving), dR = derivative(moving);
      const Vector3<double> w = unskew<double>(dR * R.transpose());
      const Vector3<double> w_body = unskew<double>(R.transpose() * dR);
      worst.add((euler_rate_matrix(s, angles) * rates - w).norm());
      worst_body.add((euler_rate_matrix_body(s, angles) * rates - w_body).norm());
    }
  }
  RecordProperty("world_eps", std::to_string(worst.value() / epsilon<double>()));
  RecordProperty("body_eps", std::to_string(worst_body.value() / epsilon<double>()));
  // Products of rates up to 2 (norm up to 3.5) with a dozen roundings: measured 4.2 eps.
  EXPECT_LE(worst.value(), 16 * epsilon<double>());
  EXPECT_LE(worst_body.value(), 16 * epsilon<double>());
}

// The inverse: angles extracted from a rotating matrix have the rates K w.
TEST(EulerRates, InverseMatchesTheDerivativeOfTheAngles) {
  Worst worst;
  for (const EulerSequence& s : kEulerSequences) {
    for (const auto& [angles, w] : random_states(50)) {
      const Matrix3<double> R = euler_to_matrix(s, angles), dR = skew(w) * R;
      const Matrix3<Dual> moving = dual(R, dR);
      const auto found = euler_from_matrix(s, moving);
      const Vector3<double> t = value(found.angles), rates = derivative(found.angles);
      const Vector3<double> expected = euler_rate_inverse(s, t) * w;
      const double measure = found.lock.measure.value;
      worst.add((rates - expected).norm() * measure * measure);
    }
  }
  RecordProperty("eps", std::to_string(worst.value() / epsilon<double>()));
  // Rates grow as 1 / measure, their sensitivity to the angles as 1 / measure^2: measured 9.7 eps.
  EXPECT_LE(worst.value(), 32 * epsilon<double>());
}

TEST(EulerRates, InverseDeterminantAndFrames) {
  Worst worst_inverse, worst_determinant, worst_frames;
  for (const EulerSequence& s : kEulerSequences) {
    for (const auto& state : random_states(50)) {
      const Vector3<double>& angles = state.angles;
      const Matrix3<double> E = euler_rate_matrix(s, angles);
      const Matrix3<double> E_body = euler_rate_matrix_body(s, angles);
      const double measure = std::abs(s.is_proper() ? std::sin(angles[1]) : std::cos(angles[1]));
      const Matrix3<double> one = euler_rate_inverse(s, angles) * E;
      const Matrix3<double> one_body = euler_rate_inverse_body(s, angles) * E_body;
      worst_inverse.add(max_abs(one - Matrix3<double>::Identity()) * measure,
                        max_abs(one_body - Matrix3<double>::Identity()) * measure);
      worst_determinant.add(std::abs(std::abs(E.determinant()) - measure),
                            std::abs(std::abs(E_body.determinant()) - measure));
      worst_frames.add(max_abs(euler_to_matrix(s, angles) * E_body - E));
      EXPECT_NEAR(std::sin(euler_lock_distance(s, angles[1])), measure, 2 * epsilon<double>());
    }
  }
  RecordProperty("inverse_eps", std::to_string(worst_inverse.value() / epsilon<double>()));
  RecordProperty("determinant_eps", std::to_string(worst_determinant.value() / epsilon<double>()));
  RecordProperty("frames_eps", std::to_string(worst_frames.value() / epsilon<double>()));
  // Unit vectors, sums of three products: measured 1.0, 1.0 and 1.5 eps.
  EXPECT_LE(worst_inverse.value(), 4 * epsilon<double>());
  EXPECT_LE(worst_determinant.value(), 4 * epsilon<double>());
  EXPECT_LE(worst_frames.value(), 4 * epsilon<double>());
}

// At lock two of the three axes are collinear, never all three: rank 2, and no rates produce an
// angular velocity along the lost direction.
TEST(EulerRates, AtLockTheRankIsTwo) {
  for (const EulerSequence& s : kEulerSequences) {
    for (const double middle : {-kPi / 2, 0.0, kPi / 2, kPi}) {
      const bool locks = s.is_proper() == (middle == 0.0 || middle == kPi);
      for (const auto& state : random_states(10)) {
        const Vector3<double> given(state.angles[0], middle, state.angles[2]);
        const Matrix3<double> R = euler_to_matrix(s, given);
        const auto [t, lock] = euler_from_matrix(s, R);
        EXPECT_EQ(lock.locked, locks) << s;
        if (!locks) continue;
        const Matrix3<double> E = euler_rate_matrix(s, t);
        const Vector3<double> sigma = Eigen::JacobiSVD<Matrix3<double>>(E).singularValues();
        // Columns a, b, +-a with b perpendicular to a.
        EXPECT_NEAR(sigma[0], std::sqrt(2.0), 8 * epsilon<double>()) << s;
        EXPECT_NEAR(sigma[1], 1, 8 * epsilon<double>()) << s;
        EXPECT_LE(sigma[2], 8 * epsilon<double>()) << s;
        EXPECT_NEAR(lock.lost_direction.norm(), 1, 4 * epsilon<double>()) << s;
        EXPECT_LE((E.transpose() * lock.lost_direction).norm(), 8 * epsilon<double>()) << s;
      }
    }
  }
}

// Away from lock: the least singular value is sqrt(2) sin(distance/2), along lost_direction.
TEST(EulerRates, LostDirectionIsTheLeastReachable) {
  Worst worst;
  for (const EulerSequence& s : kEulerSequences) {
    for (const auto& state : random_states(50)) {
      const auto [t, lock] = euler_from_matrix(s, euler_to_matrix(s, state.angles));
      const Matrix3<double> E = euler_rate_matrix(s, t);
      const double least = std::sqrt(2.0) * std::sin(lock.distance / 2);
      worst.add(std::abs(least_singular_value(E) - least));
      const Vector3<double> along = E * (E.transpose() * lock.lost_direction);
      worst.add((along - least * least * lock.lost_direction).norm());
    }
  }
  RecordProperty("eps", std::to_string(worst.value() / epsilon<double>()));
  // The angles, accurate to a few eps, enter E again: measured 5.0 eps.
  EXPECT_LE(worst.value(), 16 * epsilon<double>());
}

TEST(EulerRates, FloatHasItsOwnPrecision) {
  for (const EulerSequence& s : kEulerSequences) {
    for (const auto& [angles, rates] : random_states(20)) {
      const Vector3<float> t = angles.cast<float>(), dt = rates.cast<float>();
      const Vector3<double> exact =
          euler_rate_matrix<double>(s, t.cast<double>()) * dt.cast<double>();
      const Vector3<double> found = (euler_rate_matrix(s, t) * dt).cast<double>();
      // As in double: three products of numbers up to 2.
      EXPECT_LE((found - exact).norm(), 8 * epsilon<float>()) << s;
    }
  }
}

TEST(EulerRates, NoInverseAtLock) {
  EXPECT_EQ(
      message([] {
        euler_rate_inverse<double>(EulerSequence("zxz"), {0.5, 0, 0.25});
      }),
      "euler_rate_inverse: angles [0.5, 0, 0.25] of zxz are 0 rad from gimbal lock, expected "
      "1.7763568394002505e-15 or more (first and third axis are collinear, so one direction of "
      "angular velocity needs infinite rates) [computation failed]");
  EXPECT_EQ(message([] {
              euler_rate_inverse_body<double>(EulerSequence("ZYZ"), {1, 1e-15, 2});
            }),
            "euler_rate_inverse_body: angles [1, 1e-15, 2] of ZYZ are 1e-15 rad from gimbal lock, "
            "expected 1.7763568394002505e-15 or more (first and third axis are collinear, so one "
            "direction "
            "of angular velocity needs infinite rates) [computation failed]");
  for (const EulerSequence& s : kEulerSequences) {
    // Also outside the range of returned angles.
    for (const double middle : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
      const Vector3<double> t(0.3, middle * kPi, -0.8);
      const bool locks = s.is_proper() == (std::floor(middle) == middle);
      EXPECT_EQ(message([&] { euler_rate_inverse(s, t); }) != "no error", locks) << s;
      EXPECT_EQ(message([&] { euler_rate_inverse_body(s, t); }) != "no error", locks) << s;
    }
    // Just off lock the inverse exists and its largest entry is 1 / sin(1e-12).
    const double lock = s.is_proper() ? 0 : kPi / 2;
    const Matrix3<double> K = euler_rate_inverse<double>(s, {0, lock - 1e-12, 0});
    EXPECT_NEAR(max_abs(K), 1e12, 1e12 * 1e12 * epsilon<double>()) << s;
  }
}

TEST(EulerRates, RejectNonFiniteAngles) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Vector3<double> t(0, nan, 1);
  const EulerSequence s("XYZ");
  const std::string rest = ": angles is [0, nan, 1], expected finite numbers";
  EXPECT_EQ(message([&] { euler_rate_matrix(s, t); }), "euler_rate_matrix" + rest);
  EXPECT_EQ(message([&] { euler_rate_matrix_body(s, t); }), "euler_rate_matrix_body" + rest);
  EXPECT_EQ(message([&] { euler_rate_inverse(s, t); }), "euler_rate_inverse" + rest);
  EXPECT_EQ(message([&] { euler_rate_inverse_body(s, t); }), "euler_rate_inverse_body" + rest);
}

// Lanes of a pack that differ in every decision: locked at one end or the other, or not locked.
// Each lane must equal the result for double.
TEST(EulerPacks, EachLaneEqualsTheDoubleResult) {
  for (const EulerSequence& s : kEulerSequences) {
    const double low = s.is_proper() ? 0 : -kPi / 2, high = low + kPi;
    const std::vector<Vector3<double>> cases = {{0.4, low, -2.0},         {-2.5, high, 1.0},
                                                {3.0, low + 0.7, 2.9},    {0.1, low, 0.2},
                                                {-3.0, high - 1e-9, 3.0}, {1.0, high - 0.2, -1.0}};
    for (std::size_t n = 0; n + kLanes <= cases.size(); ++n) {
      Vector3<Pack> t;
      for (int i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < kLanes; ++k) t[i].lane[k] = cases[n + k][i];
      }
      const Matrix3<Pack> R = euler_to_matrix(s, t);
      const auto found = euler_from_matrix(s, R);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Matrix3<double> R_lane = euler_to_matrix(s, cases[n + lane]);
        const auto expected = euler_from_matrix(s, R_lane);
        EXPECT_EQ(found.lock.locked.lane[lane], expected.lock.locked) << s;
        // The same operations, though a compiler may fuse them differently: a few eps, which the
        // outer angles have divided by the distance to lock.
        const double tolerance = 8 * epsilon<double>();
        const double outer = expected.lock.locked ? tolerance : tolerance / expected.lock.measure;
        for (int i = 0; i < 3; ++i) {
          EXPECT_NEAR(found.angles[i].lane[lane], expected.angles[i], outer) << s;
          EXPECT_NEAR(found.lock.lost_direction[i].lane[lane], expected.lock.lost_direction[i],
                      outer)
              << s;
        }
        EXPECT_NEAR(found.angles[1].lane[lane], expected.angles[1], tolerance) << s;
        EXPECT_NEAR(found.lock.distance.lane[lane], expected.lock.distance, tolerance) << s;
        EXPECT_NEAR(found.lock.measure.lane[lane], expected.lock.measure, tolerance) << s;
        const auto E = euler_rate_matrix(s, t);
        const Matrix3<double> E_lane = euler_rate_matrix(s, cases[n + lane]);
        for (int i = 0; i < 9; ++i) EXPECT_EQ(E(i % 3, i / 3).lane[lane], E_lane(i % 3, i / 3));
      }
    }
  }
}

}  // namespace
}  // namespace limb
