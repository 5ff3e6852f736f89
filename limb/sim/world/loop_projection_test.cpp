// Loops stay closed: a four-bar linkage against its closed form, random trees of all joint types
// with loops.
#include "limb/sim/world/loop_projection.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/math/polynomial.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/integrate/cvode.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

/// A parallelogram of rods of length 1: two cranks on the ground 0.8 apart and the coupler between
/// their tips. The coupler stays level, so that it is equivalent to one crank with all masses.
Description<double> parallelogram() {
  RobotBuilder<double> robot("parallelogram");
  const Eigen::Matrix3d I = 0.05 * Eigen::Matrix3d::Identity();
  robot.gravity({0, -9.81, 0});
  robot.link("left", 1, {0.5, 0, 0}, I)
      .link("coupler", 2, {0.4, 0, 0}, I)
      .link("right", 1.5, {0.5, 0, 0}, I);
  const auto hinge = Joint<double>::continuous({0, 0, 1});
  robot.joint("a", hinge, "world", "left");
  robot.joint("b", hinge, "left", "coupler", {Eigen::Matrix3d::Identity(), {1, 0, 0}});
  robot.joint("c", hinge, "world", "right", {Eigen::Matrix3d::Identity(), {0.8, 0, 0}});
  LoopDescription<double> loop;
  loop.name = "pin";
  loop.link_a = "coupler";
  loop.link_b = "right";
  loop.X_AL.p = {0.8, 0, 0};
  loop.X_BL.p = {1, 0, 0};
  robot.loop(loop);
  return robot.description();
}

class Loops : public ::testing::TestWithParam<WorldOptions::Dynamics> {};
INSTANTIATE_TEST_SUITE_P(Dynamics, Loops,
                         ::testing::Values(WorldOptions::Dynamics::templates,
                                           WorldOptions::Dynamics::compiled));

TEST_P(Loops, ParallelogramSwingsAsOneCrank) {
  World world(build_model(parallelogram()), {.dynamics = GetParam()});
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  simulation.set_state(0, Eigen::Vector3d(0.3, -0.3, 0.3), Vector::Zero(3));
  simulation.run_until(1.3);
  // Both cranks, and the coupler as a point mass at the tip.
  const double inertia = 0.05 + 0.25 + 0.05 + 1.5 * 0.25 + 2, arm = 0.5 + 0.75 + 2;
  RobotBuilder<double> crank("crank");
  crank.gravity({0, -9.81, 0});
  crank.link("l", 1, {0, 0, 0}, inertia * Eigen::Matrix3d::Identity());
  auto equation = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
    a[0] = -arm * 9.81 * std::cos(s.q[0]) / inertia;
  });
  const Model<double> one =
      crank.joint("a", Joint<double>::continuous({0, 0, 1}), "world", "l").build();
  const auto integrator = make_integrator<double>(IntegrationMethod::dormand_prince,
                                                  ConfigurationSpace<double>(one), 0, {0.1});
  RobotState<double> s = make_state(one);
  s.q[0] = 0.3;
  for (testing::StepLimit limit(100'000); limit.next() && s.t < 1.3;)
    integrator->advance(equation, s, 1.3);
  // RK4 of step 1e-3, and the projections.
  EXPECT_NEAR(simulation.state().q[0], s.q[0], 1e-8);
  EXPECT_NEAR(simulation.state().q[2], s.q[0], 1e-8);
  EXPECT_NEAR(simulation.state().v[0], s.v[0], 1e-8);
}

/// A slider on x that carries one on z with z = p(x), and a wheel on it: a bead on a wire.
struct WireBead {
  double carriage = 1.3, bead = 0.7, g = 9.81;
  std::vector<double> p = {0.1, -0.3, 0.8, 0.25, -0.1};

  Description<double> description() const {
    const Eigen::Matrix3d I = 0.01 * Eigen::Matrix3d::Identity();
    RobotBuilder<double> robot("bead");
    robot.link("carriage", carriage, {0, 0, 0}, I).link("bead", bead, {0, 0, 0}, I);
    robot.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "carriage");
    robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "carriage", "bead");
    robot.couple("z", "x", p);
    return robot.description();
  }
  /// (m1 + m2 (1 + p'^2)) a + m2 p' p'' v^2 + m2 g p' = 0, by Lagrange.
  double acceleration(double x, double v) const {
    const auto at = evaluate_polynomial(p, x);
    return -bead * at.first * (at.second * v * v + g) /
           (carriage + bead * (1 + at.first * at.first));
  }
};

