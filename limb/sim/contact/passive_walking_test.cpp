// Passive walking: the rimless wheel against its closed form, and the compass walker of
// docs/scenarios against its hybrid equations of motion, which are solved independently here.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
constexpr double kG = 9.81;

// Spokes of length l at angles 2 a on a hub with mass m and moment I; slope g. After each impact
// w' = e w, e = (I + m l^2 cos 2a) / (I + m l^2), and between two of them w^2 grows by
// 4 m g l sin a sin g / (I + m l^2): the return map of w^2 is a line of slope e^2. [McGeer 1990]
TEST(RimlessWheel, ConvergesToItsLimitCycle) {
  const double m = 4, l = 1, I = 0.5, slope = 0.12, a = std::numbers::pi / 8;
  RobotBuilder<double> robot("wheel");
  robot.link("wheel", m, {0, 0, 0}, Eigen::Vector3d(I, I, I).asDiagonal());
  robot.joint("free", Joint<double>::free(), "world", "wheel");
  World world(robot.build());
  ContactSetup setup{Ground::slope(slope, {2, 0}), {}, {}};
  for (int k = 0; k < 8; ++k) {
    for (const double side : {-0.3, 0.3}) {
      ContactShape tip;
      tip.name = "tip" + std::to_string(k);
      tip.body = BodyId(1);
      tip.X_BS.p = {l * std::sin((2 * k + 1) * a), side, -l * std::cos((2 * k + 1) * a)};
      setup.shapes.push_back(tip);
    }
  }
  world.set_contact(setup);
  const double h = 1e-4;
  Simulation simulation(world, {.step = h});
  // On the two spokes next to the normal of the slope, slower than the limit cycle.
  const Matrix3<double> R = axis_rotation(1, slope);
  Vector q(7), v(6);
  const Vector3<double> hub = R * Vector3<double>(-l * std::sin(a), 0, l * std::cos(a));
  q << hub, quaternion_from_matrix(R).xyzw();
  const double e = (I + m * l * l * std::cos(2 * a)) / (I + m * l * l);
  const double gain = 4 * m * kG * l * std::sin(a) * std::sin(slope) / (I + m * l * l);
  const double fixed = e * e * gain / (1 - e * e);  // w^2 after an impact
  const double w = std::sqrt(0.8 * fixed);
  v << w * l * std::cos(a), 0, w * l * std::sin(a), 0, w, 0;
  simulation.set_state(0, q, v);
  std::vector<double> after, times;
  double last = w;
  while (after.size() < 12) {
    ASSERT_LT(simulation.state().t, 20);
    simulation.run_until(simulation.state().t + h);
    const double now = simulation.state().v[4];
    if (now < 0.99 * last) {
      after.push_back(now * now);
      times.push_back(simulation.state().t);
    }
    last = now;
  }
  // First order in the step; measured 1.3e-3.
  EXPECT_NEAR(after.back() / fixed, 1, 2e-3);
  for (std::size_t i = 0; i + 1 < 4; ++i) {
    EXPECT_NEAR((after[i + 1] - fixed) / (after[i] - fixed), e * e, 0.03);
  }
  std::printf("rimless wheel: w^2 / closed form - 1 = %.1e, slope of the return map %.4f (%.4f)\n",
              after.back() / fixed - 1, (after[2] - fixed) / (after[1] - fixed), e * e);
}

