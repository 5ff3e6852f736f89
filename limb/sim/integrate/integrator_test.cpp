// Integrators on the manifold: their orders over all joint types, closed forms, dense output,
// events, determinism, no allocation.
#include "limb/sim/integrate/integrator.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/integrate/dormand_prince_impl.hpp"
#include "limb/sim/integrate/event.hpp"
#include "limb/sim/testing/free_motion.hpp"

namespace limb {
namespace {

using testing::FreeMotion;
using testing::message;
using testing::Sample;
using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr IntegrationMethod kMethods[] = {
    IntegrationMethod::explicit_euler, IntegrationMethod::semi_implicit_euler,
    IntegrationMethod::runge_kutta_4, IntegrationMethod::implicit_midpoint,
    IntegrationMethod::dormand_prince};

double error(const Model<double>& model, const RobotState<double>& a, const RobotState<double>& b) {
  Vector dq(model.nv());
  difference(model, a.q, b.q, dq);
  return std::sqrt(dq.squaredNorm() + (a.v - b.v).squaredNorm());
}

RobotState<double> state_of(const Sample& s) {
  RobotState<double> state = make_state(s.model);
  state.q = s.q;
  state.v = s.v;
  return state;
}

/// A free rigid body without gravity.
Model<double> free_body(const Eigen::Vector3d& moments) {
  RobotBuilder<double> body("body");
  body.gravity({0, 0, 0}).link("b", 1.5, {0, 0, 0}, moments.asDiagonal());
  return body.joint("f", Joint<double>::free(), "world", "b").build();
}

/// Base-2 logarithm of the ratio of errors with the step and with half of it.
double measured_order(const Sample& s, IntegrationMethod method, int steps) {
  FreeMotion motion(s.model);
  const double t_end = 0.1;
  const RobotState<double> start = state_of(s), exact = run_exactly(motion, s.model, start, t_end);
  const double coarse =
      error(s.model, run(motion, s.model, method, t_end / steps, start, t_end), exact);
  const double fine =
      error(s.model, run(motion, s.model, method, t_end / (2 * steps), start, t_end), exact);
  return std::log2(coarse / fine);
}

TEST(Integrators, HaveTheirOrderOnTreesOfAllJoints) {
  struct Case {
    IntegrationMethod method;
    int steps;
    double order;
  };
  for (const Case& c : {Case{IntegrationMethod::explicit_euler, 200, 1},
                        {IntegrationMethod::semi_implicit_euler, 200, 1},
                        {IntegrationMethod::implicit_midpoint, 40, 2},
                        {IntegrationMethod::runge_kutta_4, 20, 4}}) {
    double sum = 0;
    int count = 0;
    for (const Sample& s : testing::samples(2, 11)) {
      const double order = measured_order(s, c.method, c.steps);
      // For single robots the next error term matters; measured: within 0.35.
      EXPECT_NEAR(order, c.order, 0.5) << to_text(c.method) << ", " << s.name;
      sum += order;
      ++count;
    }
    std::printf("%-20s order %.2f over %d robots\n", std::string(to_text(c.method)).c_str(),
                sum / count, count);
    EXPECT_NEAR(sum / count, c.order, 0.15) << to_text(c.method);
  }
}

TEST(DormandPrince, HasOrderFiveAndDenseOutputOfOrderFour) {
  using namespace dormand_prince_detail;
  const std::vector<Sample> all = testing::samples(1, 11);
  for (const Sample& s : all) {
    FreeMotion motion(s.model);
    const RobotState<double> start = state_of(s);
    Stages<double> stages(ConfigurationSpace<double>(s.model), 0, 7);
    // Local errors of one step, at its end and inside: one order above that of the method.
    const auto local = [&](double h, double part) {
      stages.begin(start);
      for (std::size_t i = 0; i < 7; ++i) {
        stages.evaluate(motion, i, h, kTimes[i], std::span(kTableau[i]).first(i));
      }
      RobotState<double> end = start;
      stages.combine(h, part == 1 ? kTableau[6] : dense_weights(part), end);
      return error(s.model, end, run_exactly(motion, s.model, start, h * part));
    };
    EXPECT_GT(std::log2(local(0.02, 1) / local(0.01, 1)), 5.5) << s.name;
    EXPECT_GT(std::log2(local(0.02, 0.4) / local(0.01, 0.4)), 4.5) << s.name;
  }
  for (const double x : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const Row w = dense_weights(x);
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), x, 16 * kEps) << x;
  }
}

TEST(DormandPrince, ErrorFollowsTheTolerance) {
  const Sample s = testing::samples(1, 11)[1];
  FreeMotion motion(s.model);
  const RobotState<double> start = state_of(s), exact = run_exactly(motion, s.model, start, 0.5);
  double last = 1;
  for (const double tolerance : {1e-5, 1e-7, 1e-9, 1e-11}) {
    const ConfigurationSpace<double> space(s.model);
    DormandPrince<double> integrator(space, 0, {1, tolerance, tolerance});
    motion.calls = 0;
    const double e = error(s.model, run(motion, integrator, start, 0.5), exact);
    EXPECT_LT(e, 50 * tolerance);  // 10 to 100 steps, on a motion that amplifies errors
    EXPECT_LT(e, last / 5);
    // Six evaluations per step: the last of each is the first of the next.
    EXPECT_EQ(motion.calls, 1 + 6 * (integrator.accepted() + integrator.rejected()));
    last = e;
  }
}

