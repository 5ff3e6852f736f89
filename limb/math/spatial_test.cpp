#include "limb/math/spatial.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <unsupported/Eigen/MatrixFunctions>

#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Random;

// Mixed types must not compile, which a requires-expression can test.
template <typename A, typename B>
constexpr bool can_add = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
constexpr bool can_cross = requires(A a, B b) {
  cross(a, b);
};
template <typename A, typename B>
constexpr bool can_pair = requires(A a, B b) {
  dot(a, b);
};
template <typename A, typename B>
constexpr bool can_multiply = requires(A a, B b) {
  a* b;
};

using M = Motion<double>;
using F = Force<double>;

static_assert(can_add<M, M> && can_add<F, F> && !can_add<M, F> && !can_add<F, M>);
static_assert(can_cross<M, M> && can_cross<M, F> && !can_cross<F, F> && !can_cross<F, M>);
static_assert(can_pair<M, F> && can_pair<F, M> && !can_pair<M, M> && !can_pair<F, F>);
static_assert(can_multiply<Inertia<double>, M> && !can_multiply<Inertia<double>, F>);
static_assert(!can_multiply<M, M> && !can_multiply<M, F>);
static_assert(!std::is_convertible_v<M, F> && !std::is_convertible_v<F, M>);

constexpr double kEps = std::numeric_limits<double>::epsilon();

template <typename T>
class Spatial : public ::testing::Test {};
using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Spatial, Reals);

// Entries are of order 1 (translations up to 2), and each result is a handful of products.
TYPED_TEST(Spatial, MatricesAgreeWithOperations) {
  using T = TypeParam;
  const T eps = std::numeric_limits<T>::epsilon();
  Random random(11);
  for (int i = 0; i < 100; ++i) {
    const Pose<T> X = random.pose<T>(2);
    const Motion<T> V = random.motion<T>(), U = random.motion<T>();
    const Force<T> W = random.force<T>();
    EXPECT_LT((X.adjoint() * V.vector() - X.act(V).vector()).norm(), 16 * eps);
    EXPECT_LT((X.dual_adjoint() * W.vector() - X.act(W).vector()).norm(), 16 * eps);
    EXPECT_LT((ad(V) * U.vector() - cross(V, U).vector()).norm(), 8 * eps);
    EXPECT_LT((ad_dual(V) * W.vector() - cross(V, W).vector()).norm(), 8 * eps);
    EXPECT_LT(std::abs(V.vector().dot(W.vector()) - dot(V, W)), 8 * eps);
    EXPECT_EQ(dot(V, W), dot(W, V));
    EXPECT_LT((X.inverse().adjoint().transpose() - X.dual_adjoint()).norm(), 16 * eps);
  }
}

TYPED_TEST(Spatial, ChangeOfFrameInvertsAndPreservesPower) {
  using T = TypeParam;
  const T eps = std::numeric_limits<T>::epsilon();
  Random random(12);
  for (int i = 0; i < 100; ++i) {
    const Pose<T> X = random.pose<T>(2), Y = random.pose<T>(2);
    const Motion<T> V = random.motion<T>(), U = random.motion<T>();
    const Force<T> W = random.force<T>();
    EXPECT_LT((X.inv_act(X.act(V)) - V).vector().norm(), 32 * eps);
    EXPECT_LT((X.inv_act(X.act(W)) - W).vector().norm(), 32 * eps);
    EXPECT_LT((X.inverse().act(V) - X.inv_act(V)).vector().norm(), 32 * eps);
    EXPECT_LT((X.inverse().act(W) - X.inv_act(W)).vector().norm(), 32 * eps);
    EXPECT_LT(((X * Y).act(V) - X.act(Y.act(V))).vector().norm(), 48 * eps);
    EXPECT_LT(((X * Y).act(W) - X.act(Y.act(W))).vector().norm(), 48 * eps);
    // Power is frame-invariant, and the bracket is equivariant.
    EXPECT_LT(std::abs(dot(X.act(V), X.act(W)) - dot(V, W)), 64 * eps);
    EXPECT_LT((X.act(cross(V, U)) - cross(X.act(V), X.act(U))).vector().norm(), 64 * eps);
    EXPECT_LT((X.act(cross(V, W)) - cross(X.act(V), X.act(W))).vector().norm(), 64 * eps);
  }
}

TYPED_TEST(Spatial, BracketsAreALieAlgebra) {
  using T = TypeParam;
  const T eps = std::numeric_limits<T>::epsilon();
  Random random(13);
  for (int i = 0; i < 100; ++i) {
    const Motion<T> A = random.motion<T>(), B = random.motion<T>(), C = random.motion<T>();
    const Force<T> W = random.force<T>();
    EXPECT_LT((cross(A, B) + cross(B, A)).vector().norm(), 8 * eps);
    const Motion<T> jacobi = cross(A, cross(B, C)) + cross(B, cross(C, A)) + cross(C, cross(A, B));
    EXPECT_LT(jacobi.vector().norm(), 48 * eps);
    // The two brackets are dual: (A x B) . W = -B . (A x* W).
    EXPECT_LT(std::abs(dot(cross(A, B), W) + dot(B, cross(A, W))), 16 * eps);
  }
}

