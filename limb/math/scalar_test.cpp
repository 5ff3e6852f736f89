// The templates of this module with scalars other than machine numbers: dual numbers give
// derivatives, and packs, on which code cannot branch, give the double result in each lane.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using testing::derivative;
using testing::Dual;
using testing::dual;
using testing::kLanes;
using testing::Pack;
using testing::Random;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

static_assert(Branching<double> && Branching<Dual> && !Branching<Pack>);
static_assert(Real<float> && !Real<Dual> && !Real<Pack>);

// d exp(w + e d) = [J_left d] exp(w): exact derivatives, so the tolerance is rounding only, also
// at w = 0 and across the series threshold, where the plain formulas divide 0 by 0.
TEST(Dual, DerivativeOfSo3ExpIsTheLeftJacobian) {
  Random random(7);
  for (const double angle : {0.0, 1e-12, 1e-4, 0.3, 0.999, 1.001, 2.0, kPi}) {
    const Eigen::Vector3d w = random.direction<double>() * angle, d = random.vector<double>();
    const Eigen::Matrix3d dR = derivative<3, 3>(so3::exp<Dual>(dual<3, 1>(w, d)));
    const Eigen::Vector3d left = so3::left_jacobian(w) * d;
    EXPECT_LT((dR - skew<double>(left) * so3::exp(w)).norm(), 24 * kEps) << "angle " << angle;
  }
}

TEST(Dual, DerivativeOfLogIsTheInverseJacobian) {
  Random random(8);
  for (const double angle : {0.0, 1e-12, 1e-4, 0.15, 0.25, 0.999, 1.001, 2.0, 3.1}) {
    const Motion<double> V{random.vector<double>(), random.direction<double>() * angle};
    const Motion<double> d = random.motion<double>();
    // log(exp(V) exp(e d)) = V + e J_right^-1 d
    const Pose<Dual> X =
        se3::exp(V).cast<Dual>() *
        se3::exp(Motion<Dual>::from_vector(dual<6, 1>(Vector6<double>::Zero(), d.vector())));
    const Vector6<double> dV = derivative<6, 1>(se3::log(X).vector());
    const Vector6<double> expected = se3::right_jacobian_inverse(V) * d.vector();
    EXPECT_LT((dV - expected).norm(), 100 * kEps) << "angle " << angle;
  }
}

TEST(Dual, DerivativeOfSe3ExpIsTheRightJacobian) {
  Random random(9);
  for (const double angle : {0.0, 1e-12, 1e-4, 0.3, 0.999, 1.001, 1.999, 2.001, kPi}) {
    const Motion<double> V{random.vector<double>(), random.direction<double>() * angle};
    const Vector6<double> d = random.motion<double>().vector();
    const Pose<Dual> X = se3::exp(Motion<Dual>::from_vector(dual<6, 1>(V.vector(), d)));
    // X^-1 dX = [w] and v of the body twist.
    const Eigen::Matrix3d R = se3::exp(V).R;
    Vector6<double> body;
    body << R.transpose() * derivative<3, 1>(X.p),
        unskew<double>(R.transpose() * derivative<3, 3>(X.R));
    EXPECT_LT((body - se3::right_jacobian(V) * d).norm(), 32 * kEps) << "angle " << angle;
  }
}

TEST(Dual, DerivativesOfQuaternionExpAndLog) {
  Random random(10);
  const Eigen::Vector3d w = random.vector<double>(), d = random.vector<double>();
  const Quaternion<Dual> q = quaternion_exp<Dual>(dual<3, 1>(w, d));
  const Quaternion<double> dq = Quaternion<double>::from_xyzw(derivative<4, 1>(q.xyzw()));
  // The body angular velocity of exp(w + t d) at t = 0 is J_right d.
  EXPECT_LT((angular_velocity(quaternion_exp(w), dq) - so3::right_jacobian(w) * d).norm(),
            16 * kEps);
  const Eigen::Vector3d back = derivative<3, 1>(quaternion_log(q));
  EXPECT_LT((back - d).norm(), 16 * kEps);
}

/// Lane i of any fixed-size matrix of packs.
template <int N, int M>
Eigen::Matrix<double, N, M> lane(const Eigen::Matrix<Pack, N, M>& x, int i) {
  return x.unaryExpr([i](const Pack& p) { return p.lane[i]; });
}

// Lanes that take different sides of every decision: zero, small, medium, near pi.
struct PackCase {
  std::array<Motion<double>, kLanes> V;
  Motion<Pack> packed;
};

PackCase pack_case(unsigned random_seed) {
  Random random(random_seed);
  PackCase c;
  const std::array<double, kLanes> angle = {0.0, 1e-5, 1.7, kPi - 1e-6};
  for (int i = 0; i < kLanes; ++i) {
    c.V[i] = {random.vector<double>(), random.direction<double>() * angle[i]};
    for (int k = 0; k < 3; ++k) {
      c.packed.v[k].lane[i] = c.V[i].v[k];
      c.packed.w[k].lane[i] = c.V[i].w[k];
    }
  }
  return c;
}

// The same operations in the same order, except that Eigen adds up squaredNorm() of doubles two at
// a time: a rounding of |w|^2 rotates the frame by up to pi / 2 eps, which affects all entries of
// R. Worst of 20,000 seeds: R 6.6 eps (4.8 in the 20 below), p 3.5 eps.
TEST(Pack, EachLaneEqualsTheDoubleResult) {
  for (unsigned random_seed = 1; random_seed <= 20; ++random_seed) {
    const PackCase c = pack_case(random_seed);
    const Pose<Pack> X = se3::exp(c.packed);
    const Motion<Pack> back = se3::log(X);
    const Matrix6<Pack> J = se3::left_jacobian(c.packed);
    const Quaternion<Pack> q = quaternion_from_matrix(X.R);
    const Inertia<Pack> I = Inertia<Pack>::from_com(Pack(2), {Pack(0.1), Pack(0.2), Pack(0.3)},
                                                    Matrix3<Pack>::Identity());
    const Inertia<double> I_one =
        Inertia<double>::from_com(2, {0.1, 0.2, 0.3}, Matrix3<double>::Identity());
    const Force<Pack> h = I.transformed(X) * c.packed;
    for (int i = 0; i < kLanes; ++i) {
      const Pose<double> X_one = se3::exp(c.V[i]);
      EXPECT_LT((lane<3, 3>(X.R, i) - X_one.R).norm(), 8 * kEps);
      EXPECT_LT((lane<3, 1>(X.p, i) - X_one.p).norm(), 8 * kEps);
      EXPECT_LT((lane<6, 1>(back.vector(), i) - se3::log(X_one).vector()).norm(), 32 * kEps);
      EXPECT_LT((lane<6, 6>(J, i) - se3::left_jacobian(c.V[i])).norm(), 32 * kEps);
      const Quaternion<double> q_lane = Quaternion<double>::from_xyzw(lane<4, 1>(q.xyzw(), i));
      EXPECT_LT((to_matrix(q_lane) - X_one.R).norm(), 16 * kEps);
      EXPECT_LT((lane<6, 1>(h.vector(), i) - (I_one.transformed(X_one) * c.V[i]).vector()).norm(),
                64 * kEps);
    }
  }
}

}  // namespace
}  // namespace limb