// A body of moments A, A, C rotates about its axis of symmetry relative to L at (C - A) w3 / A, and
// that axis about L at |L| / A. [Goldstein 2002, force-free motion]
TEST(Integrators, SymmetricBodyPrecesses) {
  const double A = 0.3, C = 0.5, t = 2;
  const Model<double> model = free_body({A, A, C});
  FreeMotion motion(model);
  RobotState<double> s = make_state(model);
  s.v << 0.2, -0.1, 0.3, 0.4, 0, 1.5;
  const Eigen::Vector3d w = s.v.tail<3>(), L(A * w[0], A * w[1], C * w[2]);
  const double spin = (C - A) / A * w[2];
  const Eigen::Matrix3d R = (Eigen::AngleAxisd(L.norm() / A * t, L.normalized()) *
                             Eigen::AngleAxisd(-spin * t, Eigen::Vector3d::UnitZ()))
                                .toRotationMatrix();
  const Eigen::Vector3d w_end = Eigen::AngleAxisd(spin * t, Eigen::Vector3d::UnitZ()) * w;
  for (const IntegrationMethod method :
       {IntegrationMethod::runge_kutta_4, IntegrationMethod::dormand_prince}) {
    const RobotState<double> end = method == IntegrationMethod::dormand_prince
                                       ? run_exactly(motion, model, s, t)
                                       : run(motion, model, method, 1e-3, s, t);
    const Eigen::Quaterniond q(end.q.tail<4>());
    EXPECT_LT((q.toRotationMatrix() - R).norm(), 1e-11) << to_text(method);
    EXPECT_LT((end.v.tail<3>() - w_end).norm(), 1e-11) << to_text(method);
    // The centre of mass moves straight with v0 in the world: s.q is neutral.
    EXPECT_LT((end.q.head<3>() - t * s.v.head<3>()).norm(), 1e-11) << to_text(method);
  }
}

TEST(Integrators, QuaternionsStayUnit) {
  const Model<double> model = free_body({0.1, 0.2, 0.25});
  FreeMotion motion(model);
  RobotState<double> s = make_state(model);
  s.v << 1, 2, 3, 40, -3, 2;
  for (const IntegrationMethod method : kMethods) {
    const ConfigurationSpace<double> space(model);
    const auto integrator = make_integrator<double>(method, space, 0, {1e-4});
    RobotState<double> now = s;
    for (int i = 0; i < 20000; ++i) integrator->advance(motion, now, 1e9);
    EXPECT_NEAR(now.q.tail<4>().norm(), 1, 2 * kEps) << to_text(method);
  }
}

TEST(Integrators, RunsAreBitIdentical) {
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  for (const IntegrationMethod method : kMethods) {
    FreeMotion first(model), second(model);
    RobotState<double> s = make_state(model);
    s.v.setLinSpaced(-1, 1);
    const RobotState<double> a = run(first, model, method, 1e-3, s, 0.1);
    const RobotState<double> b = run(second, model, method, 1e-3, s, 0.1);
    EXPECT_EQ(a.q, b.q) << to_text(method);
    EXPECT_EQ(a.v, b.v) << to_text(method);
  }
}

TEST(Integrators, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  for (const IntegrationMethod method : kMethods) {
    FreeMotion motion(model);
    const ConfigurationSpace<double> space(model);
    const auto integrator = make_integrator<double>(method, space, 0, {1e-3});
    RobotState<double> s = make_state(model), between = s;
    integrator->advance(motion, s, 1);
    EXPECT_EQ(testing::allocations([&] {
                for (int i = 0; i < 10; ++i) integrator->advance(motion, s, 1);
                integrator->state_at(s.t - 1e-4, between);
                integrator->reset();
                integrator->advance(motion, s, 1);
              }),
              0)
        << to_text(method);
  }
}

TEST(Integrators, EndExactlyAtTheRequestedTime) {
  const Model<double> model = load_model("builtin:pendulum");
  for (const IntegrationMethod method : kMethods) {
    FreeMotion motion(model);
    const ConfigurationSpace<double> space(model);
    const auto integrator = make_integrator<double>(method, space, 0, {0.03});
    RobotState<double> s = make_state(model);
    s.v[0] = 1;
    while (s.t < 0.1) integrator->advance(motion, s, 0.1);
    EXPECT_EQ(s.t, 0.1) << to_text(method);
  }
}

