// Contact against textbook closed forms: bouncing, sliding, sticking, rolling, impact.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "limb/math/inertia_solids.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Kind = ContactShape::Kind;

constexpr double kG = 9.81;

/// One free body of mass m and the given rotational inertia, with one shape.
struct SingleBody {
  SingleBody(double m, const Matrix3<double>& tensor, Kind kind, const Vector3<double>& size)
      : model([&] {
          RobotBuilder<double> robot("body");
          robot.link("body", m, {0, 0, 0}, tensor);
          robot.joint("free", Joint<double>::free(), "world", "body");
          return robot.build();
        }()) {
    shape.name = "body";
    shape.body = BodyId(1);
    shape.kind = kind;
    shape.size = size;
  }
  Model<double> model;
  ContactShape shape;
};

SingleBody ball(double m, double r) {
  return {m, 0.4 * m * r * r * Matrix3<double>::Identity(), Kind::sphere, {r, 0, 0}};
}
SingleBody block(double m, const Vector3<double>& size) {
  const Vector3<double> s = size.cwiseAbs2();
  return {m,
          Vector3<double>(s[1] + s[2], s[0] + s[2], s[0] + s[1]).asDiagonal() *
              Matrix3<double>::Identity() * (m / 12),
          Kind::box, size};
}

struct BodyRun {
  BodyRun(const SingleBody& body, const Ground& ground, double step,
          ContactParameters parameters = {})
      : world(body.model), simulation((prepare(body, ground, parameters), world), {.step = step}) {}
  void prepare(const SingleBody& body, const Ground& ground, const ContactParameters& parameters) {
    world.set_contact({ground, {body.shape}, parameters});
  }
  void start(const Vector3<double>& p, const Quaternion<double>& q, const Vector3<double>& v_W,
             const Vector3<double>& w_W = {0, 0, 0}) {
    Vector x(7), u(6);
    x << p, q.xyzw();
    const Matrix3<double> R = to_matrix(q);
    u << R.transpose() * v_W, R.transpose() * w_W;
    simulation.set_state(0, x, u);
  }
  Vector3<double> position() const { return simulation.state().q.head<3>(); }
  Matrix3<double> rotation() const {
    const auto& q = simulation.state().q;
    return to_matrix(quat_xyzw(q[3], q[4], q[5], q[6]));
  }
  Vector3<double> velocity() const { return rotation() * simulation.state().v.head<3>(); }
  Vector3<double> angular_velocity() const { return rotation() * simulation.state().v.tail<3>(); }

  World world;
  Simulation simulation;
};

const Quaternion<double> kUpright = quat_xyzw(0., 0., 0., 1.);

// Dropped from H, the n-th bounce reaches e^(2 n) H, and it rests after
// sqrt(2 H / g) (1 + e) / (1 - e).
TEST(Contact, BallBouncesToTheHeightOfItsRestitution) {
  const double r = 0.1, H = 1, e = 0.8;
  std::vector<double> error;
  for (const double h : {1e-3, 5e-4, 2.5e-4}) {
    BodyRun run(ball(0.5, r), Ground::plane({0.5, e}), h);
    run.start({0, 0, r + H}, kUpright, {0, 0, 0});
    double last = run.velocity()[2], height = 0, worst = 0;
    int bounces = 0;
    while (bounces < 5) {
      run.simulation.run_until(run.simulation.state().t + h);
      const double v = run.velocity()[2], z = run.position()[2] - r;
      EXPECT_GT(z, -1e-12);
      if (last < 0 && v > 0) {
        if (++bounces > 1)
          worst = std::max(worst, std::abs(height / (H * std::pow(e, 2. * (bounces - 1))) - 1));
        height = 0;
      }
      height = std::max(height, z);
      last = v;
    }
    error.push_back(worst);
  }
  std::printf("apex heights, relative error %.1e %.1e %.1e\n", error[0], error[1], error[2]);
  // Each bounce is exact at its time; the apex is up to h / 2 away from the end of a step: g h^2
  // / 8.
  for (std::size_t k = 0; k < 3; ++k) {
    const double h = 1e-3 / std::pow(2., static_cast<double>(k));
    EXPECT_LT(error[k], 1.1 * kG * h * h / 8 / (H * std::pow(e, 8.)));
  }

  BodyRun run(ball(0.5, r), Ground::plane({0.5, e}), 1e-3);
  run.start({0, 0, r + H}, kUpright, {0, 0, 0});
  run.simulation.run_until(std::sqrt(2 * H / kG) * (1 + e) / (1 - e) + 0.1);
  EXPECT_NEAR(run.position()[2], r, 1e-9);
  EXPECT_NEAR(run.velocity().norm(), 0, 1e-9);
}

