// Force laws at given states against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/forces/joint_laws.hpp"
#include "limb/sim/forces/wall_law.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

/// The loads and the energy of one law in a state.
struct Evaluation {
  Evaluation(const Model<double>& model, ForceLaw& law, const Vector& q, const Vector& v)
      : Evaluation(model, law, q, v, Kinematics<double>(model)) {}
  AppliedLoads loads;
  double energy = 0;

 private:
  Evaluation(const Model<double>& model, ForceLaw& law, const Vector& q, const Vector& v,
             Kinematics<double> kinematics) {
    RobotState<double> s = make_state(model);
    s.q = q;
    s.v = v;
    loads.tau = Vector::Zero(model.nv());
    ForceInput now(model, s, kinematics);
    law.add(now, loads);
    energy = law.energy(now);
  }
};

/// 2 kg on a rail between -0.5 m and 0.25 m, and a wheel of 0.3 kg m^2 without limits on it.
Model<double> rail() {
  RobotBuilder<double> robot("rail");
  robot.link("cart", 2, {0, 0, 0}, Matrix3<double>::Identity());
  robot.link("wheel", 1, {0, 0, 0}, 0.3 * Matrix3<double>::Identity());
  DofLimits<double> limits;
  limits.lower = -0.5;
  limits.upper = 0.25;
  robot.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "cart").limits({limits});
  robot.drive(0, 4, 0);
  robot.joint("r", Joint<double>::continuous({0, 0, 1}), "cart", "wheel");
  return robot.build();
}

// Beyond a limit tau = k e - c v, but never towards the limit's outside: k = m w^2, c = 2 z m w.
TEST(SoftStops, AreUnilateralSpringsAndDampers) {
  const Model<double> model = rail();
  SoftStops stops(model, {.frequency = 5, .damping_ratio = 0.3});
  const double m = 3, w = 2 * std::numbers::pi * 5, k = m * w * w, c = 2 * 0.3 * m * w;
  struct Case {
    double q, v, tau, depth;
  };
  for (const Case& x : {Case{0, 5, 0, 0},
                        {-0.49, -5, 0, 0},
                        {-0.52, 0, 0.02 * k, 0.02},
                        {-0.52, -0.1, 0.02 * k + 0.1 * c, 0.02},
                        {-0.52, 0.1, 0.02 * k - 0.1 * c, 0.02},
                        {-0.52, 10, 0, 0.02},  // does not hold back
                        {0.28, 0, -0.03 * k, 0.03},
                        {0.28, 0.2, -0.03 * k - 0.2 * c, 0.03},
                        {0.28, -0.2, -0.03 * k + 0.2 * c, 0.03},
                        {0.28, -10, 0, 0.03}}) {
    const Evaluation found(model, stops, Eigen::Vector2d(x.q, 0.7), Eigen::Vector2d(x.v, 3));
    EXPECT_NEAR(found.loads.tau[0], x.tau, 1e-11 * k) << x.q << ", " << x.v;
    EXPECT_EQ(found.loads.tau[1], 0);
    EXPECT_NEAR(found.energy, k * x.depth * x.depth / 2, 1e-14 * k) << x.q;
  }
  ASSERT_EQ(stops.stops().size(), 1u);
}

// tau = -f (1 + (r - 1) exp(-(v / v_s)^2)) tanh(v / v_0)
TEST(SmoothFriction, HasTheStribeckCurve) {
  const Model<double> model = rail();
  SmoothFriction law(model, {.static_ratio = 1.7, .stribeck_speed = 0.2, .smooth_speed = 0.01});
  for (const double v : {-1., -0.2, -0.005, 0., 0.01, 0.1, 0.3, 2.}) {
    const double peak = 1 + 0.7 * std::exp(-v * v / 0.04);
    const Evaluation found(model, law, Eigen::Vector2d(0, 0), Eigen::Vector2d(v, 3));
    EXPECT_NEAR(found.loads.tau[0], -4 * peak * std::tanh(v / 0.01), 1e-14) << v;
    EXPECT_EQ(found.loads.tau[1], 0);  // no friction
    EXPECT_EQ(found.energy, 0);
  }
}

