#include "limb/math/quaternion.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numbers>
#include <sstream>

#include "limb/base/testing/worst.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Random;

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr unsigned kSeed = 20240613;

/// Largest difference of two rotations given by quaternions of either sign.
template <typename T>
T rotation_distance(const Quaternion<T>& a, const Quaternion<T>& b) {
  return (align_sign(a, b) - a).norm();
}

template <typename T>
class QuaternionOf : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(QuaternionOf, Scalars);

TEST(Quaternion, HamiltonUnits) {
  const auto one = Quaternion<double>::identity(), i = quat_wxyz(0.0, 1.0, 0.0, 0.0),
             j = quat_wxyz(0.0, 0.0, 1.0, 0.0), k = quat_wxyz(0.0, 0.0, 0.0, 1.0);
  const auto same = [](const auto& a, const auto& b) { return a.xyzw() == b.xyzw(); };
  EXPECT_TRUE(same(i * i, -one));
  EXPECT_TRUE(same(j * j, -one));
  EXPECT_TRUE(same(k * k, -one));
  EXPECT_TRUE(same(i * j * k, -one));
  EXPECT_TRUE(same(i * j, k) && same(j * k, i) && same(k * i, j));
  EXPECT_TRUE(same(j * i, -k) && same(k * j, -i) && same(i * k, -j));
  EXPECT_TRUE(same(one * i, i) && same(i * one, i));
}

TEST(Quaternion, SumScaleConjugate) {
  const auto a = quat_wxyz(1.0, 2.0, -3.0, 4.0), b = quat_wxyz(0.5, -1.0, 8.0, 0.25);
  EXPECT_EQ((a + b).wxyz(), Vector4<double>(1.5, 1, 5, 4.25));
  EXPECT_EQ((a - b).wxyz(), Vector4<double>(0.5, 3, -11, 3.75));
  EXPECT_EQ((-a).wxyz(), Vector4<double>(-1, -2, 3, -4));
  EXPECT_EQ((a * 2.0).wxyz(), Vector4<double>(2, 4, -6, 8));
  EXPECT_EQ((2.0 * a).wxyz(), (a * 2.0).wxyz());
  EXPECT_EQ((a / 2.0).wxyz(), Vector4<double>(0.5, 1, -1.5, 2));
  EXPECT_EQ(a.conjugate().wxyz(), Vector4<double>(1, -2, 3, -4));
  EXPECT_EQ(a.squared_norm(), 30);
  EXPECT_EQ(dot(a, b), 0.5 - 2 - 24 + 1);
  // By hand: (q r - q.r, r q + q r + q x r).
  EXPECT_EQ((a * b).wxyz(), Vector4<double>(25.5, -32.75, 2, 15.25));
  EXPECT_EQ((b * a).wxyz(), Vector4<double>(25.5, 32.75, 11, -10.75));
}