// The multiplier is eliminated by hand: one coordinate, by a method of another order.
TEST_P(Loops, BeadOnAWireMovesAsOneCoordinate) {
  const WireBead bead;
  World world(build_model(bead.description()), {.dynamics = GetParam()});
  for (const auto& [method, step, tolerance] :
       {std::tuple{IntegrationMethod::runge_kutta_4, 1e-3, 1e-9},
        {IntegrationMethod::semi_implicit_euler, 1e-4, 3e-3}}) {  // of first order
    Simulation simulation(world, {method, step});
    const double x = 0.9, v = -1;
    const auto start = evaluate_polynomial(bead.p, x);
    simulation.set_state(0, Eigen::Vector2d(x, start.value), Eigen::Vector2d(v, start.first * v));
    const double energy = world.energy(simulation.state()).total();
    simulation.run_until(2);
    auto equation = make_equation<double>([&](const RobotState<double>& s, Vector& a, Vector&) {
      a[0] = bead.acceleration(s.q[0], s.v[0]);
    });
    RobotBuilder<double> slider("slider");
    slider.link("l", 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
    const Model<double> one =
        slider.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "l").build();
    const auto integrator = make_integrator<double>(IntegrationMethod::dormand_prince,
                                                    ConfigurationSpace<double>(one), 0, {0.1});
    RobotState<double> s = make_state(one);
    s.q[0] = x;
    s.v[0] = v;
    for (testing::StepLimit limit(100'000); limit.next() && s.t < 2;)
      integrator->advance(equation, s, 2);
    const RobotState<double>& end = simulation.state();
    EXPECT_NEAR(end.q[0], s.q[0], tolerance) << to_text(method);
    EXPECT_NEAR(end.v[0], s.v[0], tolerance) << to_text(method);
    const auto at = evaluate_polynomial(bead.p, end.q[0]);
    EXPECT_NEAR(end.q[1], at.value, 1e-12) << to_text(method);
    EXPECT_NEAR(end.v[1], at.first * end.v[0], 1e-12) << to_text(method);
    EXPECT_NEAR(world.energy(end).total(), energy, 10 * tolerance) << to_text(method);
  }
}

// From a state off the wire the projection finds a point on it.
TEST_P(Loops, PolynomialIsClosedAtTheStart) {
  const WireBead bead;
  World world(build_model(bead.description()), {.dynamics = GetParam()});
  Simulation simulation(world, {});
  simulation.set_state(0, Eigen::Vector2d(0.5, 3), Eigen::Vector2d(0.2, 1));
  simulation.run_until(0.001);
  Kinematics<double> kinematics(world.model());
  forward_kinematics(world.model(), simulation.state().q, kinematics);
  EXPECT_LT(loop_error(world.model(), kinematics), 1e-12);
}

// The projection after a step does not restart a multistep method.
TEST_P(Loops, StayClosedWithCvode) {
  if (!Cvode::is_available()) GTEST_SKIP() << "built without SUNDIALS";
  World world(build_model(parallelogram()), {.dynamics = GetParam()});
  RobotState<double> ends[2];
  for (const IntegrationMethod method :
       {IntegrationMethod::cvode, IntegrationMethod::dormand_prince}) {
    Simulation simulation(world, {method, 0.05, 0.05, 1e-9});
    simulation.set_state(0, Eigen::Vector3d(0.3, -0.3, 0.3), Vector::Zero(3));
    simulation.run_until(1.3);
    EXPECT_LT(simulation.steps(), 1000) << to_text(method);
    Kinematics<double> kinematics(world.model());
    forward_kinematics(world.model(), simulation.state().q, kinematics);
    EXPECT_LT(loop_error(world.model(), kinematics), 1e-11) << to_text(method);
    ends[method == IntegrationMethod::cvode] = simulation.state();
  }
  EXPECT_LT((ends[0].q - ends[1].q).norm(), 1e-6);  // about a hundred steps with errors of 1e-9
}

/// Moves the loop frames on the second links, and the polynomials, so that the loops are closed
/// when neutral.
void close_at_neutral(Description<double>& description) {
  Description<double> tree = description;
  testing::remove_loops(tree);
  const Model<double> model = build_model(tree, Base::free);
  Kinematics<double> kinematics(model);
  forward_kinematics(model, make_state(model).q, kinematics);
  const auto pose = [&](const std::string& link) {
    if (link == kWorldLink) return Pose<double>();
    return frame_pose(model, kinematics, model.find_frame(link));
  };
  for (auto& loop : description.loops) {
    loop.X_BL = pose(loop.link_b).inverse() * pose(loop.link_a) * loop.X_AL;
  }
  const auto q = [&](const std::string& joint) {
    return kinematics.q[model.body(model.find_body(joint)).q_start];
  };
  for (auto& coupling : description.couplings) {
    if (!coupling.is_polynomial()) continue;
    const auto p = evaluate_polynomial(coupling.polynomial(), q(coupling.terms[0].joint));
    coupling.offset += q(coupling.joint) - p.value;
  }
}

TEST_P(Loops, StayClosedWithAllJointTypesAndConserveEnergy) {
  for (const auto& [method, step] : {std::pair{IntegrationMethod::semi_implicit_euler, 1e-3},
                                     {IntegrationMethod::runge_kutta_4, 1e-3}}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      for (const bool coupled : {false, true}) {
        Description<double> description = testing::random_tree_with_loops(seed, coupled);
        for (auto& joint : description.joints) joint.damping = 0;
        close_at_neutral(description);
        World world(build_model(description, Base::free),
                    {.stops = WorldOptions::Stops::none, .dynamics = GetParam()});
        Kinematics<double> kinematics(world.model());
        RobotState<double> s = world.initial_state();
        forward_kinematics(world.model(), s.q, kinematics);
        EXPECT_LT(loop_error(world.model(), kinematics), 1e-12) << seed;
        Simulation simulation(world, {method, step});
        s.v = 0.5 * testing::sample_of("", world.model(), seed).v;
        simulation.set_state(0, s.q, s.v);
        const double energy = world.energy(simulation.state()).total();
        Worst worst;
        for (int i = 1; i <= 50; ++i) {
          simulation.run_until(0.01 * i);
          forward_kinematics(world.model(), simulation.state().q, kinematics);
          worst.add(loop_error(world.model(), kinematics));
          // The projection is idempotent.
          s = simulation.state();
          world.commit_step(s);
          EXPECT_LT((s.v - simulation.state().v).norm(), 1e-9 * (1 + s.v.norm())) << seed;
        }
        EXPECT_LT(worst.value(), 1e-11) << seed << ", " << to_text(method);
        if (method == IntegrationMethod::runge_kutta_4) {
          EXPECT_NEAR(world.energy(simulation.state()).total(), energy,
                      1e-5 * (1 + std::abs(energy)))
              << seed;
        }
      }
    }
  }
}

TEST(CompiledLoops, AgreeWithTheTemplates) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Description<double> description = testing::random_tree_with_loops(seed, false);
    close_at_neutral(description);
    const Model<double> model = build_model(description, Base::free);
    const FrameId last(static_cast<int>(model.frames().size()) - 1);
    for (const bool with_wrench : {false, true}) {
      World plain(model), compiled(model, {.dynamics = WorldOptions::Dynamics::compiled});
      for (World* world : {&plain, &compiled}) {
        const WrenchSchedule::Push push = {last, 0, 1, {{3, -1, 2}, {0.5, 0.2, -0.4}}};
        if (with_wrench) world->add<WrenchSchedule>(model, std::vector{push});
      }
      RobotState<double> s = plain.initial_state();
      s.v = testing::sample_of("", model, seed).v;
      plain.commit_step(s);
      plain.begin_step(0);
      compiled.begin_step(0);
      Vector a(s.v.size()), b(s.v.size()), none;
      plain.rates(s, a, none);
      compiled.rates(s, b, none);
      // The condition numbers of the mass matrix and of the loops multiply.
      EXPECT_LT((a - b).norm(), 1e-8 * (1 + a.norm())) << seed;
      // Motions differ by the metric of the projection: only one of them includes armature.
      // Measured: 2e-6, where steps of 1 ms have errors of 1e-3.
      RobotState<double> ends[2];
      for (World* world : {&plain, &compiled}) {
        Simulation simulation(*world, {});
        simulation.set_state(0, s.q, s.v);
        simulation.run_until(0.05);
        ends[world == &compiled] = simulation.state();
      }
      EXPECT_LT((ends[0].q - ends[1].q).norm(), 1e-5) << seed;
    }
  }
}

