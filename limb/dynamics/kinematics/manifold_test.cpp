#include "limb/dynamics/kinematics/manifold.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/manifold_impl.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();

// A car that drives along a quarter of a circle of radius 2, to the left.
TEST(Manifold, AQuarterOfACircle) {
  RobotBuilder<double> b("car");
  b.link("ground").link("car");
  b.joint("wheels", Joint<double>::planar(Vector3<double>::UnitZ()), "ground", "car");
  const Model<double> model = b.build();
  const double quarter = std::acos(-1.0) / 2;
  Vector3<double> q(1, 0, 0), moved, step;
  integrate(model, q, Vector3<double>(2 * quarter, 0, quarter), moved);
  // pi/2 is itself rounded; sines, a product, a sum of numbers up to 3: 8 eps.
  EXPECT_LT((moved - Vector3<double>(3, 2, quarter)).norm(), 8 * kEps);
  difference(model, q, moved, step);
  EXPECT_LT((step - Vector3<double>(2 * quarter, 0, quarter)).norm(), 16 * kEps);
  EXPECT_NEAR(distance(model, q, moved), std::sqrt(5) * quarter, 16 * kEps);
  Vector3<double> half;
  interpolate(model, q, moved, 0.5, half);
  const double h = std::sqrt(0.5);
  EXPECT_LT((half - Vector3<double>(1 + 2 * h, 2 - 2 * h, quarter / 2)).norm(), 16 * kEps);
}