TYPED_TEST(QuaternionOf, ProductIdentities) {
  using T = TypeParam;
  Random draw(kSeed);
  Least least_gap;
  Worst worst_matrix, worst_associative, worst_norm, worst_inverse;
  for (int n = 0; n < 300; ++n) {
    const auto a = draw.quaternion<T>(), b = draw.quaternion<T>(), c = draw.quaternion<T>();
    const T ab = a.norm() * b.norm();
    const Vector4<T> product = (a * b).xyzw();
    worst_matrix.add((left_product_matrix(a) * b.xyzw() - product).norm() / ab,
                     (right_product_matrix(b) * a.xyzw() - product).norm() / ab);
    worst_associative.add(((a * b) * c - a * (b * c)).norm() / (ab * c.norm()));
    worst_norm.add(std::abs((a * b).norm() / ab - 1));
    worst_inverse.add((a * a.inverse() - Quaternion<T>()).norm(),
                      (a.inverse() * a - Quaternion<T>()).norm());
    worst_inverse.add(((a * b).inverse() - b.inverse() * a.inverse()).norm() * ab);
    least_gap.add((a * b - b * a).norm() / ab);
    const auto u = draw.unit_quaternion<T>();
    worst_inverse.add((u.inverse() - u.conjugate()).norm());
  }
  ::testing::Test::RecordProperty("matrix_eps",
                                  std::to_string(worst_matrix.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("assoc_eps",
                                  std::to_string(worst_associative.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("norm_eps", std::to_string(worst_norm.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("inverse_eps",
                                  std::to_string(worst_inverse.value() / epsilon<T>()));
  // Sums of four products, once or twice, relative to the product of the norms: measured at most
  // 1.2, 2.0, 2.0 and 2.7 eps, double and float.
  EXPECT_LE(worst_matrix.value(), 2 * epsilon<T>());
  EXPECT_LE(worst_associative.value(), 4 * epsilon<T>());
  EXPECT_LE(worst_norm.value(), 4 * epsilon<T>());
  EXPECT_LE(worst_inverse.value(), 4 * epsilon<T>());
  EXPECT_GT(least_gap.value(), T(1e-3));  // not commutative
}

TYPED_TEST(QuaternionOf, RotatesAsItsMatrixAndComposes) {
  using T = TypeParam;
  Random draw(kSeed);
  Worst worst_matrix, worst, worst_order;
  for (int n = 0; n < 300; ++n) {
    const auto q_AB = draw.unit_quaternion<T>(), q_BC = draw.unit_quaternion<T>();
    const Vector3<T> p = draw.direction<T>();
    const auto sandwich = q_AB * quat_xyzw(p[0], p[1], p[2], T(0)) * q_AB.inverse();
    worst.add((q_AB.rotate(p) - sandwich.vec()).norm(), std::abs(sandwich.w()),
              (to_matrix(q_AB) * p - q_AB.rotate(p)).norm());
    worst_matrix.add(rotation_error(to_matrix(q_AB)).orthogonality);
    // q_AC = q_AB q_BC: the right factor acts first.
    const auto q_AC = q_AB * q_BC;
    worst_order.add((q_AC.rotate(p) - q_AB.rotate(q_BC.rotate(p))).norm(),
                    max_abs(to_matrix(q_AC) - to_matrix(q_AB) * to_matrix(q_BC)));
  }
  ::testing::Test::RecordProperty("rotate_eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("orthogonal_eps",
                                  std::to_string(worst_matrix.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("order_eps", std::to_string(worst_order.value() / epsilon<T>()));
  // |q|^2 is 1 to about 2 eps, which affects each formula differently: measured at
  // most 3.4, 7.5 (the error of |q|^2 four times) and 5.0 eps.
  EXPECT_LE(worst.value(), 8 * epsilon<T>());
  EXPECT_LE(worst_matrix.value(), 16 * epsilon<T>());
  EXPECT_LE(worst_order.value(), 12 * epsilon<T>());
}

// All four branches of quaternion_from_matrix, each where its part is the largest, up to half turns
// where w = 0 and to the ties between branches.
TYPED_TEST(QuaternionOf, MatrixRoundTripInEveryBranch) {
  using T = TypeParam;
  Random draw(kSeed);
  Worst worst;
  std::array<int, 4> branch{};
  for (int n = 0; n < 400; ++n) {
    Vector4<T> xyzw = draw.quaternion<T>().xyzw();
    xyzw[n % 4] += T(std::copysign(3.0, xyzw[n % 4]));
    const auto q = Quaternion<T>::from_xyzw(xyzw).normalized();
    const auto back = quaternion_from_matrix(to_matrix(q));
    worst.add(rotation_distance(q, back));
    Eigen::Index part = 3;  // w where it is at least 1/2, else the largest of x, y, z
    if (std::abs(q.w()) < T(0.5)) q.vec().cwiseAbs().template maxCoeff<Eigen::PropagateNaN>(&part);
    ++branch[static_cast<std::size_t>(part)];
    EXPECT_GT(back.xyzw()[part], T(0)) << "the component it is computed from is positive";
  }
  for (const int count : branch) EXPECT_GT(count, 50);
  for (int bits = 1; bits < 27; ++bits) {  // axes and diagonals of the cube, w = 0 and w = +-1 part
    const Vector3<T> axis(T(bits % 3 - 1), T(bits / 3 % 3 - 1), T(bits / 9 % 3 - 1));
    if (axis.norm() == T(0)) continue;
    for (const T angle : {T(kPi), T(kPi / 2), T(2 * kPi / 3), T(1e-4), T(kPi - 1e-4)}) {
      const auto q = quaternion_from_axis_angle<T>(axis.normalized(), angle);
      worst.add(rotation_distance(q, quaternion_from_matrix(to_matrix(q))));
    }
  }
  ::testing::Test::RecordProperty("eps", std::to_string(worst.value() / epsilon<T>()));
  EXPECT_LE(worst.value(), 4 * epsilon<T>());  // measured 2.1 eps; the divisor is at least 1
}

TEST(Quaternion, HalfTurnsAboutTheAxesAreExact) {
  for (int axis = 0; axis < 3; ++axis) {
    Matrix3<double> R = -Matrix3<double>::Identity();
    R(axis, axis) = 1;
    const auto q = quaternion_from_matrix(R);
    EXPECT_EQ(q.w(), 0);
    EXPECT_EQ(Vector3<double>(q.vec()), Vector3<double>::Unit(axis));
    EXPECT_EQ(to_matrix(q), R);
  }
}

TYPED_TEST(QuaternionOf, AxisAngleBothWays) {
  using T = TypeParam;
  Random draw(kSeed);
  Worst worst_angle, worst_axis;
  for (int n = 0; n < 200; ++n) {
    const Vector3<T> axis = draw.direction<T>();
    for (const T angle : {T(1e-12), T(1e-6), T(0.1), T(1), T(2), T(3), T(kPi - 1e-3)}) {
      const auto [found_axis, found_angle] = to_axis_angle(quaternion_from_axis_angle(axis, angle));
      worst_angle.add(std::abs(found_angle - angle) / angle);
      worst_axis.add((found_axis - axis).norm());
    }
  }
  ::testing::Test::RecordProperty("angle_eps", std::to_string(worst_angle.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("axis_eps", std::to_string(worst_axis.value() / epsilon<T>()));
  // Relative, also for tiny angles: nothing is subtracted from 1. Measured 1.9 eps.
  EXPECT_LE(worst_angle.value(), 4 * epsilon<T>());
  EXPECT_LE(worst_axis.value(), 4 * epsilon<T>());
}

TEST(Quaternion, AxisAngleAtTheEnds) {
  const Vector3<double> axis(2.0 / 3, -1.0 / 3, 2.0 / 3);
  const auto none = to_axis_angle(quaternion_from_axis_angle(axis, 0.0));
  EXPECT_EQ(none.angle, 0);
  EXPECT_EQ(none.axis, Vector3<double>::UnitX());
  const auto half = to_axis_angle(quaternion_from_axis_angle(axis, kPi));
  EXPECT_NEAR(half.angle, kPi, 4 * epsilon<double>());
  EXPECT_LE((half.axis - axis).norm(), 4 * epsilon<double>());
  // Beyond half a turn: the complement about the opposite axis. An angle near 2 pi has an ulp of 4
  // eps.
  const auto over = to_axis_angle(quaternion_from_axis_angle(axis, 1.5 * kPi));
  EXPECT_NEAR(over.angle, 0.5 * kPi, 4 * epsilon<double>());
  EXPECT_LE((over.axis + axis).norm(), 4 * epsilon<double>());
  const auto whole = to_axis_angle(quaternion_from_axis_angle(axis, 2 * kPi));
  EXPECT_LE(whole.angle, 4 * epsilon<double>());
  EXPECT_EQ(to_axis_angle(-Quaternion<double>()).angle, 0);
}

TYPED_TEST(QuaternionOf, ExponentialAndLogarithm) {
  using T = TypeParam;
  Random draw(kSeed);
  Worst worst, worst_exp;
  for (int n = 0; n < 300; ++n) {
    const Vector3<T> w = draw.direction<T>() * T(draw.uniform(0, kPi - 0.01));
    const auto q = quaternion_exp(w);
    worst_exp.add(max_abs(to_matrix(q) - so3::exp(w)));
    worst.add((quaternion_log(q) - w).norm(), (quaternion_log(-q) - w).norm());
  }
  ::testing::Test::RecordProperty("log_eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("exp_eps", std::to_string(worst_exp.value() / epsilon<T>()));
  EXPECT_LE(
      worst.value(),
      8 * epsilon<T>());  // vectors of length up to pi, an ulp is 2 eps: measured 2.4 and 3.0 eps
  EXPECT_LE(worst_exp.value(), 8 * epsilon<T>());
}

TYPED_TEST(QuaternionOf, RateIsTheDerivative) {
  using T = TypeParam;
  Random draw(kSeed);
  // Central difference: error h^2 |w|^3 / 24 against eps / h; at h = eps^(1/3) both are eps^(2/3).
  const T h = std::cbrt(epsilon<T>());
  const T tolerance = 4 * h * h;
  for (int n = 0; n < 100; ++n) {
    const auto q_AB = draw.unit_quaternion<T>();
    const Vector3<T> w_AB_B = draw.direction<T>();
    const auto ahead = q_AB * quaternion_exp<T>(h * w_AB_B);
    const auto behind = q_AB * quaternion_exp<T>(-h * w_AB_B);
    const auto rate = quaternion_rate(q_AB, w_AB_B);
    EXPECT_LE(((ahead - behind) / (2 * h) - rate).norm(), tolerance);
    EXPECT_LE(std::abs(dot(q_AB, rate)), 2 * epsilon<T>());  // stays of unit length
    EXPECT_LE((angular_velocity(q_AB, rate) - w_AB_B).norm(), 8 * epsilon<T>());
  }
}

TEST(Quaternion, OrderInMemoryAndInText) {
  const auto q = quat_xyzw(1.0, 2.0, 3.0, 4.0);
  EXPECT_EQ(quat_wxyz(4.0, 1.0, 2.0, 3.0).xyzw(), q.xyzw());
  EXPECT_EQ(Quaternion<double>::from_wxyz({4, 1, 2, 3}).xyzw(), q.xyzw());
  EXPECT_EQ(Quaternion<double>::from_xyzw({1, 2, 3, 4}).xyzw(), q.xyzw());
  EXPECT_EQ(q.wxyz(), Vector4<double>(4, 1, 2, 3));
  EXPECT_TRUE(q.x() == 1 && q.y() == 2 && q.z() == 3 && q.w() == 4);
  std::ostringstream out;
  out << q << " " << Quaternion<float>() << " " << quat_xyzw(0.5, -0.25, 0.0, 1e-9);
  EXPECT_EQ(out.str(),
            "quat_xyzw(1, 2, 3, 4) quat_xyzw(0, 0, 0, 1) quat_xyzw(0.5, -0.25, 0, 1e-09)");
  EXPECT_EQ(q.cast<float>().xyzw(), (quat_xyzw(1.0f, 2.0f, 3.0f, 4.0f).xyzw()));
  EXPECT_EQ(quat_xyzw(0.1f, 0.0f, 0.0f, 1.0f).cast<double>().x(), double(0.1f));
}

// The object has the memory layout of an Eigen quaternion.
TEST(Quaternion, HasTheMemoryLayoutOfEigen) {
  static_assert(sizeof(Quaternion<double>) == 4 * sizeof(double));
  static_assert(sizeof(Quaternion<float>) == 4 * sizeof(float));
  Random draw(kSeed);
  const auto a = draw.unit_quaternion<double>(), b = draw.unit_quaternion<double>();
  const Eigen::Map<const Eigen::Quaterniond> view_a(a.data()), view_b(b.data());
  EXPECT_EQ(view_a.coeffs().data(), a.data());
  EXPECT_EQ(view_a.w(), a.w());
  EXPECT_EQ(view_a.x(), a.x());
  // Eigen as an independent implementation of product and matrix.
  const double few = 4 * epsilon<double>();
  EXPECT_LE(((view_a * view_b).coeffs() - (a * b).xyzw()).norm(), few);
  EXPECT_LE((view_a.toRotationMatrix() - to_matrix(a)).norm(), few);
}

// The squares of parts below 1e-154 or above 1e154 leave the range of double; 1e-19 and 1e19 that
// of float. The parts are powers of two here, so that every result is exact.
TYPED_TEST(QuaternionOf, NormalizesTheSmallestAndTheLargest) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T smallest = Limits::denorm_min(), large = std::ldexp(T(1), Limits::max_exponent - 2);
  for (const T size : {smallest, T(4) * smallest, Limits::min(), std::sqrt(Limits::min()), T(1),
                       std::ldexp(T(1), Limits::max_exponent / 2), large}) {
    const auto q = quat_xyzw(size, -size, size, size);
    EXPECT_EQ(q.normalized().xyzw(), Vector4<T>(T(0.5), T(-0.5), T(0.5), T(0.5))) << size;
    EXPECT_EQ(q.norm(), 2 * size) << size;
    EXPECT_EQ(quat_wxyz(size, T(0), T(0), T(0)).normalized().w(), T(1)) << size;
  }
  // The inverse exists although |q|^2 underflows to 0.
  const T tiny = std::ldexp(T(1), -Limits::max_exponent + 4);
  EXPECT_EQ(quat_wxyz(T(0), tiny, T(0), T(0)).inverse().x(), -1 / tiny);
  EXPECT_EQ(quat_wxyz(T(0), T(0), T(0), T(0)).norm(), T(0));
}

TEST(QuaternionErrors, NameCallArgumentFoundExpected) {
  const auto zero = quat_wxyz(0.0, 0.0, 0.0, 0.0), with_nan = quat_wxyz(1.0, kNan, 0.0, 0.0);
  const std::string no_zero = ": q is 0 + 0i + 0j + 0k, expected a quaternion other than 0";
  const std::string no_nan = ": q is [nan, 0, 0, 1], expected finite numbers";
  EXPECT_EQ(message([&] { zero.inverse(); }), "Quaternion::inverse" + no_zero);
  EXPECT_EQ(message([&] { zero.normalized(); }), "Quaternion::normalized" + no_zero);
  EXPECT_EQ(message([&] { with_nan.inverse(); }), "Quaternion::inverse" + no_nan);
  EXPECT_EQ(message([&] { with_nan.normalized(); }), "Quaternion::normalized" + no_nan);
  EXPECT_EQ(message([&] {
              quaternion_from_axis_angle<double>({3, 0, 4}, 1.0);
            }),
            "quaternion_from_axis_angle: axis is [3, 0, 4] of length 5, expected length 1 "
            "(normalise it first)");
  EXPECT_EQ(message([&] {
              quaternion_from_axis_angle<double>({0, 0, 0}, 1.0);
            }),
            "quaternion_from_axis_angle: axis is [0, 0, 0] of length 0, expected length 1 (a zero "
            "vector has no direction)");
  EXPECT_EQ(message([&] {
              quaternion_from_axis_angle<float>({0, 0, 2}, 1.0f);
            }),
            "quaternion_from_axis_angle: axis is [0, 0, 2] of length 2, expected length 1 "
            "(normalise it first)");
  EXPECT_EQ(message([&] { to_axis_angle(quat_wxyz(2.0, 0.0, 0.0, 0.0)); }),
            "to_axis_angle: q is [0, 0, 0, 2] of length 2, expected length 1 (normalise it first)");
  const Quaternion<double> one;
  EXPECT_EQ(message([&] { slerp(one, one, kNan); }), "slerp: t is nan, expected a finite number");
  EXPECT_EQ(message([&] { squad(one, one, one, one, kNan); }),
            "squad: t is nan, expected a finite number");
  EXPECT_EQ(message([&] { slerp(Quaternion<double>(), zero, 0.5); }),
            "slerp: b is [0, 0, 0, 0] of length 0, expected length 1 (a zero vector has no "
            "direction)");
  EXPECT_EQ(message([&] { slerp(with_nan, Quaternion<double>(), 0.5); }),
            "slerp: a is [nan, 0, 0, 1], expected finite numbers");
}

}  // namespace
}  // namespace limb
