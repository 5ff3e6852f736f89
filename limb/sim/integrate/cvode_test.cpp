// CVODE on the manifold: stiff motions with few evaluations, accuracy by tolerance, agreement with
// other methods, events, errors, no allocation.
#include "limb/sim/integrate/cvode.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/step_limit.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/testing/free_motion.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::FreeMotion;
using testing::message;
using testing::Sample;
using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

double error(const Model<double>& model, const RobotState<double>& a, const RobotState<double>& b) {
  Vector dq(model.nv());
  difference(model, a.q, b.q, dq);
  return std::sqrt(dq.squaredNorm() + (a.v - b.v).squaredNorm());
}

class CvodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Cvode::is_available()) GTEST_SKIP() << "built without SUNDIALS";
  }
};

/// 2 kg on a rail.
Model<double> slider() {
  RobotBuilder<double> robot("slider");
  robot.gravity({0, 0, 0}).link("block", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  return robot.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block").build();
}

TEST_F(CvodeTest, StiffDamperTakesAThousandthOfTheEvaluations) {
  const Model<double> model = slider();
  const double m = 2, k = 4e4, c = 4e5;
  long calls = 0;
  auto equation = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
    ++calls;
    a[0] = (-k * s.q[0] - c * s.v[0]) / m;
  });
  // x = A e^(r t) + B e^(s t): 0.1 1/s and 200000 1/s.
  const double d = c / (2 * m), w = std::sqrt(d * d - k / m);
  const double fast = -d - w, slow = (k / m) / fast, x0 = 0.3, t = 0.5;
  const double A = x0 * fast / (fast - slow), B = -x0 * slow / (fast - slow);
  const double expected = A * std::exp(slow * t) + B * std::exp(fast * t);
  std::map<IntegrationMethod, long> needed;
  for (const IntegrationMethod method :
       {IntegrationMethod::cvode, IntegrationMethod::dormand_prince}) {
    RobotState<double> s = make_state(model);
    s.q[0] = x0;
    const auto integrator =
        make_integrator<double>(method, ConfigurationSpace<double>(model), 0, {0.1, 1e-7, 1e-7});
    calls = 0;
    s = testing::run(equation, *integrator, s, t);
    needed[method] = calls;
    // Ten to a hundred steps with errors of 1e-7 each.
    EXPECT_NEAR(s.q[0], expected, 1e-5) << to_text(method);
    std::printf("%s: %ld evaluations, error %.1e\n", std::string(to_text(method)).c_str(), calls,
                std::abs(s.q[0] - expected));
  }
  EXPECT_LT(1000 * needed[IntegrationMethod::cvode], needed[IntegrationMethod::dormand_prince]);
}

TEST_F(CvodeTest, ErrorsDecreaseWithTheToleranceOnTreesOfAllJoints) {
  for (const Sample& sample : testing::samples(2, 11)) {
    FreeMotion motion(sample.model);
    RobotState<double> start = make_state(sample.model);
    start.q = sample.q;
    start.v = sample.v;
    const double t_end = 0.3;
    const RobotState<double> exact = run_exactly(motion, sample.model, start, t_end);
    double before = std::numeric_limits<double>::infinity();
    for (const double tolerance : {1e-5, 1e-7, 1e-9, 1e-11}) {
      Cvode integrator(ConfigurationSpace<double>(sample.model), 0, {0.1, tolerance, tolerance});
      const double now = error(sample.model, testing::run(motion, integrator, start, t_end), exact);
      // Errors of steps add up, and random trees amplify them; measured: below 300 tolerances, for
      // velocities of some tens.
      EXPECT_LT(now, 2000 * tolerance * (1 + exact.v.norm())) << sample.name;
      EXPECT_LT(now, before / 3) << sample.name << ", tolerance " << tolerance;
      before = now;
    }
  }
}

TEST_F(CvodeTest, HumanoidFallsAsWithDormandPrince) {
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  const auto end = [&](IntegrationMethod method) {
    World world(model);
    Simulation simulation(world, {method, 0.05, 0.05, 1e-11});
    RobotState<double> s = world.initial_state();
    s.v.setLinSpaced(-0.5, 0.5);
    simulation.set_state(0, s.q, s.v);
    simulation.run_until(0.5);
    return simulation.state();
  };
  const RobotState<double> a = end(IntegrationMethod::cvode),
                           b = end(IntegrationMethod::dormand_prince);
  EXPECT_LT(error(model, a, b), 1e-7);
}

