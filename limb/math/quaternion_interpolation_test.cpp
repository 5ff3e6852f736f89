// slerp and squad.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::Random;

constexpr double kPi = std::numbers::pi;
constexpr unsigned kSeed = 20240614;

/// Angle of the rotation from a to b, at most pi.
template <typename T>
T angle_between(const Quaternion<T>& a, const Quaternion<T>& b) {
  return quaternion_log(a.conjugate() * b).norm();
}

template <typename T>
class InterpolationOf : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(InterpolationOf, Scalars);

TYPED_TEST(InterpolationOf, SlerpEndsMidpointAndConstantSpeed) {
  using T = TypeParam;
  Random draw(kSeed);
  Worst worst, worst_middle, worst_speed;
  for (int n = 0; n < 200; ++n) {
    const auto a = draw.unit_quaternion<T>(), b = draw.unit_quaternion<T>();
    const auto aligned = align_sign(a, b);
    const T whole = angle_between(a, b);
    worst.add((slerp(a, b, T(0)) - a).norm(), (slerp(a, b, T(1)) - aligned).norm(),
              std::abs(slerp(a, b, T(0.37)).norm() - 1));
    // On the unit sphere the midpoint is the normalized mean.
    const auto mean = (a + aligned).normalized();
    worst_middle.add((slerp(a, b, T(0.5)) - mean).norm());
    for (int step = 0; step < 8; ++step) {
      const auto from = slerp(a, b, T(step) / 8), to = slerp(a, b, T(step + 1) / 8);
      worst_speed.add(std::abs(angle_between(from, to) - whole / 8));
    }
  }
  ::testing::Test::RecordProperty("ends_eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("middle_eps",
                                  std::to_string(worst_middle.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("speed_eps", std::to_string(worst_speed.value() / epsilon<T>()));
  // Angles up to pi (an ulp is 2 eps) through log and exp: measured at most 2.3, 1.6 and 4.0 eps.
  EXPECT_LE(worst.value(), 8 * epsilon<T>());
  EXPECT_LE(worst_middle.value(), 8 * epsilon<T>());
  EXPECT_LE(worst_speed.value(), 8 * epsilon<T>());
}

// q and -q are the same rotation, so either sign must give the same path, the shorter one.
TYPED_TEST(InterpolationOf, SlerpTakesTheShorterArcForAnySigns) {
  using T = TypeParam;
  Random draw(kSeed);
  for (int n = 0; n < 100; ++n) {
    const auto a = draw.unit_quaternion<T>(), b = draw.unit_quaternion<T>();
    for (const T t : {T(0), T(0.25), T(0.6), T(1)}) {
      const auto q = slerp(a, b, t);
      EXPECT_EQ(slerp(a, -b, t).xyzw(), q.xyzw());
      EXPECT_EQ(slerp(-a, b, t).xyzw(), (-q).xyzw());
      // The parts add up to the whole, which is at most half a turn.
      const T whole = angle_between(a, b);
      EXPECT_NEAR(angle_between(a, q) + angle_between(q, b), whole, 16 * epsilon<T>());
    }
  }
}

TEST(Slerp, NearlyEqualAndNearlyOpposite) {
  Random draw(kSeed);
  for (int n = 0; n < 100; ++n) {
    const auto a = draw.unit_quaternion<double>();
    const Vector3<double> axis = draw.direction<double>();
    for (const double angle : {1e-300, 1e-160, 1e-12, 1e-8, 1e-3, kPi - 1e-3, kPi - 1e-12}) {
      const auto b = a * quaternion_from_axis_angle(axis, angle);
      const auto expected = a * quaternion_from_axis_angle(axis, 0.3 * angle);
      // The axis is known to eps / sin(angle/2) of the angle: an error of a few eps in the path.
      EXPECT_LE((slerp(a, b, 0.3) - expected).norm(), 8 * epsilon<double>()) << angle;
      EXPECT_LE((slerp(a, -b, 0.3) - expected).norm(), 8 * epsilon<double>()) << angle;
    }
    // Beyond half a turn the shorter arc is the other one.
    const auto past = a * quaternion_from_axis_angle(axis, kPi + 1e-3);
    const auto expected = a * quaternion_from_axis_angle(axis, -0.3 * (kPi - 1e-3));
    EXPECT_LE((slerp(a, past, 0.3) - expected).norm(), 8 * epsilon<double>());
    EXPECT_EQ(slerp(a, a, 0.7).wxyz(), slerp(a, -a, 0.7).wxyz());
  }
  // Exactly half a turn: the arc given by the signs.
  const auto half_turn = quat_wxyz(0.0, 1.0, 0.0, 0.0);
  const double r = std::sqrt(0.5);
  const Vector4<double> forward(r, r, 0, 0), backward(r, -r, 0, 0);
  EXPECT_LE((slerp(Quaternion<double>(), half_turn, 0.5).wxyz() - forward).norm(), 1e-15);
  EXPECT_LE((slerp(Quaternion<double>(), -half_turn, 0.5).wxyz() - backward).norm(), 1e-15);
}

class Keys {
 public:
  Keys(unsigned seed, double spread) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::bernoulli_distribution flip;
    Quaternion<double> q;
    for (auto& key : keys_) {
      const double x = normal(random), y = normal(random), z = normal(random);
      q = q * quaternion_exp<double>(spread * Vector3<double>(x, y, z).normalized());
      key = flip(random) ? q : -q;  // random signs, which must not matter
    }
  }
  const Quaternion<double>& key(int n) const { return keys_[static_cast<std::size_t>(n)]; }
  Quaternion<double> control(int n) const { return squad_control(key(n - 1), key(n), key(n + 1)); }
  /// Piece from key n to key n + 1.
  Quaternion<double> at(int n, double t) const {
    return squad(key(n), key(n + 1), control(n), control(n + 1), t);
  }

 private:
  std::array<Quaternion<double>, 7> keys_;
};

TEST(Squad, PassesThroughTheKeysWithContinuousVelocity) {
  Least slowest;
  Worst worst_key, worst_velocity;
  for (unsigned seed = kSeed; seed < kSeed + 20; ++seed) {
    const Keys keys(seed, 1.2);
    for (int n = 2; n < 5; ++n) {
      worst_key.add(angle_between(keys.key(n), keys.at(n, 0.0)),
                    angle_between(keys.key(n), keys.at(n - 1, 1.0)));
      // One-sided angular velocities at the key. Richardson's w = 2 w(h/2) - w(h) removes the term
      // in h; the rest is of order h^2 |w''| + eps / h, and the
      // bound below allows |w''| = 50; measured 3.5e-10 rad/s in total.
      const auto velocity = [&](int piece, double t, double h) -> Vector3<double> {
        const auto q = keys.at(piece, t);
        const auto w = [&](double step) -> Vector3<double> {
          return quaternion_log(q.conjugate() * keys.at(piece, t + step)) / step;
        };
        return 2 * w(h / 2) - w(h);
      };
      const double h = 1e-5;
      const Vector3<double> left = velocity(n - 1, 1.0, -h), right = velocity(n, 0.0, h);
      worst_velocity.add((left - right).norm());
      slowest.add(right.norm());
    }
  }
  RecordProperty("key_eps", std::to_string(worst_key.value() / epsilon<double>()));
  RecordProperty("velocity_1e9", std::to_string(worst_velocity.value() * 1e9));
  RecordProperty("slowest", std::to_string(slowest.value()));
  EXPECT_LE(worst_key.value(), 8 * epsilon<double>());  // measured 2.8 eps
  EXPECT_LE(worst_velocity.value(), 50 * 1e-10 + 8 * epsilon<double>() / 1e-5);
  EXPECT_GT(slowest.value(), 0.1);  // the velocities compared are not zero
}

// Piecewise slerp has corners at the keys, which the test above would detect.
TEST(Squad, IsSmootherThanSlerp) {
  const Keys keys(kSeed, 1.2);
  const Vector3<double> left =
      quaternion_log(keys.key(2).conjugate() * align_sign(keys.key(2), keys.key(1))) * -1.0;
  const Vector3<double> right =
      quaternion_log(keys.key(2).conjugate() * align_sign(keys.key(2), keys.key(3)));
  EXPECT_GT((left - right).norm(), 0.1);
}

// Keys at constant angular velocity: the control points fall on the keys and squad is slerp.
TEST(Squad, ConstantVelocityStaysConstant) {
  const Vector3<double> step(0.2, -0.5, 0.3);
  const auto key = [&](int n) { return quaternion_exp<double>(step * double(n)); };
  const auto s0 = squad_control(key(0), key(1), key(2)), s1 = squad_control(key(1), key(2), key(3));
  EXPECT_LE((s0 - key(1)).norm(), 4 * epsilon<double>());
  for (const double t : {0.0, 0.2, 0.5, 0.9, 1.0}) {
    const auto expected = quaternion_exp<double>(step * (1 + t));
    EXPECT_LE((squad(key(1), key(2), s0, s1, t) - expected).norm(), 8 * epsilon<double>());
  }
}

}  // namespace
}  // namespace limb
