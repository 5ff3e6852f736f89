// Worlds: closed forms of springs, dampers and pushes; errors with their time; bit-identical runs;
// no allocation.
#include "limb/sim/world/world.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/codegen/program.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/testing/slider.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::message;
using testing::slider;
using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

RobotState<double> run(World& world, const SimulationOptions& options, double q, double v,
                       double t) {
  Simulation simulation(world, options);
  simulation.set_state(0, Vector::Constant(1, q), Vector::Constant(1, v));
  simulation.run_until(t);
  return simulation.state();
}

TEST(World, SpringAndDamperMoveAsInClosedForm) {
  World world(slider().build());
  const double k = 50, c = 3, m = 2, rest = 0.1;
  world.add<JointSpring>(world.model(), "rail", JointSpring::Parameters{k, rest, c});
  const double d = c / (2 * m), w = std::sqrt(k / m - d * d), t = 1.7, x0 = 0.4;
  const double expected =
      rest + std::exp(-d * t) * (x0 - rest) * (std::cos(w * t) + d / w * std::sin(w * t));
  // Errors of order 4 and 2: proportional to (w h)^4 t and (w h)^2 t.
  EXPECT_NEAR(run(world, {IntegrationMethod::runge_kutta_4, 1e-3}, x0, 0, t).q[0], expected, 1e-10);
  EXPECT_NEAR(run(world, {IntegrationMethod::implicit_midpoint, 1e-3}, x0, 0, t).q[0], expected,
              1e-5);
  EXPECT_NEAR(run(world, {IntegrationMethod::dormand_prince, 0.1}, x0, 0, t).q[0], expected, 1e-8);
}

TEST(World, SpringsStoreEnergyWithCouplings) {
  for (const auto& sample : testing::samples(3, 11)) {
    World world(sample.model, {.friction = WorldOptions::Friction::none});
    for (const Body<double>& body : world.model().bodies()) {
      if (body.joint.nv() == 1) {
        world.add<JointSpring>(world.model(), body.name, JointSpring::Parameters{20, 0.3, 0});
      }
    }
    // The only other forces are the dampers of the joints.
    Simulation simulation(world, {IntegrationMethod::dormand_prince, 0.01, 0, 1e-12});
    simulation.set_state(0, sample.q, sample.v);
    const double start = world.energy(simulation.state()).total();
    double spent = 0, last = 0;
    Vector joint_v(sample.model.uncoupled_nv());
    const auto power = [&] {
      sample.model.coupling().expand_velocity(simulation.state().v.data(), joint_v.data());
      double sum = 0;
      for (const Body<double>& body : sample.model.bodies()) {
        sum += body.damping * joint_v.segment(body.v_start, body.joint.nv()).squaredNorm();
      }
      return sum;
    };
    last = power();
    for (int i = 1; i <= 200; ++i) {
      simulation.run_until(0.001 * i);
      const double now = power();
      spent += 0.001 * (last + now) / 2;
      last = now;
    }
    // Trapezoidal rule with 200 intervals.
    EXPECT_NEAR(world.energy(simulation.state()).total() + spent, start, 1e-5 * (1 + start))
        << sample.name;
    EXPECT_GT(world.energy(simulation.state()).stored, 0) << sample.name;
  }
}

TEST(World, PushesChangeMomentumByTheirImpulse) {
  for (const IntegrationMethod method :
       {IntegrationMethod::semi_implicit_euler, IntegrationMethod::dormand_prince}) {
    World world(slider().build());
    const FrameId block = world.model().find_frame("block");
    world.add<WrenchSchedule>(world.model(),
                              std::vector<WrenchSchedule::Push>{
                                  {block, 0.1, 0.35, {{4, 0, 0}, {0, 0, 0}}, WrenchAxes::world},
                                  {block, 0.2, 0.3, {{-1, 5, 0}, {0, 0, 2}}, WrenchAxes::frame}});
    const double v = run(world, {method, 1e-3, 0.5}, 0, 0, 0.5).v[0];
    EXPECT_NEAR(v, (4 * 0.25 - 1 * 0.1) / 2, 1e-12) << to_text(method);
  }
}