// d/dt of X(t) U for a frame moving with body twist V is X (V x U): the meaning of the bracket.
// Central difference: truncation h^2 and rounding eps / h balance at eps^(2/3); 4 for the scale.
TEST(Bracket, IsTheRateOfChangeOfAMovingVector) {
  Random random(14);
  const double h = std::cbrt(kEps);
  for (int i = 0; i < 50; ++i) {
    const Pose<double> X = random.pose<double>();
    const M V = random.motion<double>(), U = random.motion<double>();
    const F W = random.force<double>();
    const Pose<double> plus = X * se3::exp(V * h), minus = X * se3::exp(V * -h);
    const M dU = (plus.act(U) - minus.act(U)) * (0.5 / h);
    const F dW = (plus.act(W) - minus.act(W)) * (0.5 / h);
    EXPECT_LT((dU - X.act(cross(V, U))).vector().norm(), 8 * h * h);
    EXPECT_LT((dW - X.act(cross(V, W))).vector().norm(), 8 * h * h);
  }
}

// A wheel rolling with speed v: its contact point is at rest, its top moves with 2 v.
TEST(Motion, OfAPointOnARollingWheel) {
  const double radius = 0.3, speed = 1.2;
  const M V_axle{{speed, 0, 0}, {0, speed / radius, 0}};
  const Pose<double> X_bottom{Eigen::Matrix3d::Identity(), {0, 0, -radius}};
  const Pose<double> X_top{Eigen::Matrix3d::Identity(), {0, 0, radius}};
  EXPECT_LT(X_bottom.inv_act(V_axle).v.norm(), 2 * kEps);
  EXPECT_LT((X_top.inv_act(V_axle).v - Eigen::Vector3d(2 * speed, 0, 0)).norm(), 4 * kEps);
}

// A force of 2 N along y applied at x = 0.5 m has a moment of 1 N m about z.
TEST(Force, MovedToAnotherPointGainsItsMoment) {
  const F tip{{0, 2, 0}, {0, 0, 0}};
  const F base = Pose<double>{Eigen::Matrix3d::Identity(), {0.5, 0, 0}}.act(tip);
  EXPECT_EQ(base.f, tip.f);
  EXPECT_EQ(base.n, Eigen::Vector3d(0, 0, 1));
}

TEST(Pose, FormsAgree) {
  Random random(15);
  for (int i = 0; i < 50; ++i) {
    const Pose<double> X = random.pose<double>(), Y = random.pose<double>();
    const Eigen::Vector3d p = random.vector<double>();
    EXPECT_LT(((X * Y).matrix() - X.matrix() * Y.matrix()).norm(), 8 * kEps);
    EXPECT_LT((X.inverse().matrix() - X.matrix().inverse()).norm(), 16 * kEps);
    EXPECT_LT((X * p - (X.matrix() * p.homogeneous()).head<3>()).norm(), 4 * kEps);
    const Pose<double> same = Pose<double>::from_matrix(X.matrix());
    EXPECT_EQ(same.R, X.R);
    EXPECT_EQ(same.p, X.p);
    const auto q = quaternion_from_matrix(X.R);
    // Nine entries, each of two rounded products, of an R that is itself off by a few eps: 7.1 eps
    // is the worst of 200 poses, 13.3 eps of a million.
    EXPECT_LT((Pose<double>::from_quaternion(q, X.p).R - X.R).norm(), 16 * kEps);
    EXPECT_EQ(X.cast<float>().p, X.p.cast<float>());
  }
}

TEST(Pose, FromMatrixRejectsNonPoses) {
  Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
  X(3, 0) = 0.5;
  EXPECT_EQ(message([&] { Pose<double>::from_matrix(X); }),
            "Pose::from_matrix: last row of X is [0.5, 0, 0, 1], expected [0, 0, 0, 1]");
  X(3, 0) = 0;
  X(0, 0) = 2;
  EXPECT_EQ(message([&] { Pose<double>::from_matrix(X); }),
            "Pose::from_matrix: R of X is [2, 0, 0, 0, 1, 0, 0, 0, 1] with |R^T R - 1| = 3 and "
            "det = 2, expected a rotation matrix (nearest_rotation() repairs drift)");
  X(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(Pose<double>::from_matrix(X), Error);
}

// Independent oracle: Eigen's general 4 x 4 matrix exponential and logarithm.
TEST(Se3, ExpAndLogEqualTheMatrixFunctions) {
  Random random(16);
  for (int i = 0; i < 50; ++i) {
    const M V{random.vector<double>(), random.direction<double>() * random.uniform(0, 2.8)};
    Eigen::Matrix4d hat = Eigen::Matrix4d::Zero();
    hat.topLeftCorner<3, 3>() = skew(V.w);
    hat.topRightCorner<3, 1>() = V.v;
    const Eigen::Matrix4d X = hat.exp(), log = se3::exp(V).matrix().log();
    // The oracle squares up to three times (exp) and takes up to ten square roots (log).
    EXPECT_LT((se3::exp(V).matrix() - X).norm(), 64 * kEps);
    EXPECT_LT((log - hat).norm(), 4096 * kEps);
  }
}

TEST(Printing, NamesEveryPart) {
  std::ostringstream out;
  out << M{{1, 2, 3}, {4, 5, 6}} << "\n" << F{{1, 2, 3}, {4, 5, 6}} << "\n" << Pose<double>{};
  EXPECT_EQ(out.str(),
            "Motion(v = 1 2 3, w = 4 5 6)\nForce(f = 1 2 3, n = 4 5 6)\n"
            "Pose(R = [1 0 0; 0 1 0; 0 0 1], p = 0 0 0)");
}

}  // namespace
}  // namespace limb
