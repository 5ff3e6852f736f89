#include "limb/dynamics/ik/inverse_kinematics.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/ik/ik_reachability_impl.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

// Planar arms with closed-form solutions.
namespace limb {
namespace {

using std::numbers::pi;
using testing::message;
using Goal = FrameGoal<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix3<double> I3() {
  return Matrix3<double>::Identity();
}

std::vector<DofLimits<double>> between(double lower, double upper) {
  DofLimits<double> limits;
  limits.lower = lower;
  limits.upper = upper;
  return {limits};
}

/// Links of 1 m and 0.8 m in the x-y plane, with a frame at the tip.
Model<double> planar_2r(std::vector<DofLimits<double>> shoulder = {},
                        std::vector<DofLimits<double>> elbow = {}) {
  RobotBuilder<double> b("2r");
  b.link("base")
      .link("upper", 1.0, {0.5, 0, 0}, 0.1 * I3())
      .link("fore", 1.0, {0.4, 0, 0}, 0.1 * I3());
  b.joint("shoulder", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "upper");
  if (!shoulder.empty()) b.limits(shoulder);
  b.joint("elbow", Joint<double>::revolute(Vector3<double>::UnitZ()), "upper", "fore",
          {I3(), {1, 0, 0}});
  if (!elbow.empty()) b.limits(elbow);
  b.frame("tip", "fore", {I3(), {0.8, 0, 0}});
  return b.build();
}

Vector3<double> tip_of(const Model<double>& model, const VectorX<double>& q, const char* name) {
  Kinematics<double> k(model);
  forward_kinematics(model, q, k);
  return frame_pose(model, k, model.find_frame(name)).p;
}

struct Solution {
  VectorX<double> q;
  IkReport<double> report;
};
Solution solve(const Model<double>& model, std::vector<Goal> goals, const VectorX<double>& start,
               const IkOptions<double>& options = {}) {
  IkScratch<double> scratch(model, static_cast<int>(goals.size()));
  VectorX<double> q(model.nq());
  const IkReport<double> report = inverse_kinematics(model, scratch, goals, start, q, options);
  return {q, report};
}

// The two closed-form solutions of the planar arm: cos(q2) = (x^2 + y^2 - l1^2 - l2^2) / (2 l1 l2),
// q1 = atan2(y, x) - atan2(l2 sin(q2), l1 + l2 cos(q2)). The start selects one.
TEST(InverseKinematics, Planar2RClosedForm) {
  const Model<double> model = planar_2r();
  testing::Random random(11);
  SCOPED_TRACE(random.text());
  for (int i = 0; i < 200; ++i) {
    const double r = random.uniform(0.3, 1.7), phi = random.uniform(-pi, pi);
    const Vector3<double> p(r * std::cos(phi), r * std::sin(phi), 0);
    const double side = i % 2 == 0 ? 1 : -1;  // elbow to the right or to the left
    const double q2 = side * std::acos((r * r - 1 - 0.64) / 1.6);
    const double q1 = phi - std::atan2(0.8 * std::sin(q2), 1 + 0.8 * std::cos(q2));
    IkOptions<double> options;
    options.position_tolerance = 1e-12;
    const Solution a = solve(model, {Goal::position(model.find_frame("tip"), p)},
                             Eigen::Vector2d(q1 + 0.3, q2 + 0.3 * side), options);
    ASSERT_TRUE(a.report.ok()) << a.report.text(model);
    EXPECT_LT(a.report.errors[0].position, 1e-12);
    EXPECT_EQ(a.report.errors[0].rotation, 0);
    // Error of the tip over the smallest singular value, 1e-12 / 0.2 at the ends of the range.
    EXPECT_NEAR(std::remainder(a.q[0] - q1, 2 * pi), 0, 5e-12);
    EXPECT_NEAR(std::remainder(a.q[1] - q2, 2 * pi), 0, 5e-12);
  }
}

// Links of 1 m and 0.8 m: 1.8 m is the sum of the lengths, rounding included; directions without
// weight do not count.
TEST(InverseKinematics, ReachIsTheSumOfTheLengths) {
  const Model<double> model = planar_2r();
  const FrameId tip = model.find_frame("tip");
  IkOptions<double> options;
  options.position_tolerance = 0;
  const auto unreachable = [&](const Vector3<double>& p, const Vector3<double>& weight) {
    Goal goal = Goal::position(tip, p);
    goal.position_weight = weight;
    return ik::is_unreachable<double>(model, std::span(&goal, 1), options);
  };
  const Vector3<double> all = Vector3<double>::Ones();
  for (int i = 0; i < 50; ++i) {
    const Vector3<double> direction(std::cos(i), std::sin(i), 0);
    EXPECT_FALSE(unreachable(1.8 * direction, all)) << i;
    EXPECT_TRUE(unreachable((1.8 + 1e-12) * direction, all)) << i;
  }
  EXPECT_FALSE(unreachable({0, 1.7, 50}, {1, 1, 0}));
  EXPECT_FALSE(unreachable({0, 50, 1.7}, {1, 0, 1}));
  EXPECT_FALSE(unreachable({50, 50, 0}, {0, 0, 1}));
  EXPECT_TRUE(unreachable({50, 0, 0}, {1, 0, 0}));
  options.position_tolerance = 0.1;
  EXPECT_FALSE(unreachable({1.89, 0, 0}, all));
  EXPECT_TRUE(unreachable({1.91, 0, 0}, all));
}

// Outside the reachable ring the nearest point is on its edge, in the direction of the goal.
TEST(InverseKinematics, UnreachableGoalsAreApproachedAsFarAsPossible) {
  const Model<double> model = planar_2r();
  testing::Random random(12);
  SCOPED_TRACE(random.text());
  // The cost is flat at its minimum: an angle of sqrt(eps) changes it by eps. 20 times that.
  const double tolerance = 20 * std::sqrt(kEps);
  for (int i = 0; i < 50; ++i) {
    const double phi = random.uniform(-pi, pi);
    const Vector3<double> direction(std::cos(phi), std::sin(phi), 0);
    const Eigen::Vector2d start(random.uniform(-pi, pi), random.uniform(-3, 3));
    for (const double r : {2.5, 0.05}) {
      const double edge = r > 1 ? 1.8 : 0.2;
      const Solution a =
          solve(model, {Goal::position(model.find_frame("tip"), r * direction)}, start);
      // Only the outer side is proven unreachable, by the sum of the link lengths.
      EXPECT_EQ(a.report.status, r > 1 ? Status::unreachable : Status::local_minimum);
      EXPECT_NEAR(a.report.errors[0].position, std::abs(r - edge), tolerance * tolerance);
      EXPECT_LT((tip_of(model, a.q, "tip") - edge * direction).norm(), tolerance);
      // Stretched or folded: singular along the arm.
      EXPECT_LT(a.report.smallest_singular_value, tolerance);
    }
  }
}

// A stretched arm and a goal between its tip and its root: the gradient is zero although the goal
// is reachable. The same for the folded arm with the goal outward.
TEST(InverseKinematics, SingularStarts) {
  const Model<double> model = planar_2r();
  const FrameId tip = model.find_frame("tip");
  for (const double r : {0.4, 1.0, 1.7}) {
    for (const double elbow : {0.0, pi}) {
      const Solution a = solve(model, {Goal::position(tip, {r, 0, 0})}, Eigen::Vector2d(0, elbow));
      EXPECT_TRUE(a.report.ok()) << r << " " << a.report.text(model);
    }
  }
  const Model<double> arm = load_model("builtin:arm7");
  const VectorX<double> zero = VectorX<double>::Zero(7);
  const Vector3<double> top = tip_of(arm, zero, "tool");
  const Solution a =
      solve(arm, {Goal::position(arm.find_frame("tool"), top - Vector3<double>(0, 0, 0.2))}, zero);
  EXPECT_TRUE(a.report.ok()) << a.report.text(arm);
}

// Elbow limited to 0.5 .. 2: a near goal needs a larger elbow angle, a far one a smaller. The
// nearest point is then on the circle of the limit, in the direction of the goal.
TEST(InverseKinematics, LimitsAreSatisfiedAndReported) {
  const Model<double> model = planar_2r({}, between(0.5, 2.0));
  const FrameId tip = model.find_frame("tip");
  const auto radius = [](double q2) { return std::sqrt(1.64 + 1.6 * std::cos(q2)); };
  for (const double r : {0.3, 1.75}) {
    const double elbow = r < 1 ? 2.0 : 0.5;
    const Solution a = solve(model, {Goal::position(tip, {0, r, 0})}, Eigen::Vector2d(0.1, 1.2));
    EXPECT_EQ(a.report.status, Status::local_minimum);
    EXPECT_EQ(a.q[1], elbow);
    EXPECT_NEAR(a.report.errors[0].position, std::abs(r - radius(elbow)), 4 * kEps);
    ASSERT_EQ(a.report.active_limits.size(), 1U);
    EXPECT_EQ(model.body(a.report.active_limits[0].body).name, "elbow");
    EXPECT_EQ(a.report.active_limits[0].side,
              r < 1 ? ActiveLimit::Side::upper : ActiveLimit::Side::lower);
    IkOptions<double> free;
    free.limits = LimitUse::ignore;
    EXPECT_TRUE(solve(model, {Goal::position(tip, {0, r, 0})}, Eigen::Vector2d(0.1, 1.2), free)
                    .report.ok());
  }
  // A start outside the limits is clamped first.
  const Solution a = solve(model, {Goal::position(tip, {0, 1.2, 0})}, Eigen::Vector2d(0.1, -3));
  EXPECT_TRUE(a.report.ok());
  EXPECT_GE(a.q[1], 0.5);
}

// A cart in a plane with walls: x and y are limited, its velocities are in the cart's axes.
TEST(InverseKinematics, WallsOfAPlanarJoint) {
  RobotBuilder<double> b("cart");
  b.link("base").link("cart", 1.0, {0, 0, 0}, I3()).link("arm", 1.0, {0.2, 0, 0}, I3());
  std::vector<DofLimits<double>> walls = between(-0.5, 0.5);
  walls.push_back(walls[0]);
  walls.emplace_back();
  b.joint("wheels", Joint<double>::planar(Vector3<double>::UnitZ()), "base", "cart").limits(walls);
  b.joint("turret", Joint<double>::revolute(Vector3<double>::UnitZ()), "cart", "arm");
  b.frame("tip", "arm", {I3(), {0.4, 0, 0}});
  const Model<double> model = b.build();
  testing::Random random(16);
  SCOPED_TRACE(random.text());
  for (int i = 0; i < 50; ++i) {
    Vector4<double> start = random.vector<double, 4>(0.5);
    const double x = random.uniform(-0.6, 0.6), y = random.uniform(-0.6, 0.6);
    for (const double scale : {1.0, 3.0}) {
      const Vector3<double> p(scale * x, scale * y, 0);
      // A cart in a corner that reaches inward is in a local minimum, hence restarts.
      const Solution a =
          solve(model, {Goal::position(model.find_frame("tip"), p)}, start, {.restarts = 10});
      EXPECT_LE(max_abs(a.q.head<2>()), 0.5);
      const Vector3<double> corner(std::clamp(p.x(), -0.5, 0.5), std::clamp(p.y(), -0.5, 0.5), 0);
      const double left = std::max(0.0, (p - corner).norm() - 0.4);
      // Reached to the tolerance, or the minimal distance, which is flat there.
      EXPECT_NEAR(a.report.errors[0].position, left, 1e-8) << a.report.text(model);
    }
  }
}

// Locked joints stay, even outside their limits.
TEST(InverseKinematics, LockedJointsStay) {
  const Model<double> model = planar_2r({}, between(0.5, 2.0));
  const std::vector<std::string> names = {"elbow"};
  IkOptions<double> options;
  options.locked = locked_joints<double>(model, names);
  const Solution a = solve(model, {Goal::position(model.find_frame("tip"), {0, 1.8, 0})},
                           Eigen::Vector2d(0.3, 0), options);
  EXPECT_TRUE(a.report.ok());
  EXPECT_EQ(a.q[1], 0);
  EXPECT_NEAR(a.q[0], pi / 2, 1e-7);
}

// Directions without weight are free: only the height of the tip, or only its angle about z.
TEST(InverseKinematics, WeightsLeaveDirectionsFree) {
  const Model<double> model = planar_2r();
  Goal height = Goal::position(model.find_frame("tip"), {100, 0.7, 100});
  height.position_weight = {0, 1, 0};
  const Solution a = solve(model, {height}, Eigen::Vector2d(0.2, 0.3));
  EXPECT_TRUE(a.report.ok());
  EXPECT_NEAR(tip_of(model, a.q, "tip").y(), 0.7, 1e-8);
  EXPECT_LT(a.report.errors[0].position, 1e-8);

  Goal heading = Goal::pose(model.find_frame("tip"), {so3::exp<double>({0, 0, 1.0}), {5, 5, 5}});
  heading.position_weight.setZero();
  const Solution b = solve(model, {heading}, Eigen::Vector2d(0.2, 0.3));
  EXPECT_TRUE(b.report.ok());
  EXPECT_NEAR(b.q[0] + b.q[1], 1.0, 1e-8);
  EXPECT_EQ(b.report.errors[0].position, 0);
  // The shortest motion: both joints by the same angle.
  EXPECT_NEAR(b.q[0] - b.q[1], 0.2 - 0.3, 1e-6);
}

// Three joints and a point goal leave one degree of freedom: at the solution nearest to the posture
// the difference has no component in the null space. Reference: a search over all solutions.
TEST(InverseKinematics, PostureIsTheNearestOfAllSolutions) {
  RobotBuilder<double> b("3r");
  b.link("base");
  for (int i = 0; i < 3; ++i) {
    b.link("l" + std::to_string(i), 1.0, {0.25, 0, 0}, 0.1 * I3());
    b.joint("j" + std::to_string(i), Joint<double>::revolute(Vector3<double>::UnitZ()),
            i == 0 ? "base" : "l" + std::to_string(i - 1), "l" + std::to_string(i),
            {I3(), {i == 0 ? 0 : 0.5, 0, 0}});
  }
  b.frame("tip", "l2", {I3(), {0.5, 0, 0}});
  const Model<double> model = b.build();
  const Vector3<double> p(0.7, 0.4, 0);
  IkOptions<double> options;
  options.posture = Vector3<double>(0.3, 1.5, -0.9);
  const Solution a = solve(model, {Goal::position(model.find_frame("tip"), p)},
                           Vector3<double>(0.2, 0.5, 0.6), options);
  ASSERT_TRUE(a.report.ok());
  EXPECT_TRUE(a.report.posture_converged);
  EXPECT_LT(a.report.errors[0].position, 1e-8);
  // All solutions by the direction of the last link, for both signs of the elbow.
  Least nearest;
  for (int i = 0; i < 200000; ++i) {
    const double last = 2 * pi * i / 200000;
    const Vector3<double> w = p - 0.5 * Vector3<double>(std::cos(last), std::sin(last), 0);
    const double c = (w.squaredNorm() - 0.5) / 0.5;
    if (std::abs(c) > 1) continue;
    for (const double q2 : {std::acos(c), -std::acos(c)}) {
      const double q1 = std::atan2(w.y(), w.x()) - std::atan2(std::sin(q2), 1 + std::cos(q2));
      Vector3<double> q(q1, q2, last - q1 - q2);
      for (int k = 0; k < 3; ++k)
        q[k] += std::remainder(options.posture[k] - q[k], 2 * pi) - (options.posture[k] - q[k]);
      nearest.add((Vector3<double>(options.posture) - q).norm());
    }
  }
  // The distance is flat at its minimum: steps of 3e-5 rad in the search change it by 1e-9.
  EXPECT_NEAR(a.report.posture_distance, nearest.value(), 1e-8);
}

// The shin of the belt-driven leg follows two motors; its limit bounds both.
TEST(InverseKinematics, FollowersOfSeveralStayInsideTheirLimits) {
  RobotBuilder<double> b("belt leg");
  b.link("base")
      .link("thigh", 1, {0, -0.2, 0}, 0.1 * I3())
      .link("shin", 1, {0, -0.2, 0}, 0.1 * I3());
  b.link("pulley", 0.1, {0, 0, 0}, 0.1 * I3());
  const auto turn = Joint<double>::revolute(Vector3<double>::UnitZ());
  b.joint("hip", turn, "base", "thigh");
  b.joint("knee", turn, "thigh", "shin", {I3(), {0, -0.4, 0}}).limits(between(0.2, 2.0));
  b.joint("motor", turn, "base", "pulley");
  b.couple("knee", {{"motor", 1.0}, {"hip", -1.0}});
  b.frame("foot", "shin", {I3(), {0, -0.4, 0}});
  const Model<double> model = b.build();
  const FrameId foot = model.find_frame("foot");
  const int hip = 0, motor = 1;
  testing::Random random(13);
  SCOPED_TRACE(random.text());
  for (int i = 0; i < 100; ++i) {
    // A goal beyond the straightest leg that the knee allows: 0.8 cos(0.1).
    const double phi = random.uniform(-1, 1);
    const Vector3<double> direction(std::sin(phi), -std::cos(phi), 0);
    const double start = random.uniform(-1, 1);
    const Solution a = solve(model, {Goal::position(foot, 0.799 * direction)},
                             Eigen::Vector2d(start, start + random.uniform(0.3, 1.9)));
    const double knee = a.q[motor] - a.q[hip];
    EXPECT_GE(knee, 0.2 - 64 * kEps);
    EXPECT_NEAR(knee, 0.2, 64 * kEps);
    EXPECT_EQ(a.report.status, Status::local_minimum);
    EXPECT_NEAR(a.report.errors[0].position, 0.799 - 0.8 * std::cos(0.1), 16 * kEps);
    ASSERT_EQ(a.report.active_limits.size(), 1U);
    EXPECT_EQ(model.body(a.report.active_limits[0].body).name, "knee");
    // A goal inside the reach.
    const Solution c =
        solve(model, {Goal::position(foot, 0.6 * direction)}, Eigen::Vector2d(start, start + 0.3));
    EXPECT_TRUE(c.report.ok()) << c.report.text(model);
  }
  EXPECT_EQ(message([&] {
              solve(model, {Goal::position(foot, {0, -0.6, 0})}, Eigen::Vector2d(0, 0));
            }),
            "inverse_kinematics: position of joint 'knee' at q_start is 0, expected between 0.2 "
            "and 2 (it follows several others; start where all are inside their limits)");
}

TEST(InverseKinematics, DoesNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  IkScratch<double> scratch(model, 2);
  VectorX<double> q(model.nq()), answer = q;
  neutral(model, q);
  IkOptions<double> options;
  options.posture = q;
  options.max_iterations = 10;
  const std::vector<Goal> goals = {Goal::position(model.find_frame("left_palm"), {0.3, 0.2, 0.1}),
                                   Goal::position(model.find_frame("right_palm"), {9, 0, 0})};
  EXPECT_EQ(testing::allocations([&] {
              inverse_kinematics(model, scratch, std::span(goals).first(1), q, answer, options);
              inverse_kinematics(model, scratch, goals, q, answer, options);
            }),
            0);
}

TEST(InverseKinematics, ErrorsNameTheCause) {
  const Model<double> model = planar_2r();
  const FrameId tip = model.find_frame("tip");
  const Eigen::Vector2d zero(0, 0);
  const auto text = [&](const Goal& goal, const VectorX<double>& start,
                        const IkOptions<double>& options = {}) {
    return message([&] { solve(model, {goal}, start, options); });
  };
  const Goal good = Goal::position(tip, {1, 0, 0});
  EXPECT_EQ(text(good, Vector3<double>(0, 0, 0)),
            "inverse_kinematics: q_start has 3 entries, expected 2 (a free joint needs 7 numbers "
            "in q but 6 in v)");
  EXPECT_EQ(text(good, Eigen::Vector2d(0, std::nan(""))),
            "inverse_kinematics: q_start[1] is nan, expected a finite number");
  EXPECT_EQ(text(Goal::position(FrameId(77), {1, 0, 0}), zero),
            "inverse_kinematics: frame of goals[0] is 77, expected one of the " +
                std::to_string(model.frames().size()) + " frames of the model");
  EXPECT_EQ(text(Goal::position(tip, {1, std::nan(""), 0}), zero),
            "inverse_kinematics: p_WG of goals[0] is [1, nan, 0], expected finite numbers");
  Goal idle = good;
  idle.position_weight.setZero();
  EXPECT_EQ(text(idle, zero),
            "inverse_kinematics: every weight of goals[0] is 0, expected at least one positive "
            "weight");
  idle.position_weight = {1, -1, 0};
  EXPECT_EQ(text(idle, zero),
            "inverse_kinematics: weight of goals[0] is -1, expected >= 0 and finite");
  Goal skewed = Goal::pose(tip, {2 * I3(), {1, 0, 0}});
  EXPECT_EQ(text(skewed, zero).substr(0, 42), "inverse_kinematics: R_WG of goals[0] is [2");
  const Model<double> quadruped = load_model("builtin:quadruped");
  EXPECT_EQ(
      message([&] {
        solve(quadruped, {Goal::position(quadruped.find_frame("FL_foot"), {0, 0, 0})},
              VectorX<double>::Zero(quadruped.nq()));
      }),
      "inverse_kinematics: norm of the quaternion q_start[3] to q_start[6] of joint 'base' is "
      "0, expected 1 within 1e-06 (normalize(model, q_start) makes it unit)");
  EXPECT_EQ(text(good, zero, {.position_tolerance = 0}),
            "inverse_kinematics: position_tolerance is 0, expected > 0 and finite");
  EXPECT_EQ(text(good, zero, {.max_iterations = 0}),
            "inverse_kinematics: max_iterations is 0, expected 1 or more");
  EXPECT_EQ(text(good, zero, {.locked = {true}}),
            "inverse_kinematics: locked has 1 entries, expected 2");
  EXPECT_EQ(message([&] { solve(model, {}, zero); }),
            "inverse_kinematics: number of goals is 0, expected 1 to 0 (the size of the scratch)");
  const std::vector<std::string> names = {"elbw"};
  EXPECT_EQ(message([&] { locked_joints<double>(model, names); }),
            "Model::find_body: no joint is named 'elbw' (closest: 'elbow')");
}

TEST(InverseKinematics, ReportAsText) {
  const Model<double> model = planar_2r({}, between(0.5, 2.0));
  const Solution a =
      solve(model, {Goal::position(model.find_frame("tip"), {3, 0, 0})}, Eigen::Vector2d(0.1, 1));
  EXPECT_EQ(a.report.text(model).substr(0, 18), "unreachable after ");
  EXPECT_NE(a.report.text(model).find("goal 0 is 1.26 m and 0 rad away; joint 'elbow' is at its "
                                      "lower limit; smallest singular value "),
            std::string::npos)
      << a.report.text(model);
  const Solution few = solve(model, {Goal::position(model.find_frame("tip"), {0, 1.2, 0})},
                             Eigen::Vector2d(-2, 1), {.max_iterations = 2});
  EXPECT_EQ(few.report.status, Status::iteration_limit);
  EXPECT_EQ(few.report.iterations, 2);
}

}  // namespace
}  // namespace limb