TEST(World, WrenchesInWorldAxesDoNotRotateWithTheFrame) {
  RobotBuilder<double> robot("body");
  robot.gravity({0, 0, 0}).link("b", 2, {0, 0, 0}, Eigen::Vector3d(0.1, 0.2, 0.3).asDiagonal());
  World world(robot.joint("f", Joint<double>::free(), "world", "b").build());
  world.add<WrenchSchedule>(world.model(),
                            std::vector<WrenchSchedule::Push>{
                                {world.model().find_frame("b"), 0, 1, {{3, 0, -1}, {0, 0, 0}}}});
  Simulation simulation(world, {IntegrationMethod::dormand_prince, 0.01, 0.1, 1e-11});
  RobotState<double> s = world.initial_state();
  s.v << 0, 0, 0, 3, -2, 1;
  simulation.set_state(0, s.q, s.v);
  simulation.run_until(1);
  // However it tumbles, the centre of mass moves as a point mass: F t^2 / 2 m.
  EXPECT_LT((simulation.state().q.head<3>() - Eigen::Vector3d(0.75, 0, -0.25)).norm(), 1e-9);
}

TEST(World, DisturbancesAreSeeded) {
  const auto end = [](std::uint64_t seed) {
    World world(slider().build());
    world.add<RandomWrench>(world.model(),
                            RandomWrench::Parameters{world.model().find_frame("block"), 2, 0, 0.01},
                            seed);
    return run(world, {}, 0, 0, 1).v[0];
  };
  EXPECT_EQ(end(1), end(1));
  EXPECT_NE(end(1), end(2));
  // Over seeds: 100 draws of deviation 2 N for 0.01 s on 2 kg.
  double sum = 0, squares = 0;
  constexpr int kRuns = 300;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const double v = end(derived_seed(7, seed));
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / kRuns, 0, 0.1 * 4 / std::sqrt(kRuns));  // four standard deviations of the mean
  EXPECT_NEAR(std::sqrt(squares / kRuns), 0.1, 0.1 * 4 / std::sqrt(2. * kRuns));
}

TEST(World, SoftStopsBalanceTheWeight) {
  RobotBuilder<double> robot("weight");
  robot.link("w", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "w");
  DofLimits<double> limits;
  limits.lower = -0.5;
  robot.limits({limits});
  World world(robot.build());
  const double k = 2 * std::pow(2 * std::numbers::pi * 15, 2);
  const RobotState<double> end =
      run(world, {IntegrationMethod::semi_implicit_euler, 1e-3}, 0, 0, 3);
  EXPECT_NEAR(end.q[0], -0.5 - 2 * 9.81 / k, 1e-12);
  EXPECT_NEAR(end.v[0], 0, 1e-12);
}

TEST(World, CompiledDynamicsAgree) {
  for (const auto& sample : testing::samples(1, 11)) {
    World plain(sample.model),
        compiled(sample.model, {.dynamics = WorldOptions::Dynamics::compiled});
    RobotState<double> s = plain.initial_state();
    s.q = sample.q;
    s.v = sample.v;
    Vector a(s.v.size()), b(s.v.size()), none;
    plain.rates(s, a, none);
    compiled.rates(s, b, none);
    // Mass matrices of random trees have condition numbers of some thousands.
    EXPECT_LT((a - b).norm(), 1e5 * kEps * a.norm()) << sample.name;
  }
}

/// The same pushes, without declared frames.
class UndeclaredPushes final : public ForceLaw {
 public:
  explicit UndeclaredPushes(std::vector<WrenchSchedule::Push> pushes)
      : pushes_(std::move(pushes)) {}
  void add(ForceInput&, AppliedLoads& loads) override {
    for (const auto& push : pushes_) loads.add({push.frame, push.axes}, push.F);
  }
  int max_wrenches() const override { return static_cast<int>(pushes_.size()); }

 private:
  std::vector<WrenchSchedule::Push> pushes_;
};

