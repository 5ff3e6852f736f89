// Integrators on the manifold: their orders over all joint types, closed forms, dense output,
// events, determinism, no allocation.
#include "limb/sim/integrate/integrator.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
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
    EXPECT_LT(e, 5 * tolerance);  // of all steps; measured: 2
    EXPECT_GT(e, tolerance / 5);
    EXPECT_LT(e, last / 5);
    // Six evaluations per step: the last of each is the first of the next.
    EXPECT_EQ(motion.calls, 1 + 6 * (integrator.accepted() + integrator.rejected()));
    last = e;
  }
}

/// The error estimate of Dormand-Prince for y' = l y, as a factor on y, with z = h l: the
/// difference of the stability functions of its two solutions, which follow from the tableau.
std::complex<double> estimate_factor(std::complex<double> z) {
  const std::complex<double> z5 = z * z * z * z * z;
  return z5 * (-97. / 120000 + z * (39. / 120000) - z * z / 24000.);
}
/// The stability function of its solution of order 5.
std::complex<double> solution_factor(std::complex<double> z) {
  return 1. + z * (1. + z / 2. * (1. + z / 3. * (1. + z / 4. * (1. + z / 5. * (1. + z / 5.)))));
}

/// An oscillator of frequency w and a first-order lag x' = -c x, in both of which the solution and
/// the error estimate of a step have closed forms, with the step control of [Hairer 1993,
/// Sec. II.4]: factor 0.9 err^-0.17 err_before^0.04, between 0.2 and 5.
struct ControlledOscillator {
  double w = 1, c = 0.5;
  double absolute = 0, relative = 0, longest = 0;
  double h = 0, before = 1e-4;  ///< next step, and error of the last
  long accepted = 0, rejected = 0;