TEST_P(Loops, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  World world(build_model(parallelogram()), {.dynamics = GetParam()});
  Simulation simulation(world, {});
  simulation.run_until(0.01);
  EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.1); }), 0);
}

// A file with few digits: axes that are tilted by 1e-6 rad, and a hinge given by two points on it
// that are 3e-8 m off. Across the plane the points hardly move; forces there must not enter.
TEST_P(Loops, LoopsOfRoundedNumbersKeepTheirEnergy) {
  Description<double> robot = parallelogram();
  robot.joints[1].axis = Eigen::Vector3d(1e-6, -2e-6, 1).normalized();
  robot.joints[2].axis = Eigen::Vector3d(-2e-6, 1e-6, 1).normalized();
  LoopDescription<double> second = robot.loops[0];
  second.name = "second";
  second.X_AL.p.z() = second.X_BL.p.z() = 0.1;
  second.X_BL.p.x() += 3e-8;
  robot.loops.push_back(second);
  World world(build_model(robot), {.dynamics = GetParam()});
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3});
  simulation.set_state(0, Eigen::Vector3d(-0.8, 0.8, -0.8), Vector::Zero(3));
  const double start = world.energy(simulation.state()).total();
  Kinematics<double> kinematics(world.model());
  Worst change, open;
  for (int i = 1; i <= 50; ++i) {
    simulation.run_until(0.1 * i);
    change.add(std::abs(world.energy(simulation.state()).total() - start));
    forward_kinematics(world.model(), simulation.state().q, kinematics);
    open.add(loop_error(world.model(), kinematics));
  }
  EXPECT_LT(change.value(), 0.2);  // of 40 J; first order
  EXPECT_LT(open.value(), 1e-6);   // the tilt of the axes over the length of 1 m
}