TEST(SmoothFriction, RejectsCurvesThatAreNone) {
  const Model<double> model = rail();
  const auto rejects = [&](double ratio, double stribeck, double smooth) {
    EXPECT_THROW(
        SmoothFriction(model,
                       {.static_ratio = ratio, .stribeck_speed = stribeck, .smooth_speed = smooth}),
        Error)
        << ratio << " " << stribeck << " " << smooth;
  };
  rejects(0.9, 0.1, 0.01);
  rejects(std::nan(""), 0.1, 0.01);
  rejects(1.5, 0, 0.01);
  rejects(1.5, 0.1, 0);
  rejects(1.5, 0.1, -1);
}

// A follower with q = 2 y0 - 0.5 y1 + 0.3: its spring acts on both with these ratios.
TEST(JointSpring, OfAFollowerActsThroughItsCoupling) {
  RobotBuilder<double> robot("coupled");
  for (const std::string name : {"a", "b", "c"}) {
    robot.link(name, 1, {0, 0, 0}, Matrix3<double>::Identity());
    robot.joint("j" + name, Joint<double>::continuous({0, 0, 1}), "world", name);
  }
  robot.couple("jc", {{"ja", 2}, {"jb", -0.5}}, 0.3);
  const Model<double> model = robot.build();
  JointSpring spring(model, "jc", {.stiffness = 10, .rest = 0.1, .damping = 3});
  const Eigen::Vector2d q(0.4, -0.6), v(1, 2);
  const double e = 2 * 0.4 + 0.5 * 0.6 + 0.3 - 0.1, rate = 2 * 1 - 0.5 * 2;
  const Evaluation found(model, spring, q, v);
  const double tau = -10 * e - 3 * rate;
  EXPECT_LT((found.loads.tau - tau * Eigen::Vector2d(2, -0.5)).norm(), 1e-14);
  EXPECT_NEAR(found.energy, 5 * e * e, 1e-14);
}

/// A free body whose frame "tip" is turned and displaced.
Model<double> body() {
  RobotBuilder<double> robot("body");
  robot.link("b", 2, {0, 0, 0}, Matrix3<double>::Identity());
  robot.joint("f", Joint<double>::free(), "world", "b");
  return robot.frame("tip", "b", {axis_rotation(1, 0.6), {0.2, 0, 0.1}}).build();
}

// Force k d - c v_n along the normal, at least zero, and mu of it against sliding, in the axes of
// the frame.
TEST(WallLaw, ForceIsInTheAxesOfATurnedFrame) {
  const Model<double> model = body();
  WallLaw::Parameters p;
  p.frame = model.find_frame("tip");
  p.point = {0.3, 5, -2};
  p.normal = Vector3<double>(-0.6, 0, 0.8);
  p.stiffness = 500;
  p.damping = 20;
  p.friction = 0.4;
  p.slip = 0.05;
  WallLaw wall(model, p);
  const Matrix3<double> R = axis_rotation(2, 0.9) * axis_rotation(0, -0.4);
  const Vector3<double> arm(0.2, 0, 0.1), w_B(0.3, -0.5, 0.7);
  for (const double approach : {0.3, -0.2, -10.}) {  // against the normal; -10: leaves fast
    const double depth = 0.02;
    // The tip is `depth` inside; the velocity of the tip is known, that of the body follows.
    const Vector3<double> along(0.8, 0, 0.6),
        p_tip = Vector3<double>(0.3, 5, -2) - depth * p.normal;
    const Vector3<double> v_tip = -approach * p.normal + 0.1 * along;
    Vector q(7), v(6);
    q << p_tip - R * arm, quaternion_from_matrix(R).xyzw();
    v << R.transpose() * v_tip - w_B.cross(arm), w_B;
    const double force = std::max(500 * depth + 20 * approach, 0.0);
    const Vector3<double> f_W = force * (p.normal - 0.4 * std::tanh(0.1 / 0.05) * along);
    const Evaluation found(model, wall, q, v);
    ASSERT_EQ(found.loads.wrenches.size(), 1u);
    EXPECT_EQ(found.loads.wrenches[0].frame, p.frame);
    const Matrix3<double> R_WF = R * axis_rotation(1, 0.6);
    EXPECT_LT((found.loads.wrenches[0].F_F.f - R_WF.transpose() * f_W).norm(), 1e-12);
    EXPECT_EQ(found.loads.wrenches[0].F_F.n, Vector3<double>::Zero());
    EXPECT_NEAR(found.energy, 250 * depth * depth, 1e-14);
  }
  Vector outside(7);
  outside << p.point + 0.1 * p.normal - arm, 0, 0, 0, 1;
  const Evaluation none(model, wall, outside, Vector::Zero(6));
  EXPECT_TRUE(none.loads.wrenches.empty());
  EXPECT_EQ(none.energy, 0);
}

