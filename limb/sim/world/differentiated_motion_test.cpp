// A motion as a function of its initial state: the same integrators on dual numbers give its exact
// derivative.
#include <gtest/gtest.h>

#include "limb/dynamics/testing/state.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/integrate/configuration_space_impl.hpp"
#include "limb/sim/integrate/fixed_step_impl.hpp"

namespace limb {
namespace {

using testing::Dual;

/// A rigid body with three different moments on a free joint, without gravity; v = (v, w) in body
/// axes.
template <typename T>
void tumble(const RobotState<T>& s, VectorX<T>& a, VectorX<T>&) {
  const Vector3<T> v = s.v.template head<3>(), w = s.v.template tail<3>();
  const Vector3<T> I(T(0.2), T(0.3), T(0.45));
  const Vector3<T> moment = Vector3<T>(I.cwiseProduct(w)).cross(w);
  a.template head<3>() = v.cross(w);
  a.template tail<3>() = moment.cwiseQuotient(I);
}

template <typename T>
Model<T> body() {
  RobotBuilder<double> builder("body");
  builder.link("b", 1, {0, 0, 0}, Matrix3<double>::Identity());
  return builder.joint("f", Joint<double>::free(), "world", "b").build().cast<T>();
}

template <typename T>
RobotState<T> end_of(IntegrationMethod method, const RobotState<T>& start) {
  const Model<T> model = body<T>();
  auto equation = make_equation<T>(tumble<T>);
  FixedStep<T> integrator(method, ConfigurationSpace<T>(model), 0, T(0.01));
  RobotState<T> s = start;
  for (int i = 1; i <= 50; ++i) integrator.advance(equation, s, T(0.01 * i));
  return s;
}

TEST(DifferentiatedMotion, AgreesWithFiniteDifferences) {
  for (const IntegrationMethod method :
       {IntegrationMethod::explicit_euler, IntegrationMethod::semi_implicit_euler,
        IntegrationMethod::runge_kutta_4}) {
    RobotState<double> s = make_state(body<double>());
    s.v << 0.3, -0.2, 0.5, 1.1, -0.7, 0.4;
    VectorX<double> direction(6);
    direction << 1, 0.5, -0.3, 0.2, 0.9, -0.6;

    RobotState<Dual> d = make_state(body<Dual>());
    d.v = testing::dual_vector(s.v, direction);
    const RobotState<Dual> end = end_of(method, d);

    // Central differences: error of rounding over the step, and of the step squared.
    const double step = 1e-5, allowed = 1e-9;
    RobotState<double> plus = s, minus = s;
    plus.v += step * direction;
    minus.v -= step * direction;
    const RobotState<double> p = end_of(method, plus), m = end_of(method, minus);
    for (int i = 0; i < 7; ++i) {
      EXPECT_NEAR(end.q[i].tangent[0], (p.q[i] - m.q[i]) / (2 * step), allowed) << to_text(method);
    }
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(end.v[i].tangent[0], (p.v[i] - m.v[i]) / (2 * step), allowed) << to_text(method);
    }
  }
}

}  // namespace
}  // namespace limb
