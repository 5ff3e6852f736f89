// Property tests of all joint types with random axes: pose, subspace and manifold must be
// consistent.
#include "limb/model/core/joint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::Random;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Case {
  JointType type;
  unsigned seed;
};

class JointProperty : public ::testing::TestWithParam<Case> {
 protected:
  JointProperty() : random_(GetParam().seed), engine_(GetParam().seed) {
    joint_ = Joint<double>::make(GetParam().type, random_.direction<double>(),
                                 random_.direction<double>(), 0.3);
  }

  std::vector<double> random_q() {
    const std::vector<double> lower(6, -kInf), upper(6, kInf);
    std::vector<double> q(static_cast<std::size_t>(joint_.nq()));
    joint_.random_configuration(engine_, lower.data(), upper.data(), q.data());
    return q;
  }
  std::vector<double> random_v(double size = 1) {
    std::vector<double> v(static_cast<std::size_t>(joint_.nv()));
    for (double& x : v) x = random_.uniform(-size, size);
    return v;
  }
  std::vector<double> moved(const std::vector<double>& q, const std::vector<double>& v, double t) {
    std::vector<double> step = v, q1(q.size());
    for (double& x : step) x *= t;
    joint_.integrate(q.data(), step.data(), q1.data());
    return q1;
  }

  Random random_;
  std::mt19937_64 engine_;
  Joint<double> joint_;
};

TEST_P(JointProperty, NeutralIsTheIdentityPose) {
  std::vector<double> q(static_cast<std::size_t>(joint_.nq()));
  joint_.neutral(q.data());
  const Pose<double> X = joint_.pose(q.data());
  EXPECT_EQ(X.R, Eigen::Matrix3d::Identity());
  EXPECT_EQ(X.p, Eigen::Vector3d::Zero());
}

TEST_P(JointProperty, PoseIsARigidMotion) {
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(is_rotation(joint_.pose(random_q().data()).R));
}

// S v is the body twist of X(q(t)). Central difference with h = eps^(1/3): errors of h^2 and eps /
// h.
TEST_P(JointProperty, SubspaceIsTheVelocityOfThePose) {
  const double h = std::cbrt(kEps);
  for (int i = 0; i < 20; ++i) {
    const auto q = random_q(), v = random_v();
    const Pose<double> X = joint_.pose(q.data());
    const Motion<double> plus = se3::log(X.inverse() * joint_.pose(moved(q, v, h).data()));
    const Motion<double> minus = se3::log(X.inverse() * joint_.pose(moved(q, v, -h).data()));
    const Motion<double> V = (plus - minus) * (0.5 / h);
    EXPECT_LT((joint_.velocity(q.data(), v.data()) - V).vector().norm(), 16 * h * h);
  }
}

// dS/dt along the motion, by the same difference.
TEST_P(JointProperty, SubspaceRateIsItsDerivative) {
  const double h = std::cbrt(kEps);
  for (int i = 0; i < 20; ++i) {
    const auto q = random_q(), v = random_v();
    Motion<double> plus[6], minus[6], rate[6];
    joint_.subspace(moved(q, v, h).data(), plus);
    joint_.subspace(moved(q, v, -h).data(), minus);
    joint_.subspace_rate(q.data(), v.data(), rate);
    Motion<double> bias;
    for (int k = 0; k < joint_.nv(); ++k) {
      const Motion<double> difference = (plus[k] - minus[k]) * (0.5 / h);
      EXPECT_LT((rate[k] - difference).vector().norm(), 8 * h * h);
      bias += rate[k] * v[static_cast<std::size_t>(k)];
    }
    EXPECT_EQ(joint_.bias(q.data(), v.data()).vector(), bias.vector());
  }
}

// Rotations stay below pi, where the difference is unique; 64 eps for the chain of exp, product,
// log.
TEST_P(JointProperty, DifferenceUndoesIntegrate) {
  for (int i = 0; i < 50; ++i) {
    const auto q = random_q(), v = random_v(1.5);
    const auto q1 = moved(q, v, 1);
    std::vector<double> back(v.size());
    joint_.difference(q.data(), q1.data(), back.data());
    for (std::size_t k = 0; k < v.size(); ++k) EXPECT_NEAR(back[k], v[k], 64 * kEps);
    const auto q2 = moved(q, back, 1);
    const Pose<double> X1 = joint_.pose(q1.data()), X2 = joint_.pose(q2.data());
    EXPECT_LT((X1.matrix() - X2.matrix()).norm(), 64 * kEps);
  }
}

TEST_P(JointProperty, IntegrateInPlaceIsTheSame) {
  const auto q = random_q(), v = random_v();
  auto in_place = q;
  joint_.integrate(in_place.data(), v.data(), in_place.data());
  EXPECT_EQ(in_place, moved(q, v, 1));
}

