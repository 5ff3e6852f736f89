// Properties specific to rotation matrices: validity, repair, and the exponential against
// independent implementations.
#include "limb/math/so3.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>

#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Random;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

TEST(Skew, IsTheCrossProduct) {
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Eigen::Vector3d w = random.vector<double>(), p = random.vector<double>();
    EXPECT_EQ(skew(w) * p, w.cross(p));
    EXPECT_EQ(unskew<double>(skew(w)), w);
    EXPECT_EQ(skew(w).transpose(), -skew(w));
  }
}

TEST(AxisRotation, RotatesTheNextAxisToTheOneAfter) {
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Matrix3d R = axis_rotation(axis, kPi / 2);
    const Eigen::Vector3d next = Eigen::Vector3d::Unit((axis + 1) % 3);
    EXPECT_LT((R * next - Eigen::Vector3d::Unit((axis + 2) % 3)).norm(), kEps);
    EXPECT_EQ(R * Eigen::Vector3d::Unit(axis), Eigen::Vector3d::Unit(axis));
  }
}

// Independent oracle: Eigen's general matrix exponential (Pade approximation with scaling).
TEST(Exp, EqualsTheMatrixExponential) {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const Eigen::Vector3d w = random.direction<double>() * random.uniform(0, 6.2);
    const Eigen::Matrix3d expected = skew(w).exp();
    // The oracle squares its result up to three times, which doubles its error each time.
    EXPECT_LT((so3::exp(w) - expected).norm(), 64 * kEps);
  }
}

TEST(Exp, EqualsTheProductOfAxisAngle) {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const Eigen::Vector3d axis = random.direction<double>();
    const double angle = random.uniform(-kPi, kPi);
    const Eigen::Matrix3d expected = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    EXPECT_LT((so3::exp<double>(axis * angle) - expected).norm(), 8 * kEps);
    EXPECT_LT((to_matrix(quaternion_from_axis_angle(axis, angle)) - expected).norm(), 8 * kEps);
  }
}

// Half turns about axes and diagonals, where R is symmetric and the trace is -1.
TEST(Log, FindsHalfTurnsAboutEveryKindOfAxis) {
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -1; z <= 1; ++z) {
        if (x == 0 && y == 0 && z == 0) continue;
        const Eigen::Vector3d axis = Eigen::Vector3d(x, y, z).normalized();
        const Eigen::Matrix3d R = 2 * axis * axis.transpose() - Eigen::Matrix3d::Identity();
        const Eigen::Vector3d w = so3::log(R);
        EXPECT_NEAR(w.norm(), kPi, 4 * kEps);
        EXPECT_LT(std::min((w - kPi * axis).norm(), (w + kPi * axis).norm()), 8 * kEps);
      }
    }
  }
}

TEST(IsRotation, AcceptsRotationsOnly) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    const Eigen::Matrix3d R = random.rotation<double>();
    EXPECT_TRUE(is_rotation(R));
    EXPECT_TRUE(is_rotation<float>(R.cast<float>()));
    EXPECT_FALSE(is_rotation<double>(-R));
    EXPECT_FALSE(is_rotation<double>(R * (1 + 1e-10)));
    EXPECT_TRUE(is_rotation<double>(R * (1 + 1e-10), 1e-9));
    Eigen::Matrix3d broken = R;
    broken(1, 2) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(is_rotation(broken));
  }
  EXPECT_FALSE(is_rotation<double>(Eigen::Matrix3d::Zero()));
}

TEST(CheckRotation, ReportsDeviationAndCause) {
  Eigen::Matrix3d mirror = Eigen::Matrix3d::Identity();
  mirror(2, 2) = -1;
  EXPECT_EQ(message([&] { check_rotation<double>("test", "R", mirror); }),
            "test: R is [1, 0, 0, 0, 1, 0, 0, 0, -1] with |R^T R - 1| = 0 and det = -1, "
            "expected a rotation matrix (it is a reflection: an axis is flipped)");
  EXPECT_EQ(message([&] { check_rotation<double>("test", "R", 2 * Eigen::Matrix3d::Identity()); }),
            "test: R is [2, 0, 0, 0, 2, 0, 0, 0, 2] with |R^T R - 1| = 3 and det = 8, "
            "expected a rotation matrix (nearest_rotation() repairs drift)");
}

template <typename T>
class Nearest : public ::testing::Test {};
using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(Nearest, Reals);

TYPED_TEST(Nearest, RotationIsARotationAndIdempotent) {
  using T = TypeParam;
  const T eps = std::numeric_limits<T>::epsilon();
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const Matrix3<T> R = random.rotation<T>();
    EXPECT_LT((nearest_rotation(R) - R).norm(), 16 * eps);
    const Matrix3<T> noisy =
        R + T(0.2) * Matrix3<T>::NullaryExpr([&] { return T(random.uniform(-1, 1)); });
    EXPECT_TRUE(is_rotation<T>(nearest_rotation(noisy), 16 * eps));
  }
}

// No other rotation is closer, in particular no small rotation of the result.
TYPED_TEST(Nearest, RotationHasNoCloserNeighbour) {
  using T = TypeParam;
  const T eps = std::numeric_limits<T>::epsilon();
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const Matrix3<T> A = random.rotation<T>() +
                         T(0.3) * Matrix3<T>::NullaryExpr([&] { return T(random.uniform(-1, 1)); });
    const Matrix3<T> best = nearest_rotation(A);
    const T distance = (best - A).norm();
    for (int k = 0; k < 20; ++k) {
      const Matrix3<T> other = best * so3::exp<T>(random.vector<T>(0.5));
      EXPECT_GE((other - A).norm(), distance - 8 * eps);
    }
  }
}

TEST(NearestRotation, OfAReflectionIsStillARotation) {
  Eigen::Matrix3d mirror = Eigen::Matrix3d::Identity();
  mirror(1, 1) = -0.9;
  EXPECT_TRUE(is_rotation(nearest_rotation(mirror)));
}

TEST(NearestRotation, RejectsMatricesOfLowRank) {
  EXPECT_THROW(nearest_rotation<double>(Eigen::Matrix3d::Zero()), Error);
  Eigen::Matrix3d rank_one = Eigen::Matrix3d::Zero();
  rank_one(0, 0) = 1;
  EXPECT_EQ(message([&] { nearest_rotation(rank_one); }),
            "nearest_rotation: A is [1, 0, 0, 0, 0, 0, 0, 0, 0], expected a matrix of rank 2 or "
            "3 (no unique rotation is nearest to it)");
  rank_one(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(nearest_rotation(rank_one), Error);
}

// The Newton step squares the error: from d = 1e-5 to below d^2.
TEST(Renormalize, SquaresTheError) {
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    const Eigen::Matrix3d noise =
        Eigen::Matrix3d::NullaryExpr([&] { return random.uniform(-1e-5, 1e-5); });
    const Eigen::Matrix3d drifted = random.rotation<double>() + noise;
    EXPECT_GT(rotation_error(drifted).orthogonality, 1e-8);
    EXPECT_LT(rotation_error(renormalize(drifted)).orthogonality, 3e-9);
    EXPECT_TRUE(is_rotation(renormalize(renormalize(drifted))));
  }
}

}  // namespace
}  // namespace limb