// A ball with restitution 1 keeps its height: the impact preserves the modified energy of the
// method exactly.
TEST(Contact, PerfectBouncesKeepTheirHeight) {
  const double r = 0.1, h = 1e-3;
  BodyRun run(ball(0.5, r), Ground::plane({0.5, 1}), h);
  run.start({0, 0, r + 1}, kUpright, {0, 0, 0});
  double highest_late = 0;
  run.simulation.run_until(100);
  while (run.simulation.state().t < 101) {
    run.simulation.run_until(run.simulation.state().t + h);
    highest_late = std::max(highest_late, run.position()[2] - r);
  }
  EXPECT_NEAR(highest_late, 1, 2e-6);  // 110 bounces; the apex is between steps
}

// Accelerates with g (sin a - mu cos a) above the friction angle and does not move below it.
TEST(Contact, BlockSlidesAndSticksAtTheExactFrictionAngle) {
  const double mu = 0.4;
  const Vector3<double> size(0.3, 0.2, 0.1);
  for (const double part : {0.999, 1.001, 1.5}) {
    const double angle = part * std::atan(mu);
    BodyRun run(block(2, size), Ground::slope(angle, {mu, 0}), 1e-3);
    const Matrix3<double> R = axis_rotation(1, angle);
    run.start(R * Vector3<double>(0, 0, size[2] / 2), quaternion_from_matrix(R), {0, 0, 0});
    run.simulation.run_until(1);
    const Vector3<double> along = R.col(0);
    const double expected = std::max(0.0, kG * (std::sin(angle) - mu * std::cos(angle)));
    const double v = along.dot(run.velocity());
    // The impulses of each step are exact to 1e-10 m/s.
    EXPECT_NEAR(v, expected, 1e-8) << part;
    EXPECT_NEAR(R.col(2).dot(run.position()), size[2] / 2, 1e-9);
    const ContactReport& report = run.world.contacts()->report();
    EXPECT_EQ(report.contacts, 4);  // rank 6 of 12 rows
    EXPECT_LT(report.residual, 1e-10);
    EXPECT_LT(report.cone, 1e-10);
    Vector3<double> force = Vector3<double>::Zero();
    for (const ContactPoint& c : run.world.contacts()->points()) force += c.force_W;
    EXPECT_NEAR(R.col(2).dot(force), 2 * kG * std::cos(angle), 1e-6 * 2 * kG);
  }
}

// Launched without spin, it slides until 5/7 of its speed remain, at t = 2 v / (7 mu g).
TEST(Contact, BallRollsAtFiveSeventhsOfItsSpeed) {
  const double r = 0.11, mu = 0.2, v = 7;
  BodyRun run(ball(3, r), Ground::plane({mu, 0}), 1e-3);
  run.start({0, 0, r}, kUpright, {v, 0, 0});
  const double t = 2 * v / (7 * mu * kG);
  run.simulation.run_until(t - 0.05);
  EXPECT_NEAR(run.velocity()[0], v - mu * kG * (t - 0.05), 1e-3 * mu * kG);
  run.simulation.run_until(t + 0.05);
  EXPECT_NEAR(run.velocity()[0], 5 * v / 7, 1e-9);
  EXPECT_NEAR(run.angular_velocity()[1] * r, 5 * v / 7, 1e-9);
  run.simulation.run_until(t + 5);  // rolls without loss
  EXPECT_NEAR(run.velocity()[0], 5 * v / 7, 1e-8);
  // Sliding dissipated 2/7 of the energy.
  EXPECT_NEAR(run.world.contacts()->dissipated(), 2. / 7 * 0.5 * 3 * v * v, 0.01);
}

// A rod falls with v, at an angle a to the ground, without friction: the end that hits stops (e =
// 0), and after the impulse P = m v / (1 + 3 cos^2 a) it rotates with w = 6 P cos a / (m l).
TEST(Contact, RodDroppedAtAnAngleRotatesAsInClosedForm) {
  const double m = 1.5, l = 0.8, a = 0.6, v = 2;
  SingleBody rod(m, Vector3<double>(m * l * l / 12, m * l * l / 12, 1e-6).asDiagonal(),
                 Kind::capsule, {0, l, 0});
  for (const double e : {0.0, 0.5}) {
    BodyRun run(rod, Ground::plane({0, e}), 1e-5);
    // Along z of the body; its lower end at the ground, its upper end towards +x.
    const Matrix3<double> R = axis_rotation(1, std::numbers::pi / 2 - a);
    run.start({0, 0, l / 2 * std::sin(a)}, quaternion_from_matrix(R), {0, 0, -v});
    run.simulation.run_until(1e-5);
    const double P = m * v * (1 + e) / (1 + 3 * std::cos(a) * std::cos(a));
    EXPECT_NEAR(run.velocity()[2], -v + P / m, 2e-4);  // gravity in one step: 1e-4 m/s
    EXPECT_NEAR(run.angular_velocity()[1], 6 * P * std::cos(a) / (m * l), 1e-3);
    EXPECT_NEAR(run.velocity()[0], 0, 1e-12);
  }
}

