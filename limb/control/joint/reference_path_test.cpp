// Reference trajectories: boundary values, closed forms, rates against differences.
#include "limb/control/joint/reference_path.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <array>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

TEST(Quintic, InterpolatesItsBoundaryValues) {
  const PathPoint start{0.3, -1, 2}, end{-0.7, 0.5, -3};
  const Quintic x(start, end, 1.7);
  const PathPoint a = x.at(0), b = x.at(1.7);
  for (const double error :
       {a.x - start.x, a.v - start.v, a.a - start.a, b.x - end.x, b.v - end.v, b.a - end.a}) {
    EXPECT_NEAR(error, 0, 512 * kEps);  // sums of coefficients up to 50
  }
  const PathPoint before = x.at(-1), after = x.at(2);
  EXPECT_EQ(before.x, start.x);
  EXPECT_EQ(before.v, 0);
  EXPECT_NEAR(after.x, end.x, 64 * kEps);
  EXPECT_EQ(after.a, 0);
}

// s^3 (10 - 15 s + 6 s^2); the peaks 15/8 and 10/sqrt(3).
TEST(Quintic, MinimumJerkClosedForm) {
  const double d = 2.5, T = 0.8;
  const Quintic x({}, {d, 0, 0}, T);
  Worst a, v;
  for (int i = 0; i <= 1000; ++i) {
    const double s = i / 1000.0;
    const PathPoint now = x.at(s * T);
    EXPECT_NEAR(now.x, d * s * s * s * (10 - 15 * s + 6 * s * s), 64 * kEps * d);
    v.add(now.v);
    a.add(now.a);
  }
  EXPECT_NEAR(v.value(), 15.0 / 8 * d / T, 1e-12);
  EXPECT_NEAR(a.value(), 10 / std::sqrt(3) * d / (T * T),
              1e-4);  // its peak lies between two samples
  EXPECT_NEAR(minimum_jerk_duration(d, 15.0 / 8 * d / T, 1e9), T, 1e-15);
  EXPECT_NEAR(minimum_jerk_duration(d, 1e9, 10 / std::sqrt(3) * d / (T * T)), T, 1e-15);
}

// On every joint type: v is the tangent of q, a the rate of v.
TEST(JointPath, RatesAreDerivativesOfPositions) {
  for (const testing::Sample& s : testing::samples(3)) {
    Vector q1(s.q.size()), q2(s.q.size());
    integrate(s.model, s.q, Vector(0.8 * s.v), q1);
    integrate(s.model, q1, Vector(0.6 * s.a), q2);
    const JointPath path(s.model, {s.q, q1, q2}, {1.0, 0.7});
    EXPECT_DOUBLE_EQ(path.duration(), 1.7);
    const double h = 1e-5;
    JointReference now(s.model), later(s.model), earlier(s.model);
    for (const double t : {0.2, 0.55, 1.1, 1.6}) {
      path.sample(t, now);
      path.sample(t + h, later);
      path.sample(t - h, earlier);
      Vector change(now.v.size());
      difference(s.model, earlier.q, later.q, change);
      // Central differences: h^2 of third derivatives (about 60), eps / h.
      EXPECT_LT((change / (2 * h) - now.v).norm(), 1e-7) << s.name;
      EXPECT_LT(((later.v - earlier.v) / (2 * h) - now.a).norm(), 1e-6) << s.name;
    }
    path.sample(-1, now);
    EXPECT_LT(distance(s.model, now.q, s.q), 16 * kEps);
    path.sample(9, now);
    EXPECT_LT(distance(s.model, now.q, q2), 1e-14);
    EXPECT_EQ(now.v.norm() + now.a.norm(), 0);
  }
}

TEST(JointPath, KeepsVelocityLimits) {
  const Model<double> model = load_model("builtin:arm7");
  const JointPath path(model, {Vector::Zero(7), Vector::LinSpaced(7, -1, 1.5)}, 1, 4);
  JointReference r(model);
  std::array<Worst, 7> v;
  Worst a;
  for (double t = 0; t <= path.duration(); t += 1e-3) {
    path.sample(t, r);
    for (std::size_t i = 0; i < 7; ++i) v[i].add(std::abs(r.v[static_cast<int>(i)]));
    a.add(max_abs(r.a));
  }
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_LE(v[i].value(), *model.bodies()[i + 1].limits[0].velocity);
  }
  EXPECT_LE(a.value(), 4 + 1e-12);
  EXPECT_GE(a.value(), 4 - 1e-3);  // and reaches it
}

