// Contact against textbook closed forms: bouncing, sliding, sticking, rolling, impact.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
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
    double last = run.velocity()[2];
    Worst height, worst;
    int bounces = 0;
    for (testing::StepLimit limit(100'000); limit.next() && bounces < 5;) {
      run.simulation.run_until(run.simulation.state().t + h);
      const double v = run.velocity()[2], z = run.position()[2] - r;
      EXPECT_GT(z, -1e-12);
      if (last < 0 && v > 0) {
        if (++bounces > 1)
          worst.add(std::abs(height.value() / (H * std::pow(e, 2. * (bounces - 1))) - 1));
        height = {};
      }
      height.add(z);
      last = v;
    }
    error.push_back(worst.value());
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
  Worst highest_late;
  run.simulation.run_until(100);
  for (testing::StepLimit limit(100'000); limit.next() && run.simulation.state().t < 101;) {
    run.simulation.run_until(run.simulation.state().t + h);
    highest_late.add(run.position()[2] - r);
  }
  EXPECT_NEAR(highest_late.value(), 1, 2e-6);  // 110 bounces; the apex is between steps
}

// In the next tests velocities of the method are those of the middle of a step: the one before the
// first step is that of the time -h / 2.

/// A ball that hits the ground with a vertical speed; the impulse of friction is that which stops
/// the slip u, 2/7 m u for a solid ball, or mu times the normal one.
struct LandingBall {
  double m, r, mu, e, speed, landing;  ///< speed at impact, time of impact
  Vector3<double> v, w;                ///< before; v horizontal

  /// Velocities just after the impact.
  void bounce(Vector3<double>& v_after, Vector3<double>& w_after) const {
    const Vector3<double> slip(v[0] - r * w[1], v[1] + r * w[0], 0);
    const double friction = std::min(2. / 7 * m * slip.norm(), mu * m * (1 + e) * speed);
    const Vector3<double> P = -friction * slip.normalized(), arm(0, 0, -r);
    v_after = v + P / m + Vector3<double>(0, 0, e * speed);
    w_after = w + arm.cross(P) / (0.4 * m * r * r);
  }
};

// Balls of one world, each with its own surface, that land at once, in the same step, and in
// different ones; some stick and some slip. Each bounces as if it were alone.
TEST(Contact, BallsWithDifferentSurfacesBounceIndependently) {
  const double h = 1e-5;
  const std::vector<LandingBall> balls = {
      {0.5, 0.1, 0.3, 0.8, 3, 1e-3, {1, 0.5, 0}, {0, 0, 0}},       // sticks
      {2, 0.05, 0.1, 0.5, 3, 1e-3, {3, -1, 0}, {10, -20, 3}},      // slips
      {1, 0.08, 0.05, 0.9, 2, 1.0042e-3, {-2, 2, 0}, {0, 30, 0}},  // slips
      {0.7, 0.12, 0, 0.6, 2.5, 7.7e-4, {1, 1, 0}, {5, 5, 5}},      // no friction
      {1.5, 0.06, 0.9, 0, 2, 1.2e-3, {0.6, 0, 0}, {0, 10, 0}},     // no slip, no bounce
  };
  RobotBuilder<double> robot("balls");
  for (std::size_t i = 0; i < balls.size(); ++i) {
    const auto& b = balls[i];
    const std::string name = std::to_string(i);
    robot.link("b" + name, b.m, {0, 0, 0}, 0.4 * b.m * b.r * b.r * Matrix3<double>::Identity());
    robot.joint("j" + name, Joint<double>::free(), "world", "b" + name);
  }
  World world(robot.build());
  const Model<double>& model = world.model();
  ContactSetup setup{Ground::plane({0.77, 0.33}), {}, {}};
  const auto count = static_cast<Eigen::Index>(balls.size());
  Vector q(7 * count), v(6 * count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const LandingBall& b = balls[static_cast<std::size_t>(k)];
    ContactShape shape = make_foot(model, model.find_frame("b" + std::to_string(k)), b.r);
    shape.own_surface = true;
    shape.surface = {b.mu, b.e};
    setup.shapes.push_back(shape);
    const double t = b.landing;
    q.segment<7>(7 * k) << 10. * double(k), 0, b.r + t * (b.speed - kG / 2 * t), 0, 0, 0, 1;
    v.segment<6>(6 * k) << b.v[0], b.v[1], kG * t - b.speed + kG * h / 2, b.w;
  }
  world.set_contact(setup);
  Simulation simulation(world, {.step = h});
  simulation.set_state(0, q, v);
  simulation.run_until(2e-3);
  const double t = simulation.state().t;
  for (Eigen::Index k = 0; k < count; ++k) {
    const LandingBall& b = balls[static_cast<std::size_t>(k)];
    Vector3<double> v_after, w_after;
    b.bounce(v_after, w_after);
    const auto x = simulation.state().q.segment<7>(7 * k);
    const auto u = simulation.state().v.segment<6>(6 * k);
    const Matrix3<double> R = to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
    const double since = t - b.landing;
    const double z = b.e > 0 ? since * (v_after[2] - kG / 2 * since) : 0;
    if (b.e > 0) v_after[2] -= kG * (since - h / 2);
    // Exact at the end of a step; in a step the axes of the body rotate by w h before the impact.
    const bool inside = std::abs(std::remainder(b.landing, h)) > 1e-9;
    const double turn = inside ? h * std::max(b.w.norm(), w_after.norm()) : 0;
    SCOPED_TRACE(k);
    EXPECT_LT((R * u.head<3>() - v_after).norm(), turn * (b.v.norm() + b.speed) / 2 + 3e-8);
    EXPECT_LT((R * u.tail<3>() - w_after).norm(), turn * (b.w.norm() + w_after.norm()) / 4 + 5e-7);
    EXPECT_NEAR(x[2] - b.r, z, turn * b.speed * since + 1e-12);
  }
}

// A flat plate lands on four corners: it stays level, rises to e^2 H, and friction at the corners
// takes mu (1 + e) v of its horizontal speed or all of it.
TEST(Contact, PlateBouncesOnFourCornersWithFriction) {
  const Vector3<double> size(0.4, 0.3, 0.05);
  const double H = 0.5, fall = std::sqrt(2 * kG * H), h = 1e-3;
  for (const double e : {0.0, 0.4, 0.7}) {
    for (const double mu : {0.0, 0.2, 0.6}) {
      const Vector3<double> v(1.5, -2, 0);
      BodyRun run(block(2, size), Ground::plane({mu, e}), h);
      run.start({0, 0, size[2] / 2 + H}, kUpright, v + Vector3<double>(0, 0, kG * h / 2));
      run.simulation.run_until(h * std::round((fall / kG + 0.05) / h));
      const double rest = std::max(v.norm() - mu * (1 + e) * fall, 0.0);
      SCOPED_TRACE(e);
      SCOPED_TRACE(mu);
      if (e > 0) {
        EXPECT_LT((run.velocity().head<2>() - rest * v.normalized().head<2>()).norm(), 1e-9);
        const double since = run.simulation.state().t - fall / kG;
        EXPECT_NEAR(run.velocity()[2], e * fall - kG * (since - h / 2), 1e-9);
        EXPECT_NEAR(run.position()[2] - size[2] / 2, since * (e * fall - kG / 2 * since), 1e-9);
      } else {
        EXPECT_NEAR(run.position()[2], size[2] / 2, 1e-9);
      }
      EXPECT_LT(run.angular_velocity().norm(), 1e-9);
    }
  }
}

// The two ends of a level rod have different restitutions: they leave the ground with e1 v and
// e2 v, so that it rotates with (e2 - e1) v / l.
TEST(Contact, EndsOfARodBounceWithTheirOwnRestitution) {
  const double m = 1.2, l = 0.6, H = 0.3, h = 1e-4, e1 = 0.8, e2 = 0.3;
  SingleBody rod(m, m * l * l / 12 * Matrix3<double>::Identity(), Kind::sphere, {0, 0, 0});
  World world(rod.model);
  ContactSetup setup{Ground::plane({0, 0}), {rod.shape, rod.shape}, {}};
  for (std::size_t i = 0; i < 2; ++i) {
    setup.shapes[i].X_BS.p[0] = i == 0 ? l / 2 : -l / 2;
    setup.shapes[i].own_surface = true;
    setup.shapes[i].surface = {0, i == 0 ? e1 : e2};
  }
  world.set_contact(setup);
  Simulation simulation(world, {.step = h});
  Vector q(7);
  q << 0, 0, H, 0, 0, 0, 1;
  Vector u = Vector::Zero(6);
  u[2] = kG * h / 2;
  simulation.set_state(0, q, u);
  const double v = std::sqrt(2 * kG * H), landing = v / kG;
  simulation.run_until(h * std::ceil(landing / h));  // the step of landing ends
  const double since = simulation.state().t - landing, w = (e2 - e1) * v / l;
  EXPECT_NEAR(simulation.state().v[4], w, 1e-9);
  // In the axes of the rod, which rotate by w h: the cosine of 2e-4.
  EXPECT_NEAR(simulation.state().v[2], (e1 + e2) / 2 * v - kG * (since - h / 2), 1e-7);
  // Each end loses (1 - e^2) of the energy of the part of the mass that it carries.
  const double after = m / 2 * (e1 + e2) * (e1 + e2) / 4 * v * v + m * l * l / 24 * w * w;
  EXPECT_NEAR(world.contacts()->dissipated(), m * kG * H - after, 1e-3);
}

/// Two balls on parallel rails along x that hit each other head-on.
struct Collision {
  explicit Collision(const ContactSetup& surfaces) : setup(surfaces) {
    RobotBuilder<double> robot("rails");
    robot.gravity({0, 0, 0});
    for (const char* name : {"a", "b"}) {
      robot.link(name, name[0] == 'a' ? 2 : 0.5, {0, 0, 0}, Matrix3<double>::Identity());
      robot.joint(std::string("x_") + name, Joint<double>::prismatic({1, 0, 0}), "world", name,
                  {Matrix3<double>::Identity(), {name[0] == 'a' ? 0. : 1., 0, 0}});
    }
    world = std::make_unique<World>(robot.build());
    setup.parameters.self_contact = true;
    setup.shapes.resize(2);
    for (int i = 0; i < 2; ++i) {
      ContactShape& shape = setup.shapes[static_cast<std::size_t>(i)];
      shape.name = i == 0 ? "a" : "b";
      shape.body = BodyId(i + 1);
      shape.size[0] = 0.2;
    }
    world->set_contact(setup);
    simulation = std::make_unique<Simulation>(*world, SimulationOptions{.step = 1e-3});
    // They touch after 0.6 m at a relative speed of 4 m/s.
    simulation->set_state(0, Vector::Zero(2), Eigen::Vector2d(3, -1));
  }
  ContactSetup setup;
  std::unique_ptr<World> world;
  std::unique_ptr<Simulation> simulation;
};

// Momentum is conserved and the relative speed is -e times that before; the surface is that of the
// first shape that has its own, else that of self-contact.
TEST(SelfContact, BallsCollideWithTheRestitutionOfTheirSurface) {
  struct Case {
    bool first, second;
    double e;
  };
  for (const Case& c : {Case{false, false, 0.25}, {true, false, 0.5}, {false, true, 0.75}}) {
    ContactSetup surfaces;
    surfaces.parameters.self_surface = {0.3, 0.25};
    surfaces.shapes.resize(2);
    surfaces.shapes[0].own_surface = c.first;
    surfaces.shapes[0].surface = {0.3, 0.5};
    surfaces.shapes[1].own_surface = c.second;
    surfaces.shapes[1].surface = {0.3, 0.75};
    Collision run(surfaces);
    run.simulation->run_until(0.149);
    EXPECT_LT((run.simulation->state().v - Eigen::Vector2d(3, -1)).norm(), 1e-15);
    run.simulation->run_until(0.3);
    // 2 a + 0.5 b = 5.5 and b - a = 4 e.
    const double a = (5.5 - 2 * c.e) / 2.5;
    EXPECT_LT((run.simulation->state().v - Eigen::Vector2d(a, a + 4 * c.e)).norm(), 1e-12) << c.e;
    // The reduced mass is 0.4 kg.
    EXPECT_NEAR(run.world->contacts()->dissipated(), 0.2 * 16 * (1 - c.e * c.e), 1e-12) << c.e;
  }
}

// Pressed together by 6 N: each reads the force of the other; no ground, no centre of pressure.
TEST(SelfContact, ForcesAreOppositeOnTheTwoShapes) {
  ContactSetup surfaces;
  surfaces.parameters.self_surface = {0.3, 0};
  Collision run(surfaces);
  run.simulation->set_controller(
      [](const ControlInput&, Vector& tau) { tau = Eigen::Vector2d(6, -6); });
  run.simulation->set_state(0, Eigen::Vector2d(0.3, -0.3), Vector::Zero(2));
  run.simulation->run_until(0.05);
  const Model<double>& model = run.world->model();
  const Contacts& contacts = *run.world->contacts();
  Kinematics<double> kinematics(model);
  forward_kinematics(model, run.simulation->state().q, kinematics);
  const Force<double> a = contacts.force_on(model, kinematics, model.find_frame("a"));
  const Force<double> b = contacts.force_on(model, kinematics, model.find_frame("b"));
  EXPECT_LT((a.f - Vector3<double>(-6, 0, 0)).norm(), 1e-9);
  EXPECT_LT((b.f - Vector3<double>(6, 0, 0)).norm(), 1e-9);
  EXPECT_LT(a.n.norm() + b.n.norm(), 1e-12);
  EXPECT_TRUE(contacts.touches(model, model.find_frame("a")));
  EXPECT_TRUE(contacts.touches(model, model.find_frame("b")));
  EXPECT_TRUE(std::isnan(contacts.center_of_pressure()[0]));
  ASSERT_EQ(contacts.points().size(), 1u);
  EXPECT_EQ(contacts.report().touching, 1);
  // The acceleration of the impulses balances that of the motors.
  EXPECT_LT(run.simulation->acceleration().norm(), 1e-9);
}

// Two blocks of one world at x = 0 and 3 m with 1 kg and 2 kg: the centre of pressure is below the
// common mass centre.
TEST(Contact, CenterOfPressureIsBelowTheMassCenter) {
  RobotBuilder<double> robot("blocks");
  for (int i = 1; i <= 2; ++i) {
    const std::string name = std::to_string(i);
    robot.link(name, i, {0.02, 0.01, 0}, 0.01 * Matrix3<double>::Identity());
    robot.joint("f" + name, Joint<double>::free(), "world", name);
  }
  World world(robot.build());
  ContactSetup setup{Ground::plane({0.5, 0}, 0.7), {}, {}};
  for (int i = 1; i <= 2; ++i) {
    ContactShape shape;
    shape.name = std::to_string(i);
    shape.body = BodyId(i);
    shape.kind = Kind::box;
    shape.size = {0.2, 0.2, 0.1};
    setup.shapes.push_back(shape);
  }
  world.set_contact(setup);
  Simulation simulation(world, {.step = 1e-3});
  Vector q(14);
  q << 0, 0, 0.75, 0, 0, 0, 1, 3, 0, 0.75, 0, 0, 0, 1;
  simulation.set_state(0, q, Vector::Zero(12));
  simulation.run_until(0.1);
  EXPECT_LT((world.contacts()->center_of_pressure() - Vector3<double>(2.02, 0.01, 0.7)).norm(),
            1e-6);
  EXPECT_EQ(world.contacts()->report().touching, 8);
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
// Torsional friction of a ball that spins on the spot: the moment r_t m g stops it after w / a,
// a = r_t m g / (2/5 m r^2), and it then rests. Without it, the ball spins for ever.
TEST(Contact, TorsionalFrictionStopsASpinningBall) {
  const double m = 0.7, r = 0.1, radius = 2e-3, w = 10, h = 1e-3;
  const double a = radius * kG / (0.4 * r * r), end = w / a;
  BodyRun run(ball(m, r), Ground::plane({.friction = 0.8, .torsion = radius}), h);
  run.start({0, 0, r}, kUpright, {0, 0, 0}, {0, 0, w});
  for (const double t : {0.25 * end, 0.9 * end}) {
    const double steps = std::round(t / h);
    run.simulation.run_until(steps * h);
    // Residuals of 1e-10 in each of up to 2000 steps.
    EXPECT_NEAR(run.angular_velocity()[2], w - a * steps * h, 2e-7);
    const ContactPoint& point = run.world.contacts()->points()[0];
    EXPECT_NEAR(point.moment_W[2], -radius * m * kG, 1e-6 * radius * m * kG);
    EXPECT_LT(run.world.contacts()->report().cone, 1e-12);
  }
  run.simulation.run_until(std::ceil(end / h) * h + 0.1);
  EXPECT_NEAR(run.angular_velocity().norm(), 0, 1e-9);
  EXPECT_NEAR(run.world.contacts()->dissipated(), 0.2 * m * r * r * w * w, 1e-7);
  EXPECT_LE(run.world.contacts()->totals().energy_gain, 1e-15);

  BodyRun free(ball(m, r), Ground::plane({.friction = 0.8}), h);
  free.start({0, 0, r}, kUpright, {0, 0, 0}, {0, 0, w});
  free.simulation.run_until(1);
  EXPECT_NEAR(free.angular_velocity()[2], w, 1e-9);
}

// Rolling friction of a rolling ball: with the force f of sticking friction, m a = f and
// 2/5 m r^2 a / r = -r_r m g - f r, so that a = -(5/7) g r_r / r.
TEST(Contact, RollingFrictionDeceleratesARollingBall) {
  const double m = 0.7, r = 0.1, radius = 1e-3, v = 1, h = 1e-3, a = 5. / 7 * kG * radius / r;
  BodyRun run(ball(m, r), Ground::plane({.friction = 0.8, .rolling = radius}), h);
  const Vector3<double> along(0.6, 0.8, 0), axis(-0.8, 0.6, 0);
  run.start({0, 0, r}, kUpright, v * along, v / r * axis);
  run.simulation.run_until(1);
  EXPECT_NEAR((run.velocity() - (v - a) * along).norm(), 0, 1e-7);
  EXPECT_NEAR((run.angular_velocity() - (v - a) / r * axis).norm(), 0, 1e-6);
  run.simulation.run_until(v / a + 0.1);
  EXPECT_NEAR(run.velocity().norm(), 0, 1e-9);
  EXPECT_NEAR(run.angular_velocity().norm(), 0, 1e-8);
  EXPECT_NEAR(run.world.contacts()->dissipated(), 0.7 * m * v * v, 1e-6);
  EXPECT_LE(run.world.contacts()->totals().energy_gain, 1e-15);
}

// On a slope, a ball rests if tan(angle) <= r_r / r, and rolls with 5/7 (g sin - g cos r_r / r)
// above.
TEST(Contact, BallOnASlopeRestsBelowTheRollingAngle) {
  const double m = 0.7, r = 0.1, radius = 0.01, h = 1e-3;
  for (const double ratio : {0.999, 1.001}) {
    const double angle = std::atan(ratio * radius / r);
    BodyRun run(ball(m, r), Ground::slope(angle, {.friction = 0.8, .rolling = radius}), h);
    run.start({r * std::sin(angle), 0, r * std::cos(angle)}, kUpright, {0, 0, 0});
    run.simulation.run_until(2);
    const double a = kG * (std::sin(angle) - std::cos(angle) * radius / r) * 5 / 7;
    EXPECT_NEAR(run.velocity().norm(), ratio < 1 ? 0 : 2 * a, 1e-8) << ratio;
  }
}

// The same of a wheel on two points, with the moment of inertia of a ball about its axis.
TEST(Contact, WheelOnASlopeRestsBelowTheRollingAngle) {
  const double m = 2, r = 0.1, radius = 0.01, h = 1e-3;
  const double across = 0.4 * m * r * r, along = 0.1 * m;
  for (const double ratio : {0.999, 1.001}) {
    const double angle = std::atan(ratio * radius / r);
    SingleBody wheel{
        m, Vector3<double>(along, across, along).asDiagonal(), Kind::capsule, {r, 0.2, 0}};
    wheel.shape.X_BS.R << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    BodyRun run(wheel, Ground::slope(angle, {.friction = 0.8, .rolling = radius}), h);
    run.start({r * std::sin(angle), 0, r * std::cos(angle)}, kUpright, {0, 0, 0});
    run.simulation.run_until(2);
    const double a = kG * (std::sin(angle) - std::cos(angle) * radius / r) * 5 / 7;
    EXPECT_EQ(run.world.contacts()->report().touching, 2);
    EXPECT_NEAR(run.velocity().norm(), ratio < 1 ? 0 : 2 * a, 1e-8) << ratio;
  }
}

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
  EXPECT_NEAR(run.world.energy(run.simulation.state()).stored, run.world.contacts()->stored(), 0);
}

// Contact as springs without damping: m z'' = -4 k z with the frequency of the mass on four
// springs, damped only by the implicit step: the depth after a drop with v is v / w at first.
TEST(Contact, CompliantModeIsASpringAndDamper) {
  const Vector3<double> size(0.3, 0.2, 0.1);
  const double m = 2, k = 5e3, h = 1e-5, v = 0.5;
  for (const double c : {0., 20.}) {
    ContactParameters parameters;
    parameters.stiffness = k;
    parameters.damping = c;
    BodyRun run(block(m, size), Ground::plane({0, 0}), h, parameters);
    run.start({0, 0, size[2] / 2}, kUpright, {0, 0, -v});
    const double w0 = std::sqrt(4 * k / m), d = 4 * c / (2 * m), w = std::sqrt(w0 * w0 - d * d);
    const double t = 0.02, rest = -kG / (w0 * w0);
    run.simulation.run_until(t);
    // z = rest + e^(-d t) (A cos w t + B sin w t), z(0) = 0, z'(0) = -v.
    const double A = -rest, B = (-v + d * A) / w;
    const double z = rest + std::exp(-d * t) * (A * std::cos(w * t) + B * std::sin(w * t));
    EXPECT_NEAR(run.position()[2] - size[2] / 2, z, 10 * h * v) << c;  // order 1
    // Energy is kinetic, potential, stored or dissipated.
    const World::Energy energy = run.world.energy(run.simulation.state());
    const double spent = run.world.contacts()->dissipated();
    EXPECT_NEAR(energy.total() - m * kG * size[2] / 2 + spent, m * v * v / 2, 6e-4) << c;
    if (c > 0) {
      EXPECT_GT(spent, 0.02);
    }
  }
}

// A sphere at the end of a link overlaps a plane whose normal points along the link: only rounding
// of the rotated axes moves it out of the plane. Without a bound the joint turned by 1e29 rad.
TEST(Contact, OverlapAlongALinkDoesNotTurnIt) {
  for (const double angle : {0.7, 1.1, 1.6, 2.9}) {
    RobotBuilder<double> robot("arm");
    robot.gravity({0, 0, 0}).link("arm", 1, {0, 0, -0.2}, 0.01 * Matrix3<double>::Identity());
    const Vector3<double> axis = Vector3<double>(1, 2, -2) / 3, p(0.3, 0.1, 0.2);
    const Matrix3<double> R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    robot.joint("swing", Joint<double>::revolute({0, 1, 0}), "world", "arm", {R, p});
    World world(robot.build());
    ContactShape shape;
    shape.name = "arm";
    shape.body = BodyId(1);
    shape.X_BS.p = {0, 0, -0.4};
    shape.size[0] = 0.05;
    Ground ground;
    ground.add_half_space(R.col(2), R.col(2).dot(p) - 0.4);
    world.set_contact({ground, {shape}});
    Simulation simulation(world, {.step = 1e-3});
    simulation.set_state(0, Vector::Zero(1), Vector::Zero(1));
    for (int i = 1; i <= 50; ++i) {
      const double before = simulation.state().q[0];
      simulation.run_until(1e-3 * i);
      // The tip, 0.45 m from the joint, moves at most 10 times as far as overlaps are corrected.
      EXPECT_LE(std::abs(simulation.state().q[0] - before) * 0.45, 10 * 1e-3 * 1.0001) << angle;
    }
  }
}

// Approaches slower than what gravity adds in two steps are those of contacts at rest, whatever the
// units: a file in centimetres has gravity 981 and steps of 0.1 ms. Faster ones bounce.
TEST(Contact, WhatFallsForAStepOrTwoRests) {
  constexpr double kGravity = 981, kStep = 1e-4, kBounce = 0.8, r = 0.1;
  for (const double speed : {1.5 * kStep * kGravity, 10 * kStep * kGravity}) {
    RobotBuilder<double> robot("ball");
    robot.gravity({0, 0, -kGravity})
        .link("ball", 1, {0, 0, 0}, 0.004 * Matrix3<double>::Identity());
    robot.joint("free", Joint<double>::free(), "world", "ball");
    World world(robot.build());
    ContactShape shape = make_foot(world.model(), world.model().find_frame("ball"), r);
    world.set_contact({Ground::plane({.friction = 0.5, .restitution = kBounce}), {shape}});
    Simulation simulation(world, {.step = kStep});
    Vector q = make_state(world.model()).q, v = Vector::Zero(6);
    q[2] = r + 0.5 * kStep * speed;
    v[2] = -speed;
    simulation.set_state(0, q, v);
    Worst fastest;
    for (int k = 1; k <= 5; ++k) {
      simulation.run_until(k * kStep);
      fastest.add(simulation.state().v[2]);
    }
    if (speed < 2 * kStep * kGravity) {
      EXPECT_LT(fastest.value(), 1e-9);
      EXPECT_NEAR(simulation.state().q[2], r, 1e-5);
    } else {
      // Gravity acts for less than a step before and after.
      EXPECT_NEAR(fastest.value(), kBounce * speed, 2 * kStep * kGravity);
    }
  }
}

}  // namespace
}  // namespace limb
