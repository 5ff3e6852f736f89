// The canonical form describes the same robot: same poses through the map back, same torques.
#include "limb/model/canonical/canonical.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <limits>
#include <numbers>

#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::Random;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;
using Kind = CanonicalJoint<double>::Kind;

/// The canonical joint as a Joint.
Joint<double> joint_of(const CanonicalJoint<double>& joint) {
  switch (joint.kind) {
    case Kind::revolute:
      return Joint<double>::revolute(Vector3d::UnitZ());
    case Kind::prismatic:
      return Joint<double>::prismatic(Vector3d::UnitZ());
    case Kind::helical:
      return Joint<double>::helical(Vector3d::UnitZ(), joint.pitch);
    case Kind::planar:
      return Joint<double>::planar(Vector3d::UnitZ());
    case Kind::spherical:
      return Joint<double>::spherical();
    case Kind::free:
      break;
  }
  return Joint<double>::free();
}

Pose<double> placement(const CanonicalJoint<double>& joint) {
  const double quarters = joint.quadrant * (std::numbers::pi / 2);
  return {joint.R * axis_rotation(2, joint.offset + quarters), joint.p};
}

std::vector<Pose<double>> joint_poses(const Canonical<double>& canonical, const VectorXd& q) {
  std::vector<Pose<double>> X(canonical.joints.size());
  for (std::size_t i = 1; i < X.size(); ++i) {
    const auto& joint = canonical.joints[i];
    X[i] = X[static_cast<std::size_t>(joint.parent)] * placement(joint) *
           joint_of(joint).pose(q.data() + joint.q);
  }
  return X;
}

/// Plain Newton-Euler recursion over the canonical joints, with their regrouped inertias.
VectorXd inverse_dynamics(const Canonical<double>& canonical, const VectorXd& q, const VectorXd& v,
                          const VectorXd& a) {
  const std::size_t n = canonical.joints.size();
  std::vector<Pose<double>> X(n);
  std::vector<Motion<double>> V(n), A(n);
  std::vector<Force<double>> F(n);
  A[0].v = -canonical.gravity;
  for (std::size_t i = 1; i < n; ++i) {
    const auto& s = canonical.joints[i];
    const std::size_t p = static_cast<std::size_t>(s.parent);
    const Joint<double> joint = joint_of(s);
    const Inertia<double> I(s.mass, s.first_moment,
                            tensor_from_second_moments<double>(s.second_moments));
    X[i] = placement(s) * joint.pose(q.data() + s.q);
    const Motion<double> V_J = joint.velocity(q.data() + s.q, v.data() + s.v);
    V[i] = X[i].inv_act(V[p]) + V_J;
    A[i] = X[i].inv_act(A[p]) + joint.velocity(q.data() + s.q, a.data() + s.v) + cross(V[i], V_J);
    F[i] = I * A[i] + cross(V[i], I * V[i]);
  }
  VectorXd tau(canonical.nv);
  for (std::size_t i = n - 1; i > 0; --i) {
    const auto& s = canonical.joints[i];
    const Joint<double> joint = joint_of(s);
    Motion<double> S[6];
    joint.subspace(q.data() + s.q, S);
    for (int k = 0; k < joint.nv(); ++k) tau[s.v + k] = dot(S[k], F[i]);
    F[static_cast<std::size_t>(s.parent)] += X[i].act(F[i]);
  }
  return tau;
}

/// A tree with every joint type twice. axis_aligned: all axes and placements along coordinate axes.
Model<double> tree(unsigned seed, bool axis_aligned) {
  testing::RandomTreeOptions options;
  options.joints = 2 * static_cast<int>(kJointTypes.size());
  Description<double> robot = testing::random_tree(seed, options);
  if (axis_aligned) {
    Random random(seed);
    const auto choice = [&](int n) { return static_cast<int>(random.uniform(0, n - 1e-9)); };
    const auto axis = [&] {
      return Vector3d(Vector3d::Unit(choice(3)) * (choice(2) == 0 ? -1 : 1));
    };
    for (auto& joint : robot.joints) {
      joint.axis = axis();
      joint.axis2 = axis();
      joint.X_PJ.R = axis_rotation(0, kPi / 2 * choice(4)) * axis_rotation(2, kPi / 2 * choice(4));
    }
  }
  return build_model(robot);
}