/// The hybrid equations of the compass gait. Angles from the vertical, (swing, stance), as in the
/// paper. [Goswami 1998, compass gait]
struct Compass {
  static constexpr double m = 5, mh = 10, a = 0.5, b = 0.5, l = 1, slope = 0.0525;
  Eigen::Vector2d acceleration(const Eigen::Vector2d& q, const Eigen::Vector2d& v) const {
    const double d = q[1] - q[0], c = m * l * b * std::cos(d), s = m * l * b * std::sin(d);
    Eigen::Matrix2d M;
    M << m * b * b, -c, -c, (mh + m) * l * l + m * a * a;
    const Eigen::Vector2d rest(s * v[1] * v[1] + m * b * kG * std::sin(q[0]),
                               -s * v[0] * v[0] - (mh * l + m * a + m * l) * kG * std::sin(q[1]));
    return M.inverse() * -rest;
  }
  /// From just after one impact to just after the next; x = (half angle between the legs, rates).
  /// @returns the time.
  double step(Eigen::Vector3d& x) const {
    Eigen::Vector2d q(-slope - x[0], -slope + x[0]), v(x[1], x[2]);
    const double h = 1e-4;
    double t = 0;
    // Touchdown: the legs are symmetric about the slope's normal, the swing leg ahead.
    const auto height = [](const Eigen::Vector2d& y) { return y[0] + y[1] + 2 * slope; };
    while (true) {
      const auto rk = [&](double dt) {
        const Eigen::Vector2d k1 = acceleration(q, v), q2 = q + dt / 2 * v, v2 = v + dt / 2 * k1;
        const Eigen::Vector2d k2 = acceleration(q2, v2), q3 = q + dt / 2 * v2, v3 = v + dt / 2 * k2;
        const Eigen::Vector2d k3 = acceleration(q3, v3), q4 = q + dt * v3, v4 = v + dt * k3;
        const Eigen::Vector2d k4 = acceleration(q4, v4);
        return std::pair<Eigen::Vector2d, Eigen::Vector2d>(
            q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4));
      };
      const auto [qn, vn] = rk(h);
      if (t > 0.3 && qn[0] > 0 && height(q) > 0 && height(qn) <= 0) {
        double low = 0, high = h;
        for (int k = 0; k < 50; ++k) {
          const double middle = (low + high) / 2;
          (height(rk(middle).first) > 0 ? low : high) = middle;
        }
        std::tie(q, v) = rk(high);
        t += high;
        break;
      }
      q = qn;
      v = vn;
      t += h;
      if (t > 3) return std::nan("");
    }
    const double c = std::cos(q[0] - q[1]);
    Eigen::Matrix2d before, after;
    before << -m * a * b, -m * a * b + (mh * l * l + 2 * m * a * l) * c, 0, -m * a * b;
    after << m * b * (b - l * c), m * l * (l - b * c) + m * a * a + mh * l * l, m * b * b,
        -m * b * l * c;
    v = after.inverse() * before * v;
    x << (q[0] - q[1]) / 2, v[0], v[1];
    return t;
  }
};

struct Walk {
  std::vector<double> times, angles;  ///< of touchdowns; half angles between the legs
  double deepest = 0;
};

/// 14 s of the scenario with its velocities times `start`.
Walk walk_passively(double start, double h) {
  Scenario scenario = read_scenario("test", LIMB_SOURCE_DIR "/docs/scenarios/passive_walker.toml");
  scenario.v *= start;
  scenario.simulation.step = h;
  World world(scenario.model, scenario.world);
  world.set_contact(*scenario.contact);
  Simulation simulation(world, scenario.simulation);
  simulation.set_state(0, scenario.q, scenario.v);
  Walk walk;
  bool was[2] = {true, true};
  const FrameId feet[2] = {scenario.model.find_frame("left_foot"),
                           scenario.model.find_frame("right_foot")};
  for (int i = 1; i * h < 14; ++i) {
    simulation.run_until(i * h);
    walk.deepest = worse(walk.deepest, world.contacts()->report().penetration);
    for (int k = 0; k < 2; ++k) {
      const bool now = world.contacts()->touches(scenario.model, feet[k]);
      if (now && !was[k] &&
          (walk.times.empty() || simulation.state().t - walk.times.back() > 0.1)) {
        walk.times.push_back(simulation.state().t);
        walk.angles.push_back(std::abs(simulation.state().q[3]) / 2);
      }
      was[k] = now;
    }
  }
  return walk;
}