  static Model<double> model() {
    RobotBuilder<double> robot("oscillator");
    robot.gravity({0, 0, 0}).link("m", 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
    return robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "m").build();
  }
  auto equation() {
    return make_equation<double>([this](const RobotState<double>& s, Vector& a, Vector& dx) {
      a[0] = -w * w * s.q[0];
      dx[0] = -c * s.x[0];
    });
  }
  /// Root mean square of the estimates relative to the tolerances.
  double estimate(const RobotState<double>& from, const RobotState<double>& to, double step) const {
    const std::complex<double> y(w * from.q[0], from.v[0]), i(0, 1);
    const std::complex<double> e = estimate_factor(-i * w * step) * y;
    const double e_x = estimate_factor(-c * step).real() * from.x[0];
    const auto allowed = [&](double a, double b) {
      return absolute + relative * std::max(std::abs(a), std::abs(b));
    };
    const double r[] = {e.real() / w / (absolute + relative),
                        e.imag() / allowed(from.v[0], to.v[0]), e_x / allowed(from.x[0], to.x[0])};
    return std::sqrt((r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / 3);
  }
  /// The state after a step; compared with that of the integrator.
  RobotState<double> solution(const RobotState<double>& from, double step) const {
    const std::complex<double> y(w * from.q[0], from.v[0]), i(0, 1);
    const std::complex<double> end = solution_factor(-i * w * step) * y;
    RobotState<double> to = from;
    to.t += step;
    to.q[0] = end.real() / w;
    to.v[0] = end.imag();
    to.x[0] = solution_factor(-c * step).real() * from.x[0];
    return to;
  }
  /// One step, with its rejections.
  void advance(RobotState<double>& s) {
    bool again = false;
    while (true) {
      const double now = std::min(h, longest);
      const RobotState<double> end = solution(s, now);
      const double err = estimate(s, end, now);
      const double most = err <= 1 && !again ? 5 : 1;
      h = now * std::clamp(0.9 * std::pow(std::max(err, 1e-10), -0.17) * std::pow(before, 0.04),
                           0.2, most);
      if (err <= 1) {
        s = end;
        before = std::max(err, 1e-4);
        ++accepted;
        return;
      }
      ++rejected;
      again = true;
    }
  }
};

/// Runs the integrator and the closed form side by side, with a sudden change of frequency.
ControlledOscillator compare_step_control(double absolute, double relative, double longest,
                                          Worst& worst) {
  const Model<double> model = ControlledOscillator::model();
  ControlledOscillator exact;
  exact.absolute = absolute;
  exact.relative = relative;
  exact.longest = longest;
  DormandPrince<double> integrator(ConfigurationSpace<double>(model), 1,
                                   {longest, absolute, relative});
  auto equation = exact.equation();
  RobotState<double> s = make_state(model, 1);
  s.q[0] = 0.6;
  s.v[0] = -0.8;
  s.x[0] = 2;
  RobotState<double> expected = s;
  // At first velocities change by about one percent.
  exact.h = std::min(longest, 0.01 * (1 + 0.8) / (1 + 0.6));
  for (const double w : {1., 40.}) {
    exact.w = w;
    exact.before = 1e-4;  // after reset()
    integrator.reset();
    for (int n = 0; n < 40; ++n) {
      integrator.advance(equation, s, 1e9);
      exact.advance(expected);
      worst.add(std::abs(s.t - expected.t), std::abs(s.q[0] - expected.q[0]),
                std::abs(s.v[0] - expected.v[0]) / w, std::abs(s.x[0] - expected.x[0]));
    }
  }
  EXPECT_EQ(integrator.accepted(), exact.accepted);
  EXPECT_EQ(integrator.rejected(), exact.rejected);
  return exact;
}

// Every step of 80, and each rejection, is that of the closed form. The error estimate is a
// difference of terms of size 1, with a rounding error of about 1e-16 / tolerance.
TEST(DormandPrince, StepsAreThoseOfTheStepControl) {
  for (const auto& [absolute, relative] :
       {std::pair{1e-6, 0.}, {1e-7, 1e-6}, {1e-4, 1e-3}, {1e-5, 1e-8}}) {
    Worst worst;
    const ControlledOscillator exact = compare_step_control(absolute, relative, 1e9, worst);
    EXPECT_GE(exact.rejected, 2) << absolute;
    EXPECT_LT(worst.value(), 2e-10) << absolute;
  }
  // Where the longest step is shorter than the tolerances allow.
  Worst worst;
  compare_step_control(1e-5, 1e-5, 0.05, worst);
  EXPECT_LT(worst.value(), 2e-10);
}

// A constant motion has a constant error: 0.9 e^(0.04 - 0.17) = 1. Steps are proportional to the
// fifth root of the tolerance, up to the next term of the estimate, and the solution of order 5
// is closer than its estimate.
TEST(DormandPrince, LocalErrorIsCloseBelowTheTolerance) {
  double last = 0;
  for (const double tolerance : {32e-8, 1e-8}) {
    const Model<double> model = ControlledOscillator::model();
    ControlledOscillator exact;
    exact.absolute = tolerance;
    DormandPrince<double> integrator(ConfigurationSpace<double>(model), 1, {1e9, tolerance, 0});
    auto equation = exact.equation();
    RobotState<double> s = make_state(model, 1);
    s.q[0] = 1;
    double h = 0, estimate = 0;
    Worst local, estimated;
    for (int n = 0; n < 60; ++n) {
      const RobotState<double> start = s;
      integrator.advance(equation, s, 1e9);
      h = s.t - start.t;
      const double q = start.q[0] * std::cos(h) + start.v[0] * std::sin(h);
      const double v = start.v[0] * std::cos(h) - start.q[0] * std::sin(h);
      local.add(std::hypot(s.q[0] - q, s.v[0] - v));
      estimated.add(estimate = exact.estimate(start, s, h));
    }
    EXPECT_LT(local.value(), 0.1 * tolerance);
    EXPECT_LE(estimated.value(), 1);
    EXPECT_NEAR(estimate, std::pow(0.9, 1 / 0.13), 1e-7);
    if (last > 0) {
      EXPECT_NEAR(last / h, 2, 2e-3);
    }
    last = h;
  }
}

// The time of a sample shortens one step only; the length of the next one remains.
TEST(DormandPrince, RequestedTimesDoNotShortenLaterSteps) {
  const Model<double> model = ControlledOscillator::model();
  ControlledOscillator exact;
  auto equation = exact.equation();
  DormandPrince<double> integrator(ConfigurationSpace<double>(model), 1, {1e9, 1e-8, 0});
  RobotState<double> s = make_state(model, 1);
  s.q[0] = 1;
  for (int n = 0; n < 40; ++n) integrator.advance(equation, s, 1e9);
  const double t = s.t;
  integrator.advance(equation, s, 1e9);
  const double h = s.t - t, end = s.t + h / 100;
  integrator.advance(equation, s, end);
  EXPECT_EQ(s.t, end);
  integrator.advance(equation, s, 1e9);
  EXPECT_NEAR((s.t - end) / h, 1, 0.01);
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
    for (testing::StepLimit limit(100'000); limit.next() && s.t < 0.1;)
      integrator->advance(motion, s, 0.1);
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
      for (testing::StepLimit limit(100'000); limit.next() && s.t < 1;)
        integrator->advance(broken, s, 1);
    });
    EXPECT_NE(text.find("the motion is not finite"), std::string::npos) << text;
    EXPECT_NE(text.find("[computation failed]"), std::string::npos) << text;
    EXPECT_TRUE(s.q.allFinite() && s.v.allFinite());
    EXPECT_NEAR(s.t, 0.0095, 0.0011) << to_text(method);  // the last valid state is kept
  }
}

}  // namespace
}  // namespace limb