TEST(World, CompiledDynamicsAgreeWithWrenches) {
  for (const auto& sample : testing::samples(1, 13)) {
    const Model<double>& model = sample.model;
    const int frames = static_cast<int>(model.frames().size());
    testing::Random random(static_cast<unsigned>(frames));
    std::vector<WrenchSchedule::Push> pushes;
    for (int k = 0; k < 6; ++k) {  // two per frame, in both axes
      pushes.push_back({FrameId((k / 2) * (frames - 1) / 2), 0, 1, random.force<double>(),
                        k % 2 == 0 ? WrenchAxes::world : WrenchAxes::frame});
    }
    pushes.push_back(pushes.back());
    World plain(model), compiled(model, {.dynamics = WorldOptions::Dynamics::compiled}),
        undeclared(model, {.dynamics = WorldOptions::Dynamics::compiled});
    plain.add<WrenchSchedule>(model, pushes);
    compiled.add<WrenchSchedule>(model, pushes);
    undeclared.add<UndeclaredPushes>(pushes);
    RobotState<double> s = plain.initial_state();
    s.q = sample.q;
    s.v = sample.v;
    Vector a(s.v.size()), free(s.v.size()), none;
    World(model).rates(s, free, none);
    for (World* world : {&plain, &compiled, &undeclared}) {
      world->begin_step(0);
      Vector b(s.v.size());
      world->rates(s, b, none);
      if (world == &plain) a = b;
      EXPECT_LT((a - b).norm(), 1e5 * kEps * (a.norm() + free.norm())) << sample.name;
      // The compiled world uses them in world axes, the others rotate them into the frames.
      EXPECT_EQ(world->loads().world_wrenches.size(),
                world == &compiled && codegen::why_no_machine_code().empty() ? 3u : 0u);
    }
    EXPECT_GT((a - free).norm(), 1e-3 * free.norm()) << sample.name;
  }
}

TEST(Simulation, NonFiniteTorqueIsAnErrorWithItsTime) {
  World world(load_model("builtin:2r"));
  Simulation simulation(world, {});
  simulation.set_controller(
      [](const ControlInput& now, Vector& tau) { tau[1] = now.t > 0.0995 ? std::nan("") : 0.5; });
  int calls = 0;
  simulation.set_observer([&](const RobotState<double>&, const Vector&) { ++calls; });
  EXPECT_EQ(message([&] { simulation.run_until(1); }),
            "simulate: at t = 0.1 s the torque on joint 'joint2' is nan [computation failed]");
  EXPECT_EQ(calls, 100);
  EXPECT_NEAR(simulation.state().t, 0.1, 4 * kEps);
}

TEST(Simulation, UnstableMotionIsAnErrorWithItsTime) {
  World world(slider().drive(1e6, 0, 0).build());
  Simulation simulation(world, {IntegrationMethod::explicit_euler, 0.01});
  simulation.set_state(0, Vector::Zero(1), Vector::Ones(1));
  const std::string text = message([&] { simulation.run_until(10); });
  EXPECT_NE(text.find("explicit-euler: after t = 0."), std::string::npos) << text;
  EXPECT_TRUE(std::isfinite(simulation.state().v[0]));
}

TEST(Simulation, TimesAreCountedNotSummed) {
  World world(slider().build());
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3, 2e-3});
  std::vector<double> times;
  simulation.set_observer(
      [&](const RobotState<double>& s, const Vector&) { times.push_back(s.t); });
  simulation.run_until(5);
  ASSERT_EQ(times.size(), 2500u);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], static_cast<double>(i) * 2e-3);
  }
  EXPECT_EQ(simulation.state().t, 2500 * 2e-3);
}

TEST(Simulation, EventStopsTheRun) {
  World world(slider().build());
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-2});
  simulation.set_state(0, Vector::Zero(1), Vector::Ones(1));
  simulation.set_events({coordinate_event(0, 0.123, Event::Direction::rising)});
  EXPECT_EQ(simulation.run_until(1), 0);
  EXPECT_NEAR(simulation.state().t, 0.123, 16 * kEps);
  EXPECT_EQ(simulation.run_until(1), -1);
  EXPECT_NEAR(simulation.state().q[0], 1, 64 * kEps);
}