TEST(CompassWalker, ConvergesToTheLimitCycleOfItsHybridEquations) {
  // The angles of the paper increase against the direction of walking.
  const Compass compass;
  Eigen::Vector3d x(0.271, -0.3772, -1.0918);
  double period = 0;
  for (int i = 0; i < 60; ++i) period = compass.step(x);
  Eigen::Matrix3d map;
  for (int k = 0; k < 3; ++k) {
    Eigen::Vector3d plus = x, minus = x;
    plus[k] += 1e-5;
    minus[k] -= 1e-5;
    compass.step(plus);
    compass.step(minus);
    map.col(k) = (plus - minus) / 2e-5;
  }
  const double radius = max_abs(map.eigenvalues());
  ASSERT_TRUE(std::isfinite(period));
  EXPECT_LT(radius, 1);

  // Started off the cycle, with two step lengths: landings occur at any time within a step.
  for (const double start : {0.984, 0.985, 0.986, 0.987, 0.988, 0.99}) {
    for (const double h : {2e-4, 1e-4}) {
      const Walk walk = walk_passively(start, h);
      const std::size_t n = walk.times.size();
      ASSERT_GE(n, 18u);  // including the initial contact
      const double measured = (walk.times[n - 1] - walk.times[n - 9]) / 8;
      Worst spread;
      for (std::size_t i = n - 8; i < n; ++i) {
        spread.add(std::abs(walk.angles[i] - x[0]));
      }
      std::printf(
          "compass walker: period %.5f s (hybrid equations %.5f s), half angle %.5f (%.5f), "
          "largest "
          "eigenvalue of the return map %.3f, first deviation %.1e, last ones at most %.1e\n",
          measured, period, walk.angles[n - 1], x[0], radius, std::abs(walk.angles[1] - x[0]),
          spread.value());
      EXPECT_NEAR(measured, period, 5e-4 * period) << start << " " << h;
      // Measured 3e-4 to 6e-4 with both; with landings split over two steps up to 4e-3.
      EXPECT_LT(spread.value(), 1e-3) << start << " " << h;
      EXPECT_GT(std::abs(walk.angles[1] - x[0]), 3 * spread.value()) << start;  // it converged
      EXPECT_LT(walk.deepest, 1e-4);  // at the start, which is given to 0.1 mm
    }
  }
}

// The end times of partial runs are rounded differently; the steps, and therefore the motion, are
// those of the whole run. With partial runs of t + h, rounding once added 39,744 steps.
TEST(CompassWalker, WalksTheSameInPartialRuns) {
  const Scenario scenario =
      read_scenario("test", LIMB_SOURCE_DIR "/docs/scenarios/passive_walker.toml");
  const double h = scenario.simulation.step, end = 6;
  const auto walk = [&](const auto& run) {
    World world(scenario.model, scenario.world);
    world.set_contact(*scenario.contact);
    Simulation simulation(world, scenario.simulation);
    simulation.set_state(0, scenario.q, scenario.v);
    run(simulation);
    Vector result(scenario.q.size() + scenario.v.size() + 2);
    result << simulation.state().q, simulation.state().v, world.contacts()->dissipated(),
        static_cast<double>(simulation.steps());
    EXPECT_NEAR(simulation.state().t, end, 1e-9);
    return result;
  };
  const Vector whole = walk([&](Simulation& s) { s.run_until(end); });
  EXPECT_EQ(whole, walk([&](Simulation& s) {
              for (testing::StepLimit limit(1'000'000); limit.next() && s.state().t < end - h / 2;)
                s.run_until(s.state().t + h);
            }));
  EXPECT_EQ(whole, walk([&](Simulation& s) {
              for (int i = 1; i <= std::lround(end / h); ++i) s.run_until(i * h);
            }));
  EXPECT_EQ(whole, walk([&](Simulation& s) {
              for (double t = 0; t < end - h / 2;)
                s.run_until(t += 7 * h < end - t ? 7 * h : end - t);
            }));
  // Alternating between sums and multiples: the same times, to rounding.
  EXPECT_EQ(whole, walk([&](Simulation& s) {
              for (int i = 1; i <= std::lround(end / h); ++i) {
                s.run_until(s.state().t + h);
                s.run_until(i * h);
              }
            }));
}

}  // namespace
}  // namespace limb