// The joint that needs most time sets the duration, by its own velocity limit or the given one, or
// by the acceleration; two equal waypoints take a millisecond.
TEST(JointPath, TakesTheShortestTime) {
  const Model<double> arm = load_model("builtin:arm7"), pendulum = load_model("builtin:2r");
  const Vector end = Vector::LinSpaced(7, -1, 1.5);
  Worst longest;
  for (int i = 0; i < 7; ++i) {
    const double limit = *arm.bodies()[static_cast<std::size_t>(i) + 1].limits[0].velocity;
    longest.add(15.0 / 8 * std::abs(end[i]) / limit);
  }
  const JointPath fast(arm, {Vector::Zero(7), end}, 1e-3, 1e9);
  EXPECT_DOUBLE_EQ(fast.duration(), longest.value());
  const JointPath slow(arm, {Vector::Zero(7), end, Vector::Zero(7)}, 1, 0.5);
  EXPECT_DOUBLE_EQ(slow.duration(), 2 * std::sqrt(10 / std::sqrt(3.0) * 1.5 / 0.5));
  RobotBuilder<double> rail("rail");
  rail.link("block", 1, {0, 0, 0}, Matrix3<double>::Identity());
  rail.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block");
  const Model<double> unlimited = rail.build();
  const JointPath given(unlimited, {Vector::Zero(1), Vector::Constant(1, -2)}, 0.5, 1e9);
  EXPECT_DOUBLE_EQ(given.duration(), 15.0 / 8 * 2 / 0.5);
  EXPECT_EQ(JointPath(pendulum, {Vector::Zero(2), Vector::Zero(2)}, 1, 1).duration(), 1e-3);
}

// At the waypoints, and just before and after them.
TEST(JointPath, PassesItsWaypoints) {
  const Model<double> model = load_model("builtin:2r");
  const Vector a = Eigen::Vector2d(0.1, -0.4), b = Eigen::Vector2d(1, 0.3),
               c = Eigen::Vector2d(-0.5, 2);
  const JointPath path(model, {a, b, c}, {1.0, 0.5});
  JointReference r(model);
  path.sample(1, r);
  EXPECT_LT((r.q - b).norm(), 4 * kEps);
  // A tenth of a segment from its end: s^3 (10 - 15 s + 6 s^2) = 0.00856.
  path.sample(0.9, r);
  EXPECT_LT((r.q - (b + 0.00856 * (a - b))).norm(), 8 * kEps);
  path.sample(1.05, r);
  EXPECT_LT((r.q - (b + 0.00856 * (c - b))).norm(), 8 * kEps);
  path.sample(1.5, r);
  EXPECT_LT((r.q - c).norm(), 8 * kEps);
}

// Poses half a turn apart are connected by one rotation.
TEST(FramePath, LargeRotationsAreAboutOneAxis) {
  testing::Random random(4);
  const Vector3<double> axis = random.direction<double>();
  const Pose<double> start = random.pose<double>();
  Pose<double> end = start;
  const double angle = 170 * std::numbers::pi / 180;
  end.R = Eigen::AngleAxisd(angle, axis).toRotationMatrix() * start.R;
  const FramePath path({start, end}, {2});
  for (const double t : {0.3, 1.0, 1.4}) {
    const double s = t / 2, share = s * s * s * (10 - 15 * s + 6 * s * s);
    const Matrix3<double> R = Eigen::AngleAxisd(share * angle, axis).toRotationMatrix() * start.R;
    EXPECT_LT((path.at(t).X_WF.R - R).norm(), 64 * kEps);  // products of three rotations
    EXPECT_LT(path.at(t).V.w.cross(axis).norm(), 64 * kEps);
    EXPECT_NEAR(path.at(t).V.w.dot(axis), 30 * s * s * (1 - s) * (1 - s) * angle / 2, 64 * kEps);
  }
}

TEST(FramePath, RatesAreDerivativesOfPoses) {
  testing::Random random(3);
  const FramePath path({random.pose<double>(), random.pose<double>(), random.pose<double>()},
                       {0.8, 1.1});
  const double h = 1e-5;
  for (const double t : {0.3, 0.7, 1.2, 1.8}) {
    const FrameReference now = path.at(t), later = path.at(t + h), earlier = path.at(t - h);
    const Vector3<double> w = so3::log<double>(later.X_WF.R * earlier.X_WF.R.transpose()) / (2 * h);
    EXPECT_LT((w - now.V.w).norm(), 1e-7);
    EXPECT_LT(((later.X_WF.p - earlier.X_WF.p) / (2 * h) - now.V.v).norm(), 1e-7);
    EXPECT_LT(((later.V.w - earlier.V.w) / (2 * h) - now.A.w).norm(), 1e-6);
    EXPECT_LT(((later.V.v - earlier.V.v) / (2 * h) - now.A.v).norm(), 1e-6);
  }
}

TEST(ReferencePaths, RejectInvalidInput) {
  const Model<double> model = load_model("builtin:2r");
  EXPECT_EQ(message([&] { JointPath(model, {Vector::Zero(2)}, std::vector<double>{}); }),
            "JointPath: number of waypoints is 1, expected at least two");
  EXPECT_EQ(message([&] {
              JointPath(model, {Vector::Zero(2), Vector::Ones(2)}, {-1});
            }),
            "Quintic: duration is -1, expected > 0 and finite");
  EXPECT_EQ(message([&] {
              FramePath({Pose<double>{}, Pose<double>{}}, {1, 2});
            }),
            "FramePath: durations has 2 entries, expected 1");
  EXPECT_EQ(message([&] { minimum_jerk_duration(1, 0, 1); }),
            "minimum_jerk_duration: largest_velocity is 0, expected > 0 and finite");
}

}  // namespace
}  // namespace limb