class CanonicalTree : public ::testing::TestWithParam<unsigned> {
 protected:
  Model<double> model_ = tree(GetParam(), GetParam() % 2 == 0);
  std::mt19937_64 engine_{GetParam()};
};

// Depth up to twenty joints; each adds a few roundings.
TEST_P(CanonicalTree, MapsBackToTheOriginalFrames) {
  const Canonical<double> canonical = canonicalize(model_);
  const VectorXd q = model_.random_configuration(engine_);
  const auto X = testing::body_poses(model_, q);
  const auto X_joint = joint_poses(canonical, q);
  for (int b = 1; b < model_.body_count(); ++b) {
    const auto i = static_cast<std::size_t>(b);
    const Pose<double> back =
        canonical.body_pose(b, X_joint[static_cast<std::size_t>(canonical.joint_of_body[i])]);
    EXPECT_LT((back.matrix() - X[i].matrix()).norm(), 512 * kEps) << model_.bodies()[i].name;
  }
}

TEST_P(CanonicalTree, GivesTheSameTorques) {
  const Canonical<double> canonical = canonicalize(model_);
  const VectorXd q = model_.random_configuration(engine_);
  const VectorXd v = VectorXd::Random(model_.uncoupled_nv()),
                 a = VectorXd::Random(model_.uncoupled_nv());
  const VectorXd expected = testing::inverse_dynamics(model_, q, v, a);
  const VectorXd tau = inverse_dynamics(canonical, q, v, a);
  // Speeds add up along twenty joints, so torques reach hundreds; relative to the largest.
  EXPECT_LT(max_abs(tau - expected), 512 * kEps * max_abs(expected));
  const VectorXd plain = inverse_dynamics(canonicalize(model_, {.regroup = false}), q, v, a);
  EXPECT_LT(max_abs(plain - expected), 512 * kEps * max_abs(expected));
}

