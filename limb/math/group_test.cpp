// One property suite for the three groups that limb computes in: rotation matrices, unit
// quaternions and rigid motions, in double and in float. The properties hold for every Lie
// group. [Sola 2018]
#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <vector>

#include "limb/math/se3.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::Random;

template <typename Scalar>
struct RotationGroup {
  using T = Scalar;
  using Element = Matrix3<T>;
  static constexpr int kSize = 3;
  using Tangent = Eigen::Matrix<T, kSize, 1>;
  static Element identity() { return Element::Identity(); }
  static Element compose(const Element& a, const Element& b) { return a * b; }
  static Element inverse(const Element& a) { return a.transpose(); }
  static Element exp(const Tangent& w) { return so3::exp<T>(w); }
  static Tangent log(const Element& a) { return so3::log<T>(a); }
  static Matrix3<T> adjoint(const Element& a) { return a; }
  static Matrix3<T> left(const Tangent& w) { return so3::left_jacobian<T>(w); }
  static Matrix3<T> right(const Tangent& w) { return so3::right_jacobian<T>(w); }
  static Matrix3<T> left_inverse(const Tangent& w) { return so3::left_jacobian_inverse<T>(w); }
  static Matrix3<T> right_inverse(const Tangent& w) { return so3::right_jacobian_inverse<T>(w); }
  static Element interpolate(const Element& a, const Element& b, T t) {
    return so3::interpolate(a, b, t);
  }
  static T distance(const Element& a, const Element& b) { return (a - b).norm(); }
  static Tangent tangent(Random& random, T angle) { return random.direction<T>() * angle; }
};

template <typename Scalar>
struct QuaternionGroup : RotationGroup<Scalar> {
  using T = Scalar;
  using Element = Quaternion<T>;
  using Tangent = Vector3<T>;
  static Element identity() { return {}; }
  static Element compose(const Element& a, const Element& b) { return a * b; }
  static Element inverse(const Element& a) { return a.inverse(); }
  static Element exp(const Tangent& w) { return quaternion_exp<T>(w); }
  static Tangent log(const Element& a) { return quaternion_log<T>(a); }
  static Matrix3<T> adjoint(const Element& a) { return to_matrix(a); }
  static Element interpolate(const Element& a, const Element& b, T t) { return slerp(a, b, t); }
  static T distance(const Element& a, const Element& b) {
    return (a - align_sign(a, b)).norm();  // q and -q are the same rotation
  }
};

template <typename Scalar>
struct MotionGroup {
  using T = Scalar;
  using Element = Pose<T>;
  static constexpr int kSize = 6;
  using Tangent = Vector6<T>;
  static Motion<T> motion(const Tangent& x) { return Motion<T>::from_vector(x); }
  static Element identity() { return {}; }
  static Element compose(const Element& a, const Element& b) { return a * b; }
  static Element inverse(const Element& a) { return a.inverse(); }
  static Element exp(const Tangent& x) { return se3::exp(motion(x)); }
  static Tangent log(const Element& a) { return se3::log(a).vector(); }
  static Matrix6<T> adjoint(const Element& a) { return a.adjoint(); }
  static Matrix6<T> left(const Tangent& x) { return se3::left_jacobian(motion(x)); }
  static Matrix6<T> right(const Tangent& x) { return se3::right_jacobian(motion(x)); }
  static Matrix6<T> left_inverse(const Tangent& x) { return se3::left_jacobian_inverse(motion(x)); }
  static Matrix6<T> right_inverse(const Tangent& x) {
    return se3::right_jacobian_inverse(motion(x));
  }
  static Element interpolate(const Element& a, const Element& b, T t) {
    return se3::interpolate(a, b, t);
  }
  static T distance(const Element& a, const Element& b) {
    return (a.R - b.R).norm() + (a.p - b.p).norm();
  }
  static Tangent tangent(Random& random, T angle) {
    return stack<T>(random.vector<T>(1), random.direction<T>() * angle);
  }
};

template <typename G>
class Group : public ::testing::Test {
 protected:
  using Scalar = typename G::T;
  static constexpr Scalar kEps = std::numeric_limits<Scalar>::epsilon();
  static constexpr Scalar kPi = std::numbers::pi_v<Scalar>;

  typename G::Element element() {
    return G::exp(G::tangent(random_, Scalar(random_.uniform(0, 3.1))));
  }