TEST_F(CvodeTest, TumblingBodyKeepsItsQuaternionAndEnergy) {
  RobotBuilder<double> body("body");
  body.gravity({0, 0, 0}).link("b", 1.5, {0, 0, 0}, Eigen::Vector3d(0.1, 0.2, 0.25).asDiagonal());
  const Model<double> model = body.joint("f", Joint<double>::free(), "world", "b").build();
  World world(model);
  Simulation simulation(world, {IntegrationMethod::cvode, 0.5, 0.5, 1e-10});
  RobotState<double> s = world.initial_state();
  s.v << 1, 0, 0, 5, 2, -4;  // about ten revolutions
  simulation.set_state(0, s.q, s.v);
  const double start = world.energy(simulation.state()).total();
  simulation.run_until(10);
  EXPECT_NEAR(simulation.state().q.tail<4>().norm(), 1, 4 * kEps);
  // The centre of mass moves straight: p = R v t with the initial R and v.
  EXPECT_LT((simulation.state().q.head<3>() - Eigen::Vector3d(10, 0, 0)).norm(), 1e-6);
  EXPECT_NEAR(world.energy(simulation.state()).total(), start, 1e-6 * start);
}

TEST_F(CvodeTest, EventsAreFoundInsideItsSteps) {
  World world(slider());
  world.add<JointSpring>(world.model(), "rail", JointSpring::Parameters{8, 0, 0});
  Simulation simulation(world, {IntegrationMethod::cvode, 0.5, 0.5, 1e-11});
  simulation.set_state(0, Vector::Constant(1, 0.3), Vector::Zero(1));
  simulation.set_events({coordinate_event(0, 0, Event::Direction::falling)});
  EXPECT_EQ(simulation.run_until(5), 0);
  // A quarter of the period of sqrt(8 / 2) = 2 rad/s.
  EXPECT_NEAR(simulation.state().t, std::numbers::pi / 4, 1e-8);
  EXPECT_NEAR(simulation.state().q[0], 0, 1e-12);
  EXPECT_EQ(simulation.run_until(5), 0);  // one period later
  EXPECT_NEAR(simulation.state().t, std::numbers::pi * 5 / 4, 1e-7);
}

TEST_F(CvodeTest, StiffStopsOfAWorld) {
  // An arm that falls into its soft stops, with a damper that forces explicit methods to tiny
  // steps.
  World world(load_model("builtin:2r"));
  world.add<JointSpring>(world.model(), "joint2", JointSpring::Parameters{0, 0, 1e6});
  const auto run = [&](IntegrationMethod method, double t) {
    Simulation simulation(world, {method, 0.02, 0.02, 1e-8});
    simulation.set_state(0, Eigen::Vector2d(0.3, 0.4), Eigen::Vector2d::Zero());
    simulation.run_until(t);
    return simulation;
  };
  // With the elbow nearly locked the arm is a pendulum.
  Simulation stiff = run(IntegrationMethod::cvode, 2);
  EXPECT_NEAR(stiff.state().q[1], 0.4, 1e-3);
  EXPECT_LT(stiff.steps(), 3000);
  Simulation other = run(IntegrationMethod::implicit_midpoint, 2);
  EXPECT_LT((stiff.state().q - other.state().q).norm(), 0.05);  // steps of 20 ms, order 2
}

TEST_F(CvodeTest, ErrorsOfTheEquationAreRethrown) {
  const Model<double> model = slider();
  Cvode integrator(ConfigurationSpace<double>(model), 0, {0.1, 1e-9, 1e-9});
  auto throws = make_equation<double>([](const RobotState<double>& s, Vector& a, Vector&) {
    if (s.t > 0.05) throw Error("the spring broke");
    a.setZero();
  });
  RobotState<double> s = make_state(model);
  s.v[0] = 1;
  EXPECT_EQ(message([&] { testing::run(throws, integrator, s, 1); }), "the spring broke");
  auto burst = make_equation<double>([](const RobotState<double>& now, Vector& a, Vector&) {
    a[0] = now.v[0] * now.v[0];  // 1 / (1 - t)
  });
  integrator.reset();
  const std::string text = message([&] {
    for (testing::StepLimit limit(1'000'000); limit.next() && s.t < 2;)
      integrator.advance(burst, s, 2);
  });
  EXPECT_EQ(text.find("cvode: after t = "), 0u) << text;
  EXPECT_NEAR(s.t, 1, 1e-3);
  EXPECT_TRUE(std::isfinite(s.v[0]));
  EXPECT_EQ(message([&] {
              Cvode(ConfigurationSpace<double>(model), 0, {0, 1e-9, 1e-9});
            }),
            "Cvode: step is 0, expected > 0 and finite");
}

TEST_F(CvodeTest, StepsDoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  World world(load_model("builtin:quadruped", Base::free));
  Simulation simulation(world, {IntegrationMethod::cvode, 0.01, 0.01, 1e-6});
  simulation.run_until(0.02);
  EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.2); }), 0);
}

TEST(CvodeWithoutSundials, NamesTheMissingPackage) {
  if (Cvode::is_available()) GTEST_SKIP() << "built with SUNDIALS";
  World world(slider());
  EXPECT_EQ(message([&] { Simulation(world, {IntegrationMethod::cvode}); }),
            "cvode: limb was built without SUNDIALS (Debian: libsundials-dev, then build again); "
            "implicit-midpoint also handles stiff motions");
}

}  // namespace
}  // namespace limb