// A push acts from its begin to before its end; both are jumps.
TEST(WrenchSchedule, ActsFromBeginToEnd) {
  const Model<double> model = body();
  const FrameId tip = model.find_frame("tip");
  const Force<double> F{{1, 2, 3}, {4, 5, 6}}, G{{7, 0, 0}, {0, 0, 0}};
  WrenchSchedule law(
      model, {{tip, 0.1, 0.3, F, WrenchAxes::world}, {tip, 0.2, 0.4, G, WrenchAxes::frame}});
  EXPECT_EQ(law.max_wrenches(), 2);
  Vector q(7);
  q << 0, 0, 0, 0, 0, 0, 1;
  const auto count = [&](double t) {
    law.begin_step(t);
    const Evaluation found(model, law, q, Vector::Zero(6));
    for (const auto& w : found.loads.world_wrenches) EXPECT_EQ(w.F_F.f, F.f);
    for (const auto& w : found.loads.wrenches) EXPECT_EQ(w.F_F.f, G.f);
    return std::pair{found.loads.world_wrenches.size(), found.loads.wrenches.size()};
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(count(0.0999), Pair(0, 0));
  EXPECT_EQ(count(0.1), Pair(1, 0));
  EXPECT_EQ(count(0.1 - 1e-12), Pair(1, 0));  // rounding
  EXPECT_EQ(count(0.2), Pair(1, 1));
  EXPECT_EQ(count(0.2999), Pair(1, 1));
  EXPECT_EQ(count(0.3 - 1e-12), Pair(0, 1));
  EXPECT_EQ(count(0.3), Pair(0, 1));
  EXPECT_EQ(count(0.4), Pair(0, 0));
  EXPECT_EQ(law.next_jump(0), 0.1);
  EXPECT_EQ(law.next_jump(0.1), 0.2);
  EXPECT_EQ(law.next_jump(0.2), 0.3);
  EXPECT_EQ(law.next_jump(0.35), 0.4);
  EXPECT_EQ(law.next_jump(0.4), std::numeric_limits<double>::infinity());
}

// Constant within a period, redrawn at its end, with the deviations of force and moment.
TEST(RandomWrench, IsRedrawnEveryPeriod) {
  const Model<double> model = body();
  RandomWrench::Parameters p;
  p.frame = model.find_frame("tip");
  p.force_deviation = 3;
  p.moment_deviation = 0.5;
  p.period = 0.02;
  RandomWrench law(model, p, 5);
  Vector q(7);
  q << 0, 0, 0, 0, 0, 0, 1;
  const auto at = [&](double t) {
    law.begin_step(t);
    return Evaluation(model, law, q, Vector::Zero(6)).loads.world_wrenches.at(0).F_F.vector();
  };
  const Vector6<double> first = at(0);
  EXPECT_EQ(at(0.0199), first);
  const Vector6<double> second = at(0.02 - 1e-12);  // rounding
  EXPECT_NE(second, first);
  EXPECT_EQ(at(0.03), second);
  EXPECT_NEAR(law.next_jump(0), 0.02, 1e-15);
  EXPECT_NEAR(law.next_jump(0.02), 0.04, 1e-15);
  EXPECT_NEAR(law.next_jump(0.035), 0.04, 1e-15);
  constexpr int n = 4000;
  Vector6<double> squares = Vector6<double>::Zero();
  for (int k = 2; k < n + 2; ++k) squares += at(0.02 * k).cwiseAbs2() / n;
  Vector6<double> expected;
  expected << 9, 9, 9, 0.25, 0.25, 0.25;
  // Four standard deviations of a variance.
  EXPECT_LT((squares.cwiseQuotient(expected).array() - 1).abs().maxCoeff<Eigen::PropagateNaN>(),
            4 * std::sqrt(2. / n));
  // Periods that are skipped are drawn too: the sequence depends on the time only.
  RandomWrench rare(model, p, 5), often(model, p, 5);
  for (int k = 0; k < 10; ++k) often.begin_step(0.02 * k);
  rare.begin_step(0.18);
  EXPECT_EQ(Evaluation(model, rare, q, Vector::Zero(6)).loads.world_wrenches[0].F_F.vector(),
            Evaluation(model, often, q, Vector::Zero(6)).loads.world_wrenches[0].F_F.vector());
}

}  // namespace
}  // namespace limb