  /// Angles where a formula could fail: zero, below and above every series threshold, near pi, pi.
  static std::vector<Scalar> angles() {
    std::vector<Scalar> all = {kPi};
    for (const double x : {0.0, 1e-30, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.199, 0.201, 0.5, 0.999,
                           1.001, 1.5, 1.999, 2.001, 2.5, 3.0}) {
      all.push_back(Scalar(x));
    }
    for (const double x : {1e-4, 1e-6, 1e-9, 1e-12}) all.push_back(kPi - Scalar(x));
    return all;
  }

  static constexpr unsigned kSeed = 20240;
  Random random_{kSeed};
};

using Groups =
    ::testing::Types<RotationGroup<double>, RotationGroup<float>, QuaternionGroup<double>,
                     QuaternionGroup<float>, MotionGroup<double>, MotionGroup<float>>;
TYPED_TEST_SUITE(Group, Groups);

#define LIMB_GROUP                                      \
  using G = TypeParam;                                  \
  using T = typename TestFixture::Scalar;               \
  using Tangent [[maybe_unused]] = typename G::Tangent; \
  [[maybe_unused]] constexpr T eps = TestFixture::kEps; \
  [[maybe_unused]] constexpr T pi = TestFixture::kPi;   \
  [[maybe_unused]] Random& random = this->random_

// Elements have entries of order 1; products of a few of them stay within about ten roundings.
TYPED_TEST(Group, HasIdentityAndInverse) {
  LIMB_GROUP;
  for (int i = 0; i < 200; ++i) {
    const auto X = this->element();
    EXPECT_EQ(G::distance(G::compose(X, G::identity()), X), T(0));
    EXPECT_EQ(G::distance(G::compose(G::identity(), X), X), T(0));
    EXPECT_LT(G::distance(G::compose(X, G::inverse(X)), G::identity()), 16 * eps);
    EXPECT_LT(G::distance(G::compose(G::inverse(X), X), G::identity()), 16 * eps);
  }
}

TYPED_TEST(Group, IsAssociativeButNotCommutative) {
  LIMB_GROUP;
  for (int i = 0; i < 200; ++i) {
    const auto X = this->element(), Y = this->element(), Z = this->element();
    EXPECT_LT(G::distance(G::compose(G::compose(X, Y), Z), G::compose(X, G::compose(Y, Z))),
              24 * eps);
  }
  // Quarter turns about x and z: their order matters.
  const int last = G::kSize - 1;
  const auto X = G::exp(Tangent(Tangent::Unit(last - 2) * (pi / 2)));
  const auto Z = G::exp(Tangent(Tangent::Unit(last) * (pi / 2)));
  EXPECT_GT(G::distance(G::compose(X, Z), G::compose(Z, X)), T(0.9));
}

// exp then log then exp: the element is the well-conditioned quantity, also at pi where log may
// return the opposite axis.
TYPED_TEST(Group, ExpOfLogIsTheElementAtEveryAngle) {
  LIMB_GROUP;
  for (const T angle : TestFixture::angles()) {
    for (int i = 0; i < 50; ++i) {
      const auto X = G::exp(G::tangent(random, angle));
      EXPECT_LT(G::distance(G::exp(G::log(X)), X), 24 * eps) << "angle " << angle;
    }
  }
}

// The coordinates themselves, up to the last representable angle before pi: the sign of the axis is
// then decided by w = sin(1e-9 / 2), which double resolves and float does not.
TYPED_TEST(Group, LogOfExpIsTheTangentBelowPi) {
  LIMB_GROUP;
  for (const T angle : TestFixture::angles()) {
    if (angle > pi - 64 * eps) continue;
    for (int i = 0; i < 50; ++i) {
      const Tangent x = G::tangent(random, angle);
      EXPECT_LT((G::log(G::exp(x)) - x).norm(), 32 * eps) << "angle " << angle;
    }
  }
}

TYPED_TEST(Group, LogAtPiIsOneOfTheTwoHalfTurns) {
  LIMB_GROUP;
  for (int i = 0; i < 200; ++i) {
    const Tangent x = G::tangent(random, pi);
    const Tangent y = G::log(G::exp(x));
    EXPECT_NEAR(y.template tail<3>().norm(), pi, 8 * eps);
    EXPECT_LT(std::min((y - x).template tail<3>().norm(), (y + x).template tail<3>().norm()),
              32 * eps);
  }
}

// Small tangents keep their relative accuracy, so that a drift of 1e-12 rad per step is not lost.
TYPED_TEST(Group, TinyTangentsKeepRelativeAccuracy) {
  LIMB_GROUP;
  for (const T size : {T(1e-15), T(1e-12), T(1e-6)}) {
    for (int i = 0; i < 50; ++i) {
      const Tangent x = G::tangent(random, T(1)) * size;
      EXPECT_LT((G::log(G::exp(x)) - x).norm(), 8 * eps * x.norm()) << "size " << size;
    }
  }
}