TEST_P(CanonicalTree, RegroupsMomentsWithoutEffectOnTheJoint) {
  for (const auto& joint : canonicalize(model_).joints) {
    if (joint.body == 0) continue;  // the world, and intermediate massless joints
    if (joint.kind == Kind::revolute) {
      EXPECT_EQ(joint.mass, 0);
      EXPECT_EQ(joint.first_moment[2], 0);
      EXPECT_EQ(joint.second_moments(2, 2), 0);
    }
    if (joint.kind == Kind::prismatic) {
      EXPECT_EQ(joint.second_moments.norm(), 0);
    }
    if (joint.kind == Kind::spherical) {
      EXPECT_EQ(joint.mass, 0);
    }
    // The placement of one-axis joints is two planar rotations.
    if (joint.kind == Kind::revolute || joint.kind == Kind::prismatic ||
        joint.kind == Kind::helical) {
      Matrix3d Rz = Matrix3d::Identity(), Rx = Matrix3d::Identity();
      Rz.topLeftCorner<2, 2>() << joint.cos_gamma, -joint.sin_gamma, joint.sin_gamma,
          joint.cos_gamma;
      Rx.bottomRightCorner<2, 2>() << joint.cos_alpha, -joint.sin_alpha, joint.sin_alpha,
          joint.cos_alpha;
      EXPECT_EQ(joint.R, Rz * Rx);
      EXPECT_EQ(joint.has_gamma, joint.cos_gamma != 1.0 || joint.sin_gamma != 0.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, CanonicalTree, ::testing::Range(1u, 21u));

bool has_children(const Canonical<double>& canonical, std::size_t i) {
  return std::any_of(canonical.joints.begin() + 1, canonical.joints.end(),
                     [&](const auto& s) { return s.parent == static_cast<int>(i); });
}

// The frame of a revolute last link is free to rotate: its mass centre is placed on the x axis.
TEST(Canonical, LastLinksHaveTheirMassCentreAlongX) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Canonical<double> canonical = canonicalize(tree(seed, seed % 2 == 0));
    for (std::size_t i = 1; i < canonical.joints.size(); ++i) {
      const auto& joint = canonical.joints[i];
      if (joint.kind != Kind::revolute || has_children(canonical, i)) continue;
      EXPECT_EQ(joint.first_moment[1], 0);
      EXPECT_GE(joint.first_moment[0], 0);
      found += joint.first_moment[0] > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 10);
}

// With axes and placements along coordinate axes every sine is 0 or 1 and no offset is left, which
// is where the savings come from.
TEST(Canonical, QuarterTurnsAreExact) {
  const Canonical<double> canonical = canonicalize(tree(4, true));
  for (std::size_t i = 1; i < canonical.joints.size(); ++i) {
    const auto& joint = canonical.joints[i];
    // Only a last link has an offset; without it, the axes are those of the body, permuted.
    if (joint.kind != Kind::revolute || has_children(canonical, i)) {
      EXPECT_EQ(joint.offset, 0);
    }
    const Matrix3d axes = joint.X_BC.R * axis_rotation(2, -joint.offset);
    for (const double x : axes.reshaped()) {
      EXPECT_LT(std::abs(x * (std::abs(x) - 1)), 4 * std::numeric_limits<double>::epsilon()) << x;
    }
    for (const double x : {joint.cos_gamma, joint.sin_gamma, joint.cos_alpha, joint.sin_alpha}) {
      EXPECT_TRUE(x == 0 || x == 1 || x == -1) << x;
    }
    ASSERT_EQ(joint.parent_axis >= 0, joint.kind == Kind::revolute);
    if (joint.parent_axis >= 0) {
      EXPECT_EQ(std::abs(joint.R(joint.parent_axis, 2)), 1);
    }
  }
}

/// A revolute joint with this placement and axis, and a second one on it.
Model<double> two_joints(const Matrix3d& R, const Vector3d& axis) {
  RobotBuilder<double> b("two");
  b.link("base").link("middle", 1.0, {0.1, 0, 0}, Matrix3d::Identity());
  b.link("tip", 1.0, {0.1, 0.2, 0}, Matrix3d::Identity());
  b.joint("first", Joint<double>::revolute(axis), "base", "middle", {R, {0.1, 0, 0}});
  b.joint("second", Joint<double>::revolute(axis), "middle", "tip", {R, {0, 0.2, 0.1}});
  return b.build();
}

// Nearly parallel axes, angles of a file that are nearly quarter turns, and axes that are nearly
// coordinate axes: a difference whose cosine rounds to 1 is kept.
TEST(Canonical, SmallAnglesKeepTheirDigits) {
  Random random(5);
  for (double small = 1e-12; small < 1e-3; small *= 10) {
    for (int k = 0; k < 20; ++k) {
      const auto angle = [&](int turns) { return kPi / 2 * turns + small * random.uniform(-1, 1); };
      const int x = k % 4, y = k / 4 % 2;
      const Matrix3d near =
          axis_rotation(2, angle(k)) * axis_rotation(1, angle(y)) * axis_rotation(0, angle(x));
      // Q Q^T leaves rounding errors that are not relative to small entries.
      const Matrix3d Q = random.rotation<double>();
      const Matrix3d turned = axis_rotation(2, random.uniform(-3, 3)) *
                              axis_rotation(0, angle(2 * y)) *
                              axis_rotation(2, random.uniform(-3, 3));
      const Matrix3d parallel = Q * (Q.transpose() * turned).eval();
      const Vector3d axis = Vector3d(small, -2 * small, 1).normalized();
      for (const auto& [R, a] : {std::pair(near, Vector3d::UnitZ().eval()), std::pair(near, axis),
                                 std::pair(parallel, Vector3d::UnitZ().eval())}) {
        const Model<double> model = two_joints(R, a);
        const Canonical<double> canonical = canonicalize(model);
        const VectorXd q = Eigen::Vector2d(random.uniform(-3, 3), random.uniform(-3, 3));
        const Pose<double> found = canonical.body_pose(2, joint_poses(canonical, q)[2]);
        // Angles are snapped by up to 32 eps, three at each of two joints; worst seen 39 eps.
        EXPECT_LT((found.matrix() - testing::body_poses(model, q)[2].matrix()).norm(), 192 * kEps)
            << small << " " << k;
      }
    }
  }
}

TEST(Canonical, SnapsRoundedQuarterTurnsOnlyOnRequest) {
  RobotBuilder<double> b("short");
  b.link("base").link("tip", 1.0, {0.1, 0, 0}, Matrix3d::Identity());
  b.joint("j", Joint<double>::revolute(Vector3d::UnitZ()), "base", "tip",
          {axis_rotation(0, 1.5707963), Vector3d::Zero()});
  const Model<double> model = b.build();
  EXPECT_NE(canonicalize(model).joints[1].cos_alpha, 0);
  EXPECT_EQ(canonicalize(model).joints[1].parent_axis, -1);
  EXPECT_EQ(canonicalize(model, {1e-6, true}).joints[1].cos_alpha, 0);
  EXPECT_EQ(canonicalize(model, {1e-6, true}).joints[1].parent_axis, 1);
}

// A rod of 1 m and 0.1 mm has 1e8 times less inertia about its own axis than across it. The sum
// of two second moments is that small inertia, to its own rounding.
TEST(Canonical, RodsKeepTheInertiaOfTheirRoll) {
  Random random(8);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 20; ++i) {
      const double roll = 1e-9 * random.uniform(1, 2), length = random.uniform(0.1, 1);
      Vector3d moments = Vector3d::Constant(length * length / 3);
      moments[(k + 1) % 3] += roll * random.uniform(0, 1);
      moments[k] = roll;
      RobotBuilder<double> b("rod");
      b.link("base").link("rod", 1.0, Vector3d::Unit(k) * (length / 2),
                          moments.asDiagonal().toDenseMatrix());
      b.joint("roll", Joint<double>::revolute(Vector3d::Unit(k)), "base", "rod", {});
      const Model<double> model = b.build();
      const Matrix3d S = canonicalize(model).joints[1].second_moments;
      const double expected = model.bodies()[1].inertia.tensor()(k, k);
      // Two differences and one sum.
      EXPECT_NEAR(S(0, 0) + S(1, 1), expected, 2 * kEps * expected) << k;
    }
  }
}

