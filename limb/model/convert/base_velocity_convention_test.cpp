// Four conventions for the velocity of a free body, compared with independent definitions as
// derivatives of a trajectory.
#include "limb/model/convert/base_velocity_convention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::Random;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr BaseVelocityConvention kConventions[] = {
    BaseVelocityConvention::body, BaseVelocityConvention::mujoco, BaseVelocityConvention::mixed,
    BaseVelocityConvention::world};

/// A smooth trajectory of a free body, and its velocity in each convention by central differences.
struct Trajectory {
  Vector3<double> c1, c2, r1, r2;
  explicit Trajectory(Random& random)
      : c1(random.vector<double>()),
        c2(random.vector<double>()),
        r1(random.vector<double>()),
        r2(random.vector<double>()) {}

  Pose<double> at(double t) const {
    const Vector3<double> p = c1 * std::sin(t) + c2 * std::cos(2 * t);
    return {so3::exp<double>(r1 * t) * so3::exp<double>(r2 * std::sin(t)), p};
  }
  Motion<double> velocity(BaseVelocityConvention convention, double t, double h) const {
    const Pose<double> X = at(t), plus = at(t + h), minus = at(t - h);
    const Vector3<double> dp = (plus.p - minus.p) / (2 * h);
    const Matrix3<double> dR = (plus.R - minus.R) / (2 * h);
    const Vector3<double> w_B = unskew<double>(X.R.transpose() * dR);
    const Vector3<double> w_W = unskew<double>(dR * X.R.transpose());
    switch (convention) {
      case BaseVelocityConvention::body:
        return {X.R.transpose() * dp, w_B};
      case BaseVelocityConvention::mujoco:
        return {dp, w_B};
      case BaseVelocityConvention::mixed:
        return {dp, w_W};
      default:
        return {dp - w_W.cross(X.p), w_W};  // the body's point at the origin of the world
    }
  }
  Motion<double> acceleration(BaseVelocityConvention convention, double t, double h) const {
    return (velocity(convention, t + h, h) - velocity(convention, t - h, h)) * (0.5 / h);
  }
};

// Second differences with h = eps^(1/4) have errors of h^2 = sqrt(eps) from the series and
// eps / h^2 from rounding; the trajectory's fourth derivatives are up to 16 in each of 6 parts and
// grow by products of rates: 256.
TEST(BaseVelocityConvention, ConversionsAreDerivativesOfTheTrajectory) {
  Random random(11);
  const double h = std::pow(kEps, 0.25), tolerance = 256 * h * h;
  for (int i = 0; i < 20; ++i) {
    const Trajectory path(random);
    const double t = random.uniform(-1, 1);
    for (const BaseVelocityConvention from : kConventions) {
      const Motion<double> V = path.velocity(from, t, h), A = path.acceleration(from, t, h);
      for (const BaseVelocityConvention to : kConventions) {
        const auto V_to = convert_velocity(path.at(t), V, from, to);
        const auto A_to = convert_acceleration(path.at(t), V, A, from, to);
        EXPECT_LT((V_to - path.velocity(to, t, h)).vector().norm(), tolerance);
        EXPECT_LT((A_to - path.acceleration(to, t, h)).vector().norm(), tolerance);
      }
    }
  }
}

// The same without differences: X exp(V dt) and V + A dt with dual dt have exact derivatives.
// Three products of 3 x 3 matrices with entries of size 1 to 3: 64 eps.
TEST(BaseVelocityConvention, AccelerationIsTheDerivativeOfTheConvertedVelocity) {
  Random random(12);
  for (int i = 0; i < 50; ++i) {
    const auto X = random.pose<double>();
    const auto V = random.motion<double>(), A = random.motion<double>();
    const Matrix3<double> dR = X.R * skew(V.w);
    const Vector3<double> dp = X.R * V.v;
    Pose<Dual> X_dual;
    Motion<Dual> V_dual;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) X_dual.R(r, c) = Dual(X.R(r, c), dR(r, c));
      X_dual.p[r] = Dual(X.p[r], dp[r]);
      V_dual.v[r] = Dual(V.v[r], A.v[r]);
      V_dual.w[r] = Dual(V.w[r], A.w[r]);
    }
    for (const BaseVelocityConvention to : kConventions) {
      const auto found = convert_acceleration(X, V, A, BaseVelocityConvention::body, to).vector();
      const auto expected =
          convert_velocity(X_dual, V_dual, BaseVelocityConvention::body, to).vector();
      for (int k = 0; k < 6; ++k) EXPECT_NEAR(found[k], expected[k].tangent[0], 64 * kEps);
    }
  }
}

// 32 eps: at most four rotations and two cross products of vectors of length up to 2.
template <typename T>
void check_round_trips(double tolerance) {
  Random random(13);
  for (int i = 0; i < 50; ++i) {
    const auto X = random.pose<T>();
    const auto V = random.motion<T>(), A = random.motion<T>();
    const auto F = random.force<T>();
    for (const BaseVelocityConvention from : kConventions) {
      for (const BaseVelocityConvention to : kConventions) {
        const auto V_to = convert_velocity(X, V, from, to);
        const auto A_to = convert_acceleration(X, V, A, from, to);
        const auto F_to = convert_force(X, F, from, to);
        EXPECT_LT((convert_velocity(X, V_to, to, from) - V).vector().norm(), tolerance);
        EXPECT_LT((convert_acceleration(X, V_to, A_to, to, from) - A).vector().norm(), tolerance);
        EXPECT_LT((convert_force(X, F_to, to, from) - F).vector().norm(), tolerance);
        EXPECT_LT(std::abs(dot(V_to, F_to) - dot(V, F)), tolerance) << "power";
      }
    }
  }
}
TEST(BaseVelocityConvention, RoundTripsAndPower) {
  check_round_trips<double>(32 * kEps);
}
TEST(BaseVelocityConvention, RoundTripsAndPowerFloat) {
  check_round_trips<float>(32 * std::numeric_limits<float>::epsilon());
}

// A body on a turntable at radius 1 m and 2 rad/s: its twist is constant in body axes, so the
// acceleration in the body convention is zero; the classical one is centripetal, 4 m/s^2 inward.
TEST(BaseVelocityConvention, ConstantTwistIsACentripetalAcceleration) {
  const Pose<double> X{Matrix3<double>::Identity(), {1, 0, 0}};
  const Motion<double> V{{0, 2, 0}, {0, 0, 2}};
  const auto mujoco = convert_acceleration(X, V, Motion<double>(), BaseVelocityConvention::body,
                                           BaseVelocityConvention::mujoco);
  EXPECT_EQ(mujoco.v, Vector3<double>(-4, 0, 0));
  EXPECT_EQ(mujoco.w, Vector3<double>::Zero());
  // The body's point at the centre of the table is at rest: the world convention has no linear
  // part.
  EXPECT_EQ(convert_velocity(X, V, BaseVelocityConvention::body, BaseVelocityConvention::world).v,
            Vector3<double>::Zero());
}

TEST(BaseVelocityConvention, RejectsAMatrixThatIsNotARotation) {
  Pose<double> X;
  X.R *= 2;
  try {
    convert_velocity(X, Motion<double>(), BaseVelocityConvention::body,
                     BaseVelocityConvention::world);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "convert_velocity: X_WB.R is [2, 0, 0, 0, 2, 0, 0, 0, 2] with |R^T R - 1| = 3 and "
                 "det = 8, expected a rotation matrix (nearest_rotation() repairs drift)");
  }
}

}  // namespace
}  // namespace limb