// The same from heights for which it lands at any time within a step, here of 2 ms: the impact is
// completed in the step of landing, after which the end that hit is on the ground.
TEST(Contact, LandingsDoNotDependOnTheirTimeWithinAStep) {
  const double m = 1.5, l = 0.8, a = 0.6, h = 2e-3;
  SingleBody rod(m, Vector3<double>(m * l * l / 12, m * l * l / 12, 1e-6).asDiagonal(),
                 Kind::capsule, {0, l, 0});
  const Matrix3<double> R = axis_rotation(1, std::numbers::pi / 2 - a);
  for (int k = 0; k < 40; ++k) {
    const double H = 0.2 + 1e-4 * k, v = std::sqrt(2 * kG * H);  // 2 m/s, 4 mm per step
    BodyRun run(rod, Ground::plane({0, 0}), h);
    run.start({0, 0, l / 2 * std::sin(a) + H}, quaternion_from_matrix(R), {0, 0, 0});
    double w = 0;
    while (w == 0) {
      ASSERT_LT(run.simulation.state().t, 1);
      run.simulation.run_until(run.simulation.state().t + h);
      w = run.angular_velocity()[1];
    }
    const double P = m * v / (1 + 3 * std::cos(a) * std::cos(a));
    // Gravity in half a step: g h / 2 = 0.01 m/s, 0.5 % of v.
    EXPECT_NEAR(w * m * l / (6 * P * std::cos(a)), 1, 6e-3) << H;
    const double low = run.position()[2] - l / 2 * run.rotation()(2, 2);
    EXPECT_NEAR(low, 0, 1.1 * w * w * l / 2 * h * h / 2) << H;  // curvature of its path in a step
    EXPECT_NEAR(run.world.contacts()->dissipated(), P * v / 2, 0.01 * P * v) << H;
  }
}

// A second body just above the ground falls undisturbed while the first one lands.
TEST(Contact, BodyAboveTheGroundKeepsFalling) {
  RobotBuilder<double> robot("two");
  for (const char* name : {"a", "b"}) {
    robot.link(name, 1, {0, 0, 0}, 0.01 * Matrix3<double>::Identity());
    robot.joint(std::string("z_") + name, Joint<double>::prismatic({0, 0, 1}), "world", name);
  }
  const double h = 1e-3, v = 2;
  for (const double part : {0.2, 0.9, 0.985, 0.992, 0.9999}) {
    World world(robot.build());
    ContactSetup setup{Ground::plane({0.5, 0}), {}, {}};
    for (const char* name : {"a", "b"}) {
      setup.shapes.push_back(make_foot(world.model(), world.model().find_frame(name), 0));
    }
    world.set_contact(setup);
    Simulation simulation(world, {.step = h});
    // The other one ends its step just above the ground, so that it is a candidate.
    const double fall = v + kG * h;
    simulation.set_state(0, Vector::Map(std::array{part * h * fall, 1.02 * h * fall}.data(), 2),
                         Vector::Constant(2, -v));
    simulation.run_until(h);
    EXPECT_EQ(world.contacts()->report().contacts, 2);
    EXPECT_NEAR(simulation.state().v[0], 0, 1e-12) << part;
    EXPECT_NEAR(simulation.state().q[0], 0, 1e-12) << part;
    EXPECT_NEAR(simulation.state().v[1], -fall, 1e-12) << part;
    EXPECT_NEAR(simulation.state().q[1], 0.02 * h * fall, 1e-12) << part;
  }
}

// Spring and damper: at rest its depth is m g / (4 k) with four corners; friction is the same.
TEST(Contact, CompliantModeRestsOnItsSprings) {
  const Vector3<double> size(0.3, 0.2, 0.1);
  ContactParameters parameters;
  parameters.stiffness = 5e4;
  parameters.damping = 200;
  BodyRun run(block(2, size), Ground::plane({0.5, 0}), 1e-3, parameters);
  run.start({0, 0, size[2] / 2}, kUpright, {1, 0, 0});
  run.simulation.run_until(3);
  const double depth = 2 * kG / (4 * 5e4);
  EXPECT_NEAR(run.position()[2], size[2] / 2 - depth, 1e-9);
  EXPECT_NEAR(run.position()[0], 1 / (2 * 0.5 * kG), 1e-3);  // v^2 / 2 mu g
  EXPECT_NEAR(run.world.contacts()->stored(), 4 * 0.5 * 5e4 * depth * depth, 1e-9);
}

}  // namespace
}  // namespace limb