TYPED_TEST(Group, ExpOfParallelTangentsAdds) {
  LIMB_GROUP;
  for (int i = 0; i < 200; ++i) {
    const Tangent x = G::tangent(random, T(1));
    const T s = T(random.uniform(-1.5, 1.5)), t = T(random.uniform(-1.5, 1.5));
    EXPECT_LT(G::distance(G::compose(G::exp(s * x), G::exp(t * x)), G::exp(Tangent((s + t) * x))),
              24 * eps);
  }
}

TYPED_TEST(Group, AdjointTransformsTangents) {
  LIMB_GROUP;
  for (int i = 0; i < 200; ++i) {
    const auto X = this->element(), Y = this->element();
    const Tangent x = G::tangent(random, T(random.uniform(0, 2)));
    // X exp(x) X^-1 = exp(Ad_X x); translations reach 3, hence more roundings.
    EXPECT_LT(G::distance(G::compose(G::compose(X, G::exp(x)), G::inverse(X)),
                          G::exp(Tangent(G::adjoint(X) * x))),
              100 * eps);
    EXPECT_LT((G::adjoint(G::compose(X, Y)) - G::adjoint(X) * G::adjoint(Y)).norm(), 32 * eps);
    EXPECT_LT((G::adjoint(G::inverse(X)) * G::adjoint(X) - G::adjoint(G::identity())).norm(),
              32 * eps);
  }
}

TYPED_TEST(Group, JacobiansInvertAndRelate) {
  LIMB_GROUP;
  for (const T angle : TestFixture::angles()) {
    for (int i = 0; i < 20; ++i) {
      const Tangent x = G::tangent(random, angle);
      const auto one = G::adjoint(G::identity());
      // Jacobians have norm below 4 and inverses below 6 up to pi.
      EXPECT_LT((G::left(x) * G::left_inverse(x) - one).norm(), 64 * eps) << "angle " << angle;
      EXPECT_LT((G::right(x) * G::right_inverse(x) - one).norm(), 64 * eps) << "angle " << angle;
      EXPECT_LT((G::left(x) - G::adjoint(G::exp(x)) * G::right(x)).norm(), 64 * eps);
      EXPECT_LT((G::left(Tangent(-x)) - G::right(x)).norm(), 2 * eps);
    }
  }
}

// Central differences with step h: truncation h^2 (third derivatives of order 1), rounding eps / h.
// h = eps^(1/3) balances them at eps^(2/3); the constant 8 covers tangents of length up to 4.
TYPED_TEST(Group, JacobiansAreTheDerivativeOfExp) {
  LIMB_GROUP;
  const T h = std::cbrt(eps);
  for (const T angle : TestFixture::angles()) {
    const Tangent x = G::tangent(random, angle);
    const auto X_inverse = G::inverse(G::exp(x));
    for (int k = 0; k < G::kSize; ++k) {
      const Tangent step = Tangent::Unit(k) * h;
      const auto plus = G::exp(Tangent(x + step)), minus = G::exp(Tangent(x - step));
      const Tangent left =
          (G::log(G::compose(plus, X_inverse)) - G::log(G::compose(minus, X_inverse))) / (2 * h);
      const Tangent right =
          (G::log(G::compose(X_inverse, plus)) - G::log(G::compose(X_inverse, minus))) / (2 * h);
      EXPECT_LT((G::left(x).col(k) - left).norm(), 8 * h * h) << "angle " << angle;
      EXPECT_LT((G::right(x).col(k) - right).norm(), 8 * h * h) << "angle " << angle;
    }
  }
}

TYPED_TEST(Group, InterpolationHasConstantSpeed) {
  LIMB_GROUP;
  for (int i = 0; i < 100; ++i) {
    const auto X = this->element();
    const Tangent x = G::tangent(random, T(random.uniform(0, 3)));
    const auto Y = G::compose(X, G::exp(x));
    EXPECT_LT(G::distance(G::interpolate(X, Y, T(0)), X), 8 * eps);
    EXPECT_LT(G::distance(G::interpolate(X, Y, T(1)), Y), 32 * eps);
    for (const T t : {T(0.25), T(0.5), T(0.9)}) {
      EXPECT_LT(G::distance(G::interpolate(X, Y, t), G::compose(X, G::exp(Tangent(t * x)))),
                48 * eps);
    }
  }
}

}  // namespace
}  // namespace limb
