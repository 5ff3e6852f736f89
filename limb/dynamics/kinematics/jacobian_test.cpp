#include "limb/dynamics/kinematics/jacobian.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr FrameAxes kAxes[] = {FrameAxes::local, FrameAxes::local_world_aligned, FrameAxes::world};

Matrix6X<double> jacobian(const Model<double>& model, const Kinematics<double>& k, FrameId frame,
                          FrameAxes axes) {
  // Not zero before: entries that are not written would show.
  Matrix6X<double> J = Matrix6X<double>::Constant(6, model.nv(), 7);
  frame_jacobian(model, k, frame, axes, J);
  return J;
}

/// Planar arm of two links along x, rotating about z.
Model<double> arm_2r(double l1, double l2) {
  RobotBuilder<double> b("2r");
  const auto joint = Joint<double>::revolute(Vector3<double>::UnitZ());
  b.link("base").link("one").link("two");
  b.joint("q1", joint, "base", "one");
  b.joint("q2", joint, "one", "two", {Matrix3<double>::Identity(), {l1, 0, 0}});
  b.frame("tip", "two", {Matrix3<double>::Identity(), {l2, 0, 0}});
  return b.build();
}

// The tip of the planar arm [Craig 2005, Jacobians of a two-link arm] and its derivatives, written
// out. Three products and a sum of numbers below 1: 8 eps.
TEST(Jacobian, PlanarArmOfTwoLinks) {
  const double l1 = 0.5, l2 = 0.4;
  const Model<double> model = arm_2r(l1, l2);
  const Vector2<double> q(0.3, -1.1), v(0.9, -0.4);
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, k);
  const double s1 = std::sin(q[0]), c1 = std::cos(q[0]);
  const double s12 = std::sin(q[0] + q[1]), c12 = std::cos(q[0] + q[1]);
  const FrameId tip = model.find_frame("tip");
  const auto aligned = FrameAxes::local_world_aligned;

  Matrix6X<double> expected = Matrix6X<double>::Zero(6, 2);
  expected.row(0) << -l1 * s1 - l2 * s12, -l2 * s12;
  expected.row(1) << l1 * c1 + l2 * c12, l2 * c12;
  expected.row(5) << 1, 1;
  EXPECT_LT((jacobian(model, k, tip, aligned) - expected).norm(), 8 * kEps);
  Matrix3X<double> J_point(3, 2);
  point_jacobian(model, k, model.find_frame("two"), {l2, 0, 0}, J_point);
  EXPECT_LT((J_point - expected.topRows(3)).norm(), 8 * kEps);

  // In the axes of the second link, at its tip.
  const double s2 = std::sin(q[1]), c2 = std::cos(q[1]);
  Matrix6X<double> local = Matrix6X<double>::Zero(6, 2);
  local.row(0) << l1 * s2, 0;
  local.row(1) << l1 * c2 + l2, l2;
  local.row(5) << 1, 1;
  EXPECT_LT((jacobian(model, k, tip, FrameAxes::local) - local).norm(), 8 * kEps);

  // Second derivatives: of the first column by q1, minus the tip's position; by q2, minus the
  // position of the tip from the second joint.
  KinematicHessian<double> H(model);
  frame_hessian(model, k, tip, aligned, H);
  EXPECT_NEAR(H(0, 0, 0), -l1 * c1 - l2 * c12, 8 * kEps);
  EXPECT_NEAR(H(1, 0, 0), -l1 * s1 - l2 * s12, 8 * kEps);
  for (const auto& [j, m] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{1, 1}}) {
    EXPECT_NEAR(H(0, j, m), -l2 * c12, 8 * kEps);
    EXPECT_NEAR(H(1, j, m), -l2 * s12, 8 * kEps);
  }
  const double w = v[0] + v[1];
  const auto bias = frame_jacobian_rate_times_v(model, k, tip, aligned);
  EXPECT_NEAR(bias.v.x(), -l1 * c1 * v[0] * v[0] - l2 * c12 * w * w, 8 * kEps);
  EXPECT_NEAR(bias.v.y(), -l1 * s1 * v[0] * v[0] - l2 * s12 * w * w, 8 * kEps);
}

