// Textbook motions against their closed forms: the spinning top, the cart-pole, the belt-driven
// leg, the brachistochrone. (The double pendulum and the free-floating arm are in
// conservation_test.cpp.)
#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/step_limit.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/integrate/event.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
constexpr double kG = 9.81;

/// Mass m at distance l from a fixed tip; moments A, A, C about the tip's axes.
Model<double> top(double m, double l, double A, double C) {
  RobotBuilder<double> robot("top");
  robot.link("top", m, {0, 0, l}, Eigen::Vector3d(A - m * l * l, A - m * l * l, C).asDiagonal());
  return robot.joint("tip", Joint<double>::spherical(), "world", "top").build();
}

// Steady precession at the rate W: A cos(theta) W^2 - C w3 W + m g l = 0. [Goldstein 2002, heavy
// top]
TEST(SpinningTop, PrecessesAtTheClosedFormRate) {
  const double m = 0.5, l = 0.1, A = 0.008, C = 0.0012, theta = 0.4, w3 = 150;
  const double a = A * std::cos(theta), b = C * w3, c = m * kG * l;
  const double W = (b - std::sqrt(b * b - 4 * a * c)) / (2 * a);
  World world(top(m, l, A, C));
  Simulation simulation(world, {IntegrationMethod::dormand_prince, 0.01, 0.1, 1e-12});
  // Tilted by theta about y; the world's z in body axes is (-sin, 0, cos).
  Vector q(4), v(3);
  q << 0, std::sin(theta / 2), 0, std::cos(theta / 2);
  v << -W * std::sin(theta), 0, w3;
  simulation.set_state(0, q, v);
  for (int i = 1; i <= 20; ++i) {
    const double t = 0.1 * i;
    simulation.run_until(t);
    const Eigen::Vector3d axis =
        Eigen::Quaterniond(simulation.state().q.head<4>()) * Eigen::Vector3d::UnitZ();
    const Eigen::Vector3d expected(std::sin(theta) * std::cos(W * t),
                                   std::sin(theta) * std::sin(W * t), std::cos(theta));
    // 50 revolutions with tolerance 1e-12 per step.
    EXPECT_LT((axis - expected).norm(), 1e-8) << t;
  }
  EXPECT_NEAR(W, m * kG * l / (C * w3), 0.2 * W);  // approximation for a fast top
}

// Small swings of the pole while the cart rolls freely.
TEST(CartPole, SwingsWithTheClosedFormFrequency) {
  const double m1 = 2, m2 = 1.5, l = 0.35, I = 0.1;
  const double w =
      std::sqrt((m1 + m2) * m2 * kG * l / ((m1 + m2) * (I + m2 * l * l) - m2 * m2 * l * l));
  World world(load_model("builtin:cartpole"));
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  const double amplitude = 1e-4;
  simulation.set_state(0, Eigen::Vector2d(0, amplitude), Vector::Zero(2));
  const double t = 3.3;
  simulation.run_until(t);
  // Nonlinear terms are of the order of the amplitude squared.
  EXPECT_NEAR(simulation.state().q[1] / amplitude, std::cos(w * t), 1e-7);
}