TEST(Simulation, ProgressIsReportedInEveryStepAndMayEndTheRun) {
  World world(slider().build());
  Simulation simulation(world, {.step = 1e-3, .control_period = 0.1});
  int calls = 0;
  simulation.set_progress([&](double t) {
    EXPECT_NEAR(t, 1e-3 * ++calls, 1e-12);
    if (calls == 42) throw Error("enough");
  });
  EXPECT_EQ(message([&] { simulation.run_until(1); }), "enough");
  EXPECT_EQ(calls, 42);
  EXPECT_NEAR(simulation.state().t, 0.042, 1e-12);
}

TEST(Simulation, StepsDoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  for (const auto dynamics :
       {WorldOptions::Dynamics::templates, WorldOptions::Dynamics::compiled}) {
    World world(load_model("builtin:quadruped", Base::free), {.dynamics = dynamics});
    const FrameId tip(static_cast<int>(world.model().frames().size()) - 1);
    world.add<RandomWrench>(world.model(), RandomWrench::Parameters{tip, 1, 0.1, 0.01}, 3);
    Simulation simulation(world, {});
    simulation.set_controller([](const ControlInput& now, Vector& tau) {
      tau.tail(tau.size() - 6) = -0.1 * now.v.tail(tau.size() - 6);
    });
    simulation.run_until(0.01);
    EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.1); }), 0);
  }
}

TEST(Simulation, InvalidOptionsAreRejected) {
  World world(slider().drive(0, 1, 0).build(), {.friction = WorldOptions::Friction::exact});
  EXPECT_EQ(message([&] { Simulation(world, {IntegrationMethod::runge_kutta_4}); }),
            "Simulation: method is runge-kutta-4, expected semi-implicit-euler (exact friction, "
            "hard stops and contacts are impulses of its steps)");
  EXPECT_EQ(message([&] {
              Simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3, 1.5e-3});
            }),
            "Simulation: control_period is 0.0015, expected a multiple of the step, 0.001");
  EXPECT_EQ(message([&] {
              Simulation(world, {IntegrationMethod::semi_implicit_euler, 0});
            }),
            "Simulation: step is 0, expected > 0 and finite");
  Simulation simulation(world, {});
  EXPECT_EQ(message([&] { simulation.set_state(0, Vector::Zero(2), Vector::Zero(1)); }),
            "Simulation::set_state: q has 2 entries, expected 1 (a free joint needs 7 numbers in q "
            "but 6 in v)");
  EXPECT_EQ(message([&] {
              world.add<JointSpring>(world.model(), "rial", JointSpring::Parameters{});
            }).find("Model::find_body"),
            0u);
}

// Motors that accelerate a robot beyond what steps can follow: the run ends, after bounded work,
// and the message names joint and motor.
TEST(Simulation, AMotionTooFastForAnyStepEndsTheRun) {
  RobotBuilder<double> robot("two_links");
  robot.gravity({0, 0, 0});
  for (const char* name : {"first", "second"}) {
    robot.link(name, 0.1, {0.1, 0, 0}, 1e-3 * Matrix3<double>::Identity());
  }
  robot.joint("shoulder", Joint<double>::continuous({0, 0, 1}), "world", "first");
  robot.joint("elbow", Joint<double>::continuous({0, 0, 1}), "first", "second");
  World world(robot.build());
  Simulation simulation(world, {});
  simulation.set_state(0, Vector::Zero(2), Vector::Zero(2));
  simulation.set_controller([](const ControlInput&, Vector& tau) { tau << -3e4, 3e4; });
  const std::string text = message([&] { simulation.run_until(10); });
  EXPECT_NE(text.find("the motion is too fast: steps of 0.001 s had to be divided into more than "
                      "50 parts each (joint '"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("exerts 3e+04 N m"), std::string::npos) << text;
  EXPECT_LT(simulation.steps(), 20000);
  EXPECT_TRUE(simulation.state().v.allFinite());
  // The same robot under its own limits runs on.
  simulation.set_state(0, Vector::Zero(2), Vector::Zero(2));
  simulation.set_controller(
      [](const ControlInput& now, Vector& tau) { tau << 0.2 * std::cos(now.t), -0.1; });
  simulation.run_until(0.5);
  EXPECT_NEAR(simulation.state().t, 0.5, 1e-9);
}

}  // namespace
}  // namespace limb
