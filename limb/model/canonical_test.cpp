// The canonical form is the same robot: same poses by the map back, same torques, with less to
// compute.
#include "limb/model/canonical.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <limits>
#include <numbers>

#include "limb/math/testing/random.hpp"
#include "limb/model/builder.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/model/testing/walk.hpp"

namespace limb {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::Random;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;
using Kind = CanonicalStep<double>::Kind;

/// The joint of a step in the step's own frame.
Joint<double> joint_of(const CanonicalStep<double>& step) {
  switch (step.kind) {
    case Kind::revolute:
      return Joint<double>::revolute(Vector3d::UnitZ());
    case Kind::prismatic:
      return Joint<double>::prismatic(Vector3d::UnitZ());
    case Kind::helical:
      return Joint<double>::helical(Vector3d::UnitZ(), step.pitch);
    case Kind::planar:
      return Joint<double>::planar(Vector3d::UnitZ());
    case Kind::spherical:
      return Joint<double>::spherical();
    case Kind::free:
      break;
  }
  return Joint<double>::free();
}

Pose<double> placement(const CanonicalStep<double>& step) {
  const double quarters = step.quadrant * (std::numbers::pi / 2);
  return {step.R * axis_rotation(2, step.offset + quarters), step.p};
}

std::vector<Pose<double>> step_poses(const Canonical<double>& canonical, const VectorXd& q) {
  std::vector<Pose<double>> X(canonical.steps.size());
  for (std::size_t i = 1; i < X.size(); ++i) {
    const auto& step = canonical.steps[i];
    X[i] = X[static_cast<std::size_t>(step.parent)] * placement(step) *
           joint_of(step).pose(q.data() + step.q);
  }
  return X;
}

/// Plain Newton-Euler over the steps, with their regrouped inertias.
VectorXd inverse_dynamics(const Canonical<double>& canonical, const VectorXd& q, const VectorXd& v,
                          const VectorXd& a) {
  const std::size_t n = canonical.steps.size();
  std::vector<Pose<double>> X(n);
  std::vector<Motion<double>> V(n), A(n);
  std::vector<Force<double>> F(n);
  A[0].v = -canonical.gravity;
  for (std::size_t i = 1; i < n; ++i) {
    const auto& s = canonical.steps[i];
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
    const auto& s = canonical.steps[i];
    const Joint<double> joint = joint_of(s);
    Motion<double> S[6];
    joint.subspace(q.data() + s.q, S);
    for (int k = 0; k < joint.nv(); ++k) tau[s.v + k] = dot(S[k], F[i]);
    F[static_cast<std::size_t>(s.parent)] += X[i].act(F[i]);
  }
  return tau;
}

/// A tree of every joint type, twice. Neat: axes and placements along the coordinate axes.
Model<double> tree(unsigned seed, bool neat) {
  testing::RandomTreeOptions options;
  options.joints = 2 * static_cast<int>(kJointTypes.size());
  Description<double> robot = testing::random_tree(seed, options);
  if (neat) {
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
  const VectorXd q = model_.random(engine_);
  const auto X = testing::body_poses(model_, q);
  const auto X_step = step_poses(canonical, q);
  for (int b = 1; b < model_.body_count(); ++b) {
    const auto i = static_cast<std::size_t>(b);
    const Pose<double> back =
        canonical.body_pose(b, X_step[static_cast<std::size_t>(canonical.step_of_body[i])]);
    EXPECT_LT((back.matrix() - X[i].matrix()).norm(), 512 * kEps) << model_.bodies()[i].name;
  }
}

TEST_P(CanonicalTree, GivesTheSameTorques) {
  const Canonical<double> canonical = canonicalize(model_);
  const VectorXd q = model_.random(engine_);
  const VectorXd v = VectorXd::Random(model_.nv()), a = VectorXd::Random(model_.nv());
  const VectorXd expected = testing::inverse_dynamics(model_, q, v, a);
  const VectorXd tau = inverse_dynamics(canonical, q, v, a);
  // Speeds add up along twenty joints, so torques reach hundreds; relative to the largest.
  EXPECT_LT((tau - expected).cwiseAbs().maxCoeff(), 512 * kEps * expected.cwiseAbs().maxCoeff());
  const VectorXd plain = inverse_dynamics(canonicalize(model_, {1e-10, false}), q, v, a);
  EXPECT_LT((plain - expected).cwiseAbs().maxCoeff(), 512 * kEps * expected.cwiseAbs().maxCoeff());
}

TEST_P(CanonicalTree, RegroupsWhatJointsCannotFeel) {
  for (const auto& step : canonicalize(model_).steps) {
    if (step.body == 0) continue;  // the world, and massless steps in between
    if (step.kind == Kind::revolute) {
      EXPECT_EQ(step.mass, 0);
      EXPECT_EQ(step.first_moment[2], 0);
      EXPECT_EQ(step.second_moments(2, 2), 0);
    }
    if (step.kind == Kind::prismatic) {
      EXPECT_EQ(step.second_moments.norm(), 0);
    }
    if (step.kind == Kind::spherical) {
      EXPECT_EQ(step.mass, 0);
    }
    // The placement of one-axis steps is two planar rotations.
    if (step.kind == Kind::revolute || step.kind == Kind::prismatic || step.kind == Kind::helical) {
      Matrix3d Rz = Matrix3d::Identity(), Rx = Matrix3d::Identity();
      Rz.topLeftCorner<2, 2>() << step.cos_gamma, -step.sin_gamma, step.sin_gamma, step.cos_gamma;
      Rx.bottomRightCorner<2, 2>() << step.cos_alpha, -step.sin_alpha, step.sin_alpha,
          step.cos_alpha;
      EXPECT_EQ(step.R, Rz * Rx);
      EXPECT_EQ(step.has_gamma, step.cos_gamma != 1.0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, CanonicalTree, ::testing::Range(1u, 21u));

// With axes and placements along coordinate axes every sine is 0 or 1 and no offset is left, which
// is where the savings come from.
bool carries(const Canonical<double>& canonical, std::size_t i) {
  return std::any_of(canonical.steps.begin() + 1, canonical.steps.end(),
                     [&](const auto& s) { return s.parent == static_cast<int>(i); });
}

// Nothing asks for other axes of a last link that turns: its mass centre lies along x.
TEST(Canonical, LastLinksHaveTheirMassCentreAlongX) {
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Canonical<double> canonical = canonicalize(tree(seed, seed % 2 == 0));
    for (std::size_t i = 1; i < canonical.steps.size(); ++i) {
      const auto& step = canonical.steps[i];
      if (step.kind != Kind::revolute || carries(canonical, i)) continue;
      EXPECT_EQ(step.first_moment[1], 0);
      EXPECT_GE(step.first_moment[0], 0);
      found += step.first_moment[0] > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 10);
}

TEST(Canonical, QuarterTurnsAreExact) {
  const Canonical<double> canonical = canonicalize(tree(4, true));
  for (std::size_t i = 1; i < canonical.steps.size(); ++i) {
    const auto& step = canonical.steps[i];
    // Only the turn of a last link is one; without it, the axes are those of the body, permuted.
    if (step.kind != Kind::revolute || carries(canonical, i)) {
      EXPECT_EQ(step.offset, 0);
    }
    const Matrix3d axes = step.X_BC.R * axis_rotation(2, -step.offset);
    for (const double x : axes.reshaped()) {
      EXPECT_LT(std::abs(x * (std::abs(x) - 1)), 4 * std::numeric_limits<double>::epsilon()) << x;
    }
    for (const double x : {step.cos_gamma, step.sin_gamma, step.cos_alpha, step.sin_alpha}) {
      EXPECT_TRUE(x == 0 || x == 1 || x == -1) << x;
    }
    ASSERT_EQ(step.along >= 0, step.kind == Kind::revolute);
    if (step.along >= 0) {
      EXPECT_EQ(std::abs(step.R(step.along, 2)), 1);
    }
  }
}

TEST(Canonical, SnapsQuarterTurnsWrittenShortOnlyWhenAsked) {
  RobotBuilder<double> b("short");
  b.link("base").link("tip", 1.0, {0.1, 0, 0}, Matrix3d::Identity());
  b.joint("j", Joint<double>::revolute(Vector3d::UnitZ()), "base", "tip",
          {axis_rotation(0, 1.5707963), Vector3d::Zero()});
  const Model<double> model = b.build();
  EXPECT_NE(canonicalize(model).steps[1].cos_alpha, 0);
  EXPECT_EQ(canonicalize(model).steps[1].along, -1);
  EXPECT_EQ(canonicalize(model, {1e-6, true}).steps[1].cos_alpha, 0);
  EXPECT_EQ(canonicalize(model, {1e-6, true}).steps[1].along, 1);
}

TEST(Canonical, CastKeepsTheNumbers) {
  const Canonical<double> canonical = canonicalize(tree(7, false));
  const Canonical<float> single = canonical.cast<float>();
  ASSERT_EQ(single.steps.size(), canonical.steps.size());
  EXPECT_EQ(single.steps[3].p, canonical.steps[3].p.cast<float>());
  EXPECT_EQ(single.step_of_body, canonical.step_of_body);
}

}  // namespace
}  // namespace limb