// Eleven decimals, as in many files: the angle is kept, and its sine of 1 saves products.
TEST(Canonical, KeepsRoundedQuarterTurnsOfFiles) {
  using AlphaKind = CanonicalJoint<double>::AlphaKind;
  const auto joint_of_angle = [](double angle) {
    return canonicalize(two_joints(axis_rotation(0, angle), Vector3d::UnitZ())).joints[2];
  };
  const CanonicalJoint<double> near = joint_of_angle(1.57079632679);
  EXPECT_EQ(near.alpha_kind, AlphaKind::near_quarter_turn);
  EXPECT_EQ(near.sin_alpha, 1);
  EXPECT_NEAR(near.cos_alpha, std::cos(1.57079632679), kEps);
  EXPECT_EQ(near.R(2, 2), near.cos_alpha);
  EXPECT_EQ(near.parent_axis, 1);
  EXPECT_EQ(joint_of_angle(kPi / 2).alpha_kind, AlphaKind::quarter_turn);
  EXPECT_EQ(joint_of_angle(-kPi / 2).alpha_kind, AlphaKind::quarter_turn);
  EXPECT_EQ(joint_of_angle(kPi).alpha_kind, AlphaKind::half_turn);
  EXPECT_EQ(joint_of_angle(0).alpha_kind, AlphaKind::zero);
  EXPECT_EQ(joint_of_angle(1.5708).alpha_kind, AlphaKind::general);
}

TEST(Canonical, CastKeepsTheNumbers) {
  const Canonical<double> canonical = canonicalize(tree(7, false));
  const Canonical<float> single = canonical.cast<float>();
  ASSERT_EQ(single.joints.size(), canonical.joints.size());
  EXPECT_EQ(single.joints[3].p, canonical.joints[3].p.cast<float>());
  EXPECT_EQ(single.joint_of_body, canonical.joint_of_body);
}

}  // namespace
}  // namespace limb