class Robots : public ::testing::TestWithParam<unsigned> {
 protected:
  template <typename Use>
  void for_each_frame(const Use& use) {
    for (const Model<double>& model : testing::random_robots(GetParam())) {
      SCOPED_TRACE("seed " + std::to_string(GetParam()));
      const auto s = testing::random_state(model, GetParam());
      const auto k = testing::kinematics_at(model, s);
      // Every third frame: the last of each tree are the deepest.
      for (int i = static_cast<int>(model.frames().size()) - 1; i >= 0; i -= 3) {
        for (const FrameAxes axes : kAxes) use(model, s, k, FrameId(i), axes);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, Robots, ::testing::Range(1u, 6u));

// A dozen levels of products of numbers of order 1; the largest seen is 20 eps of the size.
TEST_P(Robots, JacobianTimesVelocityIsTheVelocity) {
  for_each_frame([&](const Model<double>& model, const testing::State& s,
                     const Kinematics<double>& k, FrameId frame, FrameAxes axes) {
    const auto V = frame_velocity(model, k, frame, axes).vector();
    EXPECT_LT(testing::relative(jacobian(model, k, frame, axes) * s.v, V), 128 * kEps);
  });
}

// The plain traversal of limb/model/testing, times the coupling matrix. Worst seen: 5 eps.
TEST_P(Robots, AgreesWithThePlainTraversal) {
  for_each_frame([&](const Model<double>& model, const testing::State&, const Kinematics<double>& k,
                     FrameId frame, FrameAxes axes) {
    const Frame<double>& f = model.frame(frame);
    const std::size_t body = static_cast<std::size_t>(f.body.value());
    const Matrix6X<double> J_B =
        testing::body_jacobian(model, k.q, body) * model.coupling().matrix();
    const Pose<double> X_WB = testing::body_poses(model, k.q)[body];
    const Pose<double> X_WF = X_WB * f.X_BF;
    Matrix6<double> to = f.X_BF.inverse().adjoint();
    if (axes == FrameAxes::world) to = X_WB.adjoint();
    if (axes == FrameAxes::local_world_aligned) {
      to = Pose<double>{X_WF.R, Vector3<double>::Zero()}.adjoint() * to;
    }
    EXPECT_LT(testing::relative(jacobian(model, k, frame, axes), to * J_B), 128 * kEps);
  });
}

TEST_P(Robots, ColumnsOfOtherBranchesAreZero) {
  for_each_frame([&](const Model<double>& model, const testing::State&, const Kinematics<double>& k,
                     FrameId frame, FrameAxes axes) {
    std::vector<bool> moves(static_cast<std::size_t>(model.nv()), false);
    for (BodyId i = model.frame(frame).body; i.value() > 0; i = model.body(i).parent) {
      const auto& row = model.coupling().rows()[static_cast<std::size_t>(i.value() - 1)];
      for (const auto& term : row.terms) moves[static_cast<std::size_t>(term.y)] = true;
    }
    const auto J = jacobian(model, k, frame, axes);
    Matrix6X<double> dJ = Matrix6X<double>::Constant(6, model.nv(), 7);
    frame_jacobian_rate(model, k, frame, axes, dJ);
    for (int c = 0; c < model.nv(); ++c) {
      if (moves[static_cast<std::size_t>(c)]) continue;
      EXPECT_EQ(J.col(c), Vector6<double>::Zero());
      EXPECT_EQ(dJ.col(c), Vector6<double>::Zero());
    }
  });
}

// Dual numbers give the exact time derivative: the difference is rounding, 36 eps at worst.
TEST_P(Robots, RateIsTheDerivativeOfTheJacobian) {
  for_each_frame([&](const Model<double>& model, const testing::State& s,
                     const Kinematics<double>& k, FrameId frame, FrameAxes axes) {
    const Model<Dual> moving = model.cast<Dual>();
    const auto k_t = testing::kinematics_in_time(moving, s);
    Matrix6X<Dual> J_t(6, model.nv());
    frame_jacobian(moving, k_t, frame, axes, J_t);
    Matrix6X<double> dJ(6, model.nv());
    frame_jacobian_rate(model, k, frame, axes, dJ);
    const Matrix6X<double> expected = testing::derivative<6, Eigen::Dynamic>(J_t);
    EXPECT_LT(testing::relative(dJ, expected), 256 * kEps);
    const auto bias = frame_jacobian_rate_times_v(model, k, frame, axes).vector();
    EXPECT_LT(testing::relative(bias, expected * s.v), 256 * kEps);
  });
}

// Along each direction of the tangent space, and their sum against the rate. Worst seen: 10 eps.
TEST_P(Robots, HessianIsTheDerivativeAlongTheTangents) {
  for (const Model<double>& model : testing::random_robots(GetParam())) {
    const auto s = testing::random_state(model, GetParam());
    const auto k = testing::kinematics_at(model, s);
    const Model<Dual> moving = model.cast<Dual>();
    const int n = model.nv();
    KinematicHessian<double> H(model);
    Kinematics<Dual> k_t(moving);
    Matrix6X<Dual> J_t(6, n);
    Matrix6X<double> dJ(6, n);
    for (const FrameAxes axes : kAxes) {
      // The frame with the most joints on its path.
      const FrameId frame(static_cast<int>(model.frames().size()) - 1);
      frame_hessian(model, k, frame, axes, H);
      Matrix6X<double> sum = Matrix6X<double>::Zero(6, n);
      for (int c = 0; c < n; ++c) {
        const VectorX<double> unit = VectorX<double>::Unit(n, c);
        forward_kinematics(moving, testing::dual_position(moving, s.q, unit), k_t);
        frame_jacobian(moving, k_t, frame, axes, J_t);
        const Matrix6X<double> expected = testing::derivative<6, Eigen::Dynamic>(J_t);
        EXPECT_LT(testing::relative(H.along(c), expected), 256 * kEps) << "direction " << c;
        sum += H.along(c) * s.v[c];
      }
      frame_jacobian_rate(model, k, frame, axes, dJ);
      EXPECT_LT(testing::relative(sum, dJ), 256 * kEps);
    }
  }
}

TEST_P(Robots, PointIsTheOriginOfAFrameThere) {
  const Vector3<double> p(0.3, -0.2, 0.5);
  for_each_frame([&](const Model<double>& model, const testing::State& s,
                     const Kinematics<double>& k, FrameId frame, FrameAxes) {
    Frame<double> at_point = model.frame(frame);
    at_point.X_BF.p = at_point.X_BF * p;
    const auto aligned = FrameAxes::local_world_aligned;
    Matrix3X<double> J = Matrix3X<double>::Constant(3, model.nv(), 7);
    point_jacobian(model, k, frame, p, J);
    const auto V = frame_velocity(model, k, at_point, aligned);
    EXPECT_LT(testing::relative(J * s.v, V.v), 128 * kEps);
    const auto bias = frame_jacobian_rate_times_v(model, k, at_point, aligned).v;
    EXPECT_LT(testing::relative(point_jacobian_rate_times_v(model, k, frame, p), bias), 16 * kEps);
  });
}

TEST(Jacobian, ErrorsNameTheSizes) {
  const Model<double> model = arm_2r(1, 1);
  Kinematics<double> k(model);
  forward_kinematics(model, Vector2<double>(0, 0), k);
  Matrix6X<double> J(6, 3), good(6, 2);
  const FrameId tip = model.find_frame("tip");
  EXPECT_EQ(testing::message([&] { frame_jacobian(model, k, tip, FrameAxes::local, J); }),
            "frame_jacobian: J is 6 x 3, expected 6 x 2 (a column for each velocity of the robot)");
  EXPECT_EQ(testing::message([&] { frame_jacobian_rate(model, k, tip, FrameAxes::local, good); }),
            "frame_jacobian_rate: these kinematics are incomplete; call forward_kinematics "
            "with q and v first");
  KinematicHessian<double> H(testing::random_robots(1)[0]);
  EXPECT_EQ(testing::message([&] { frame_hessian(model, k, tip, FrameAxes::local, H); }),
            "frame_hessian: H is of size " + std::to_string(H.size()) +
                ", expected 2 (make it from the same model)");
}

TEST(Jacobian, SomeRobotOfTheseTestsIsCoupled) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    EXPECT_FALSE(testing::random_robots(seed)[3].coupling().is_identity()) << seed;
  }
}

}  // namespace
}  // namespace limb