// Both angles absolute, motors on both, uniform rods:
//   [4/3 1/2 c; 1/2 c 1/3] m l^2 a + 1/2 m l^2 s [-v2^2; v1^2] + m g l [3/2 s1; 1/2 s2] = tau
// with c, s of q1 - q2, s negated in the first row.
TEST(BeltDrivenLeg, FollowsTheLectureEquations) {
  const double m = 1.2, l = 0.35, ml2 = m * l * l;
  const Eigen::Vector2d tau(0.8, -0.3), q0(0.4, -0.7), v0(0.5, 1.1);
  World world(load_model("builtin:belt-leg"), {.stops = WorldOptions::Stops::none});
  Simulation simulation(world, {IntegrationMethod::dormand_prince, 0.01, 0.1, 1e-12});
  simulation.set_state(0, q0, v0);
  simulation.set_controller([&](const ControlInput&, Vector& u) { u = tau; });
  simulation.run_until(1);

  auto lecture = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
    const double c = std::cos(s.q[0] - s.q[1]), d = std::sin(s.q[0] - s.q[1]);
    Eigen::Matrix2d M;
    M << 4. / 3, c / 2, c / 2, 1. / 3;
    const Eigen::Vector2d h(d / 2 * s.v[1] * s.v[1] * ml2 + 1.5 * m * kG * l * std::sin(s.q[0]),
                            -d / 2 * s.v[0] * s.v[0] * ml2 + 0.5 * m * kG * l * std::sin(s.q[1]));
    a = (ml2 * M).inverse() * (tau - h);
  });
  const Model<double> plane = load_model("builtin:2r");  // two scalar coordinates
  const auto integrator =
      make_integrator<double>(IntegrationMethod::dormand_prince, ConfigurationSpace<double>(plane),
                              0, {0.01, 1e-12, 1e-12});
  RobotState<double> s = make_state(plane);
  s.q = q0;
  s.v = v0;
  for (testing::StepLimit limit(1'000'000); limit.next() && s.t < 1;)
    integrator->advance(lecture, s, 1.0);
  EXPECT_LT((simulation.state().q - s.q).norm(), 1e-9);
  EXPECT_LT((simulation.state().v - s.v).norm(), 1e-9);
}

/// Time of a bead on a curve (x(u), y(u)), y downward, from rest at u = 0 to u = 1.
/// With the speed along the curve: (x'^2 + y'^2) u'' + (x' x'' + y' y'') u'^2 = g y'.
template <typename Curve>
double race(const Curve& curve) {
  RobotBuilder<double> robot("bead");
  robot.link("bead", 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
  const Model<double> line =
      robot.joint("u", Joint<double>::prismatic({1, 0, 0}), "world", "bead").build();
  auto equation = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
    const auto [d, dd] = curve(s.q[0]);
    a[0] = (kG * d.y() - d.dot(dd) * s.v[0] * s.v[0]) / d.squaredNorm();
  });
  const auto integrator = make_integrator<double>(
      IntegrationMethod::dormand_prince, ConfigurationSpace<double>(line), 0, {0.01, 1e-12, 1e-12});
  EventFinder finish({coordinate_event(0, 1, Event::Direction::rising)});
  RobotState<double> s = make_state(line);
  finish.begin(s);
  for (int i = 0; i < 100000; ++i) {
    integrator->advance(equation, s, 100.0);
    if (finish.find(*integrator, s) >= 0) return s.t;
  }
  return std::nan("");
}

// From (0, 0) to (pi r, 2 r): the cycloid takes pi sqrt(r / g), and nothing is faster.
TEST(Brachistochrone, CycloidIsFastest) {
  const double r = 0.5, X = std::numbers::pi * r, Y = 2 * r;
  struct Rates {
    Eigen::Vector2d d, dd;
  };
  const double pi = std::numbers::pi;
  // Parametrized by its angle, phi = pi u; it starts with a cusp, so the bead starts slightly
  // below.
  const double start = 1e-3;
  const auto cycloid = [&](double u) {
    const double k = pi * (1 - start), phi = pi * start + k * u;
    return Rates{r * k * Eigen::Vector2d(1 - std::cos(phi), std::sin(phi)),
                 r * k * k * Eigen::Vector2d(std::sin(phi), std::cos(phi))};
  };
  const auto line = [&](double) { return Rates{{X, Y}, {0, 0}}; };
  // A circle that starts vertically: centre (R, 0), through (X, Y).
  const double R = (X * X + Y * Y) / (2 * X), end = std::atan2(Y, R - X);
  const auto arc = [&](double u) {
    const double phi = end * u;
    return Rates{R * end * Eigen::Vector2d(std::sin(phi), std::cos(phi)),
                 R * end * end * Eigen::Vector2d(std::cos(phi), -std::sin(phi))};
  };
  const double best = race(cycloid);
  // From rest at any point of the cycloid the bottom is reached in the same time: Huygens.
  EXPECT_NEAR(best, pi * std::sqrt(r / kG), 1e-9);
  EXPECT_NEAR(race(line), std::sqrt(2 * (X * X + Y * Y) / (kG * Y)), 1e-9);
  EXPECT_LT(best, race(arc));
  EXPECT_LT(race(arc), race(line));
}

}  // namespace
}  // namespace limb