TEST(Integrators, StateInsideAStepIsOnTheTrajectory) {
  const Sample s = testing::samples(1, 11)[3];
  FreeMotion motion(s.model);
  for (const IntegrationMethod method : kMethods) {
    const ConfigurationSpace<double> space(s.model);
    const auto integrator = make_integrator<double>(method, space, 0, {0.01, 1e-6, 1e-6});
    RobotState<double> now = state_of(s), between = now;
    integrator->advance(motion, now, 1);
    const RobotState<double> start = state_of(s);
    integrator->state_at(now.t / 3, between);
    const double allowed = method == IntegrationMethod::explicit_euler ||
                                   method == IntegrationMethod::semi_implicit_euler
                               ? 3e-2
                               : 1e-4;
    EXPECT_LT(error(s.model, between, run_exactly(motion, s.model, start, now.t / 3)), allowed)
        << to_text(method);
    integrator->state_at(now.t, between);
    EXPECT_LT(error(s.model, between, now), 1e-13) << to_text(method);
  }
}

Model<double> falling_weight() {
  RobotBuilder<double> weight("weight");
  weight.link("w", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  return weight.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "w").build();
}

TEST(Events, AreFoundToRounding) {
  const Model<double> model = falling_weight();
  const double height = 1.3, expected = std::sqrt(2 * height / 9.81);
  for (const IntegrationMethod method :
       {IntegrationMethod::runge_kutta_4, IntegrationMethod::implicit_midpoint,
        IntegrationMethod::dormand_prince}) {
    FreeMotion motion(model);
    const ConfigurationSpace<double> space(model);
    const auto integrator = make_integrator<double>(method, space, 0, {0.07});
    EventFinder finder({coordinate_event(0, 0.2, Event::Direction::rising),
                        coordinate_event(0, 0.2 - height, Event::Direction::falling),
                        coordinate_event(0, 0.19 - height, Event::Direction::both)});
    RobotState<double> s = make_state(model);
    s.q[0] = 0.2;
    finder.begin(s);
    int hit = -1;
    for (int i = 0; i < 100 && hit < 0; ++i) {
      integrator->advance(motion, s, 10);
      hit = finder.find(*integrator, s);
    }
    EXPECT_EQ(hit, 1) << to_text(method);
    // These methods are exact for parabolas; sums of about ten steps.
    EXPECT_NEAR(s.t, expected, 64 * kEps) << to_text(method);
    EXPECT_LE(s.q[0], 0.2 - height) << to_text(method);
    EXPECT_NEAR(s.v[0], -9.81 * expected, 512 * kEps) << to_text(method);
  }
}

TEST(Integrators, StiffDamperIsStableOnlyWithTheImplicitMethod) {
  RobotBuilder<double> weight("damped");
  weight.gravity({0, 0, 0}).link("w", 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
  weight.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "w").drive(1e5, 0, 0);
  const Model<double> model = weight.build();
  FreeMotion motion(model);
  RobotState<double> s = make_state(model);
  s.v[0] = 1;
  EXPECT_LT(std::abs(run(motion, model, IntegrationMethod::implicit_midpoint, 0.01, s, 1).v[0]), 1);
  EXPECT_GT(std::abs(run(motion, model, IntegrationMethod::semi_implicit_euler, 0.01, s, 0.1).v[0]),
            1e10);
}

TEST(Integrators, InvalidInputsAreRejected) {
  const Model<double> model = load_model("builtin:pendulum");
  const ConfigurationSpace<double> space(model);
  EXPECT_EQ(
      message([&] { make_integrator<double>(IntegrationMethod::runge_kutta_4, space, 0, {-1}); }),
      "FixedStep: step is -1, expected > 0 and finite");
  EXPECT_EQ(message([&] {
              make_integrator<double>(IntegrationMethod::dormand_prince, space, 0, {1e-3, 0, 0});
            }),
            "DormandPrince: absolute_tolerance is 0, expected > 0 and finite");
  EXPECT_EQ(message([] { method_from_text("limb simulate", "rk4"); }),
            "limb simulate: integrator is 'rk4', expected one of explicit-euler, "
            "semi-implicit-euler, runge-kutta-4, implicit-midpoint, dormand-prince, cvode");
  auto broken = make_equation<double>([](const RobotState<double>& s, Vector& a, Vector&) {
    a.setConstant(s.t > 0.0095 ? std::nan("") : 0);
  });
  for (const IntegrationMethod method : kMethods) {
    const auto integrator = make_integrator<double>(method, space, 0, {1e-3});
    RobotState<double> s = make_state(model);
    const std::string text = message([&] {
      while (s.t < 1) integrator->advance(broken, s, 1);
    });
    EXPECT_NE(text.find("the motion is not finite"), std::string::npos) << text;
    EXPECT_NE(text.find("[computation failed]"), std::string::npos) << text;
    EXPECT_TRUE(s.q.allFinite() && s.v.allFinite());
    EXPECT_NEAR(s.t, 0.0095, 0.0011) << to_text(method);  // the last valid state is kept
  }
}

}  // namespace
}  // namespace limb