class Robots : public ::testing::TestWithParam<unsigned> {
 protected:
  template <typename Use>
  void for_each_robot(const Use& use) {
    for (const Model<double>& model : testing::random_robots(GetParam())) {
      const auto s = testing::random_state(model, GetParam());
      const auto t = testing::random_state(model, GetParam() + 100);
      use(model, s, t);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, Robots, ::testing::Range(1u, 7u));

// Rotations stay below pi, where the inverse is unique. Worst seen: 1 eps of the whole vector.
TEST_P(Robots, DifferenceUndoesIntegrate) {
  for_each_robot([](const Model<double>& model, const testing::State& s, const testing::State&) {
    VectorX<double> q1(model.nq()), v(model.nv());
    integrate(model, s.q, s.v, q1);
    difference(model, s.q, q1, v);
    EXPECT_LT(testing::relative(v, s.v), 32 * kEps);
  });
}

// Model::integrate and Model::difference, joint by joint.
TEST_P(Robots, IsTheModelsOwnWithoutCouplings) {
  const Model<double> model = testing::random_robots(GetParam())[1];
  const auto s = testing::random_state(model, GetParam());
  VectorX<double> q(model.nq()), v(model.nv());
  integrate(model, s.q, s.v, q);
  EXPECT_EQ(q, model.integrate(s.q, s.v));
  difference(model, s.q, q, v);
  EXPECT_EQ(v, model.difference(s.q, q));
  neutral(model, q);
  EXPECT_EQ(q, model.neutral());
}

// Integration and expansion of the couplings commute. Worst seen: 0.1 eps.
TEST_P(Robots, FollowersFollow) {
  const Model<double> model = testing::random_robots(GetParam())[3];
  const auto s = testing::random_state(model, GetParam());
  VectorX<double> moved(model.nq());
  integrate(model, s.q, s.v, moved);
  const auto& G = model.coupling();
  const VectorX<double> expected = model.integrate(G.expand_position(s.q), G.expand_velocity(s.v));
  EXPECT_LT(testing::relative(G.expand_position(moved), expected), 32 * kEps);
}

TEST_P(Robots, InterpolationIsOfConstantSpeed) {
  for_each_robot([](const Model<double>& model, const testing::State& s, const testing::State& t) {
    VectorX<double> q(model.nq()), v(model.nv()), part = v;
    difference(model, s.q, t.q, v);
    for (const double at : {0.0, 0.25, 0.7, 1.0}) {
      interpolate(model, s.q, t.q, at, q);
      difference(model, s.q, q, part);
      // Quaternions up to half a turn apart: the angle is read off a product of two. Seen: 1.5 eps.
      EXPECT_LT(testing::relative(part, at * v), 64 * kEps);
    }
    EXPECT_NEAR(distance(model, s.q, t.q), v.norm(), 4 * kEps * v.norm());
    EXPECT_NEAR(distance(model, t.q, s.q), v.norm(), 32 * kEps * v.norm());
    // The output may be an input.
    VectorX<double> in_place = s.q;
    interpolate(model, in_place, t.q, 0.7, in_place);
    interpolate(model, s.q, t.q, 0.7, q);
    EXPECT_EQ(in_place, q);
  });
}

// Columns by dual numbers: exact derivatives, the difference is rounding. Worst seen: 5 eps.
TEST_P(Robots, JacobiansAreDerivatives) {
  for_each_robot([](const Model<double>& model, const testing::State& s, const testing::State& t) {
    const Model<Dual> moving = model.cast<Dual>();
    const int n = model.nv();
    const VectorX<double> none = VectorX<double>::Zero(n);
    MatrixX<double> J_q = MatrixX<double>::Constant(n, n, 7), J_v = J_q, J_q0 = J_q, J_q1 = J_q;
    integrate_jacobians(model, s.v, J_q, J_v);
    difference_jacobians(model, s.q, t.q, J_q0, J_q1);
    VectorX<double> reached(model.nq());
    integrate(model, s.q, s.v, reached);

    const VectorX<Dual> q = testing::dual_position(moving, s.q, none);
    const VectorX<Dual> q1 = testing::dual_position(moving, t.q, none);
    const VectorX<Dual> end = testing::dual_position(moving, reached, none);
    VectorX<Dual> q_t(model.nq()), step(n);
    for (int c = 0; c < n; ++c) {
      const VectorX<double> unit = VectorX<double>::Unit(n, c);
      const auto rate = [&] { return testing::derivative<Eigen::Dynamic, 1>(step); };
      integrate(moving, testing::dual_position(moving, s.q, unit), testing::dual_vector(s.v, none),
                q_t);
      difference(moving, end, q_t, step);
      EXPECT_LT(testing::relative(J_q.col(c), rate()), 64 * kEps);
      integrate(moving, q, testing::dual_vector(s.v, unit), q_t);
      difference(moving, end, q_t, step);
      EXPECT_LT(testing::relative(J_v.col(c), rate()), 64 * kEps);
      difference(moving, testing::dual_position(moving, s.q, unit), q1, step);
      EXPECT_LT(testing::relative(J_q0.col(c), rate()), 64 * kEps);
      difference(moving, q, testing::dual_position(moving, t.q, unit), step);
      EXPECT_LT(testing::relative(J_q1.col(c), rate()), 64 * kEps);
    }
  });
}

TEST_P(Robots, NormalizeTouchesQuaternionsOnly) {
  for_each_robot([](const Model<double>& model, const testing::State& s, const testing::State&) {
    VectorX<double> scaled = s.q;
    const auto& rows = model.coupling().rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int nq = rows[i].nq;
      if (rows[i].yq >= 0 && nq != rows[i].nv) scaled.segment<4>(rows[i].yq + nq - 4) *= 1.7;
    }
    normalize(model, scaled);
    // A square, a root and a product for each quaternion.
    EXPECT_LT(max_abs(scaled - s.q), 8 * kEps);
  });
}

TEST_P(Robots, RandomStatesRepeatAndStayInside) {
  auto description =
      testing::random_tree(GetParam(), {.joints = 20, .root = {}, .with_couplings = true});
  for (auto& joint : description.joints) {
    joint.limits.resize(static_cast<std::size_t>(joint_nv(joint.type)));
    for (auto& limits : joint.limits) {
      limits.lower = -1.5;
      limits.upper = 2.0;
    }
  }
  const Model<double> model = build_model(description, Base::fixed);
  std::mt19937_64 engine(GetParam()), again(GetParam());
  VectorX<double> q(model.nq()), same = q;
  for (int draw = 0; draw < 50; ++draw) {
    random_configuration(model, engine, q);
    random_configuration(model, again, same);
    EXPECT_EQ(q, same);
    const VectorX<double> joints = model.coupling().expand_position(q);
    for (const Body<double>& body : model.bodies()) {
      const int nv = body.joint.nv();
      if (nv != body.joint.nq()) continue;
      for (int j = body.q_start; j < body.q_start + nv; ++j) {
        EXPECT_GE(joints[j],
                  -1.5 - 4 * kEps);  // a follower: divided by the ratio, multiplied again
        EXPECT_LE(joints[j], 2.0 + 4 * kEps);
      }
    }
    VectorX<double> unit = q;
    normalize(model, unit);
    EXPECT_LT((unit - q).norm(), 16 * kEps);
  }
}

Model<double> pair_with_follower(double lower, double upper) {
  RobotBuilder<double> b("differential");
  b.link("base").link("a").link("b").link("c");
  const auto joint = Joint<double>::revolute(Vector3<double>::UnitZ());
  b.joint("a", joint, "base", "a").limits({{-1.0, 1.0, {}, {}}});
  b.joint("b", joint, "base", "b").limits({{-1.0, 1.0, {}, {}}});
  b.joint("c", joint, "base", "c").limits({{lower, upper, {}, {}}});
  b.couple("c", {{"a", 1.0}, {"b", 1.0}});
  return b.build();
}

TEST(Manifold, AFollowerOfTwoStaysInsideToo) {
  const Model<double> model = pair_with_follower(0.5, 1.0);
  std::mt19937_64 engine(4);
  VectorX<double> q(2);
  for (int draw = 0; draw < 100; ++draw) {
    random_configuration(model, engine, q);
    EXPECT_GE(q[0] + q[1], 0.5);
    EXPECT_LE(q[0] + q[1], 1.0);
  }
}

TEST(Manifold, ErrorsNameTheCause) {
  const Model<double> model = pair_with_follower(3, 4);
  std::mt19937_64 engine(5);
  VectorX<double> q(2), three(3);
  MatrixX<double> J(2, 2), wide(2, 3);
  EXPECT_EQ(testing::message([&] { random_configuration(model, engine, q); }),
            "random_configuration: no state inside the limits of all followers in 1000 draws "
            "[computation failed]");
  q.setZero();
  EXPECT_EQ(testing::message([&] { integrate(model, three, q, q); }),
            "integrate: q has 3 entries, expected 2 (a free joint needs 7 numbers in q but 6 in "
            "v)");
  EXPECT_EQ(testing::message([&] { difference(model, q, q, three); }),
            "difference: v has 3 entries, expected 2 (a free joint needs 7 numbers in q but 6 in "
            "v)");
  EXPECT_EQ(testing::message([&] { interpolate(model, q, q, std::nan(""), q); }),
            "interpolate: t is nan, expected a finite number");
  EXPECT_EQ(testing::message([&] { integrate_jacobians(model, q, J, wide); }),
            "integrate_jacobians: J_v is 2 x 3, expected 2 x 2");
  RobotBuilder<double> b("stuck");
  b.link("base").link("a").link("b");
  const auto joint = Joint<double>::revolute(Vector3<double>::UnitZ());
  b.joint("a", joint, "base", "a").limits({{-1.0, 1.0, {}, {}}});
  b.joint("b", joint, "base", "b").limits({{4.0, 5.0, {}, {}}});
  b.couple("b", {{"a", 2.0}});
  VectorX<double> one(1);
  EXPECT_EQ(testing::message([&] { random_configuration(b.build(), engine, one); }),
            "random_configuration: joint 'a' has no position within the limits of its followers "
            "[computation failed]");
}

}  // namespace
}  // namespace limb