// Central differences with h = eps^(1/3): errors of h^2 and eps / h; rotations stay below 1.5 |v|.
TEST_P(JointProperty, JacobiansOfIntegrateAndDifference) {
  const double h = std::cbrt(kEps);
  const std::size_t n = static_cast<std::size_t>(joint_.nv());
  for (int i = 0; i < 20; ++i) {
    const auto q0 = random_q(), v = random_v();
    const auto q1 = moved(q0, v, 1);
    std::vector<double> by_q0(n * n), by_v(n * n), difference_by_q0(n * n), by_q1(n * n);
    joint_.integrate_jacobians(v.data(), by_q0.data(), by_v.data());
    joint_.difference_jacobians(v.data(), difference_by_q0.data(), by_q1.data());
    const auto difference = [&](const std::vector<double>& a, const std::vector<double>& b) {
      std::vector<double> x(n);
      joint_.difference(a.data(), b.data(), x.data());
      return x;
    };
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<double> unit(n), plus = v, minus = v;
      unit[c] = 1;
      plus[c] += h;
      minus[c] -= h;
      const auto up0 = moved(q0, unit, h), down0 = moved(q0, unit, -h);
      const auto a = difference(moved(down0, v, 1), moved(up0, v, 1));
      const auto b = difference(moved(q0, minus, 1), moved(q0, plus, 1));
      const auto c_up = difference(up0, q1), c_down = difference(down0, q1);
      const auto d_up = difference(q0, moved(q1, unit, h));
      const auto d_down = difference(q0, moved(q1, unit, -h));
      for (std::size_t r = 0; r < n; ++r) {
        EXPECT_NEAR(by_q0[r + c * n], a[r] / (2 * h), 16 * h * h);
        EXPECT_NEAR(by_v[r + c * n], b[r] / (2 * h), 16 * h * h);
        EXPECT_NEAR(difference_by_q0[r + c * n], (c_up[r] - c_down[r]) / (2 * h), 16 * h * h);
        EXPECT_NEAR(by_q1[r + c * n], (d_up[r] - d_down[r]) / (2 * h), 16 * h * h);
      }
    }
  }
}

TEST_P(JointProperty, NormalizeChangesOnlyQuaternions) {
  const auto q = random_q();
  auto scaled = q;
  const bool quaternion = joint_.type() == JointType::spherical || joint_.type() == JointType::free;
  if (quaternion) {
    for (std::size_t i = q.size() - 4; i < q.size(); ++i) scaled[i] *= 1.7;
  }
  joint_.normalize(scaled.data());
  for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(scaled[i], q[i], 4 * kEps);
}

TEST_P(JointProperty, RandomStaysInsideItsLimits) {
  const std::vector<double> lower = {-0.2, -0.3, 0.1, -1, -1, -1}, upper = {0.1, 0.4, 0.2, 1, 1, 1};
  std::vector<double> q(static_cast<std::size_t>(joint_.nq()));
  for (int i = 0; i < 100; ++i) {
    joint_.random_configuration(engine_, lower.data(), upper.data(), q.data());
    const int bounded = joint_.type() == JointType::spherical ? 0
                        : joint_.type() == JointType::free    ? 3
                                                              : joint_.nv();
    for (std::size_t k = 0; k < static_cast<std::size_t>(bounded); ++k) {
      EXPECT_GE(q[k], lower[k]);
      EXPECT_LE(q[k], upper[k]);
    }
    EXPECT_TRUE(is_rotation(joint_.pose(q.data()).R));
  }
}

TEST_P(JointProperty, FloatFollowsDouble) {
  const Joint<float> joint = joint_.cast<float>();
  const float eps = std::numeric_limits<float>::epsilon();
  const auto q = random_q(), v = random_v();
  const std::vector<float> qf(q.begin(), q.end()), vf(v.begin(), v.end());
  const Pose<double> X = joint_.pose(q.data());
  // Angles up to pi rounded to float: 4 eps, and the sines that follow.
  EXPECT_LT((joint.pose(qf.data()).matrix().cast<double>() - X.matrix()).norm(), 32 * eps);
  const auto V = joint_.velocity(q.data(), v.data()).vector();
  EXPECT_LT((joint.velocity(qf.data(), vf.data()).vector().cast<double>() - V).norm(), 32 * eps);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const JointType type : kJointTypes) {
    for (unsigned seed = 1; seed <= 5; ++seed) cases.push_back({type, seed});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(AllTypes, JointProperty, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) {
                           return std::string(to_text(test.param.type)) + "_" +
                                  std::to_string(test.param.seed);
                         });

TEST(Joint, HelicalAdvancesByItsPitch) {
  const auto joint = Joint<double>::helical(Eigen::Vector3d::UnitZ(), 0.01);
  const double q = 2 * std::numbers::pi;
  EXPECT_NEAR(joint.pose(&q).p.z(), 0.01 * q, kEps);
  EXPECT_LT((joint.pose(&q).R - Eigen::Matrix3d::Identity()).norm(), 4 * kEps);
}

// The planar joint about z moves as a car seen from above: forward is along the x axis of the
// child.
TEST(Joint, PlanarVelocityIsInTheChildsAxes) {
  const auto joint = Joint<double>::planar(Eigen::Vector3d::UnitZ());
  const double q[] = {1, 2, std::numbers::pi / 2}, v[] = {0.5, 0, 0};
  double q1[3];
  joint.integrate(q, v, q1);
  EXPECT_NEAR(q1[0], 1, kEps);
  EXPECT_NEAR(q1[1], 2.5, 2 * kEps);
}

TEST(Joint, PlaneIsOrthonormalForEveryNormal) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Eigen::Vector3d n = i == 0   ? Eigen::Vector3d(0, 0, -1)
                              : i == 1 ? Eigen::Vector3d(0, 0, 1)
                                       : random.direction<double>();
    const auto joint = Joint<double>::planar(n);
    EXPECT_TRUE(is_rotation(joint.plane()));
    EXPECT_EQ(joint.plane().col(2), n);
  }
  EXPECT_EQ(Joint<double>::planar(Eigen::Vector3d::UnitZ()).plane(), Eigen::Matrix3d::Identity());
}

TEST(Joint, RejectsAnAxisThatIsNotUnit) {
  try {
    Joint<double>::revolute({0, 0, 2});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "Joint: axis is [0, 0, 2] of length 2, expected length 1 (normalise it first)");
  }
}

TEST(JointTypes, TextsReadBack) {
  for (const JointType type : kJointTypes) EXPECT_EQ(joint_type_from_text(to_text(type)), type);
  EXPECT_FALSE(joint_type_from_text("hinge"));
}

}  // namespace
}  // namespace limb