// All links in one line: the Jacobian of the loop has no direction across the line there.
TEST_P(Loops, ClosesFromASingularConfiguration) {
  Description<double> robot = parallelogram();
  robot.loops[0].X_AL.p.x() = 0.7;
  World world(build_model(robot), {.dynamics = GetParam()});
  const RobotState<double> s = world.initial_state();
  Kinematics<double> kinematics(world.model());
  forward_kinematics(world.model(), s.q, kinematics);
  EXPECT_LT(loop_error(world.model(), kinematics), 1e-12);
}

TEST(LoopProjection, ErrorOfAnUndefinedPoseIsNotZero) {
  const Model<double> model = build_model(parallelogram());
  Kinematics<double> kinematics(model);
  forward_kinematics(model, Eigen::Vector3d(0.3, -0.3, 0.3), kinematics);
  EXPECT_LT(loop_error(model, kinematics), 1e-15);
  kinematics.X_WB.back().p.z() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(loop_error(model, kinematics)));
}

TEST(LoopProjection, ImpossibleLoopsAreAnErrorWithTheTime) {
  Description<double> description = parallelogram();
  description.loops[0].X_AL.p = {5, 0, 0};
  World* world = nullptr;
  EXPECT_EQ(testing::message([&] {
              World impossible(build_model(description));
              world = &impossible;
              impossible.initial_state();
            }),
            "simulate: after t = 0 s the loops of the robot cannot be closed (loop 'pin' is open "
            "by 4.2 m or rad in this configuration: start in another one, or correct the two sides "
            "of the loop) [computation failed]");
  EXPECT_NE(world, nullptr);
}

}  // namespace
}  // namespace limb
