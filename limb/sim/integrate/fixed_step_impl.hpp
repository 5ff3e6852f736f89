#pragma once

#include <array>

#include "limb/sim/integrate/fixed_step.hpp"
#include "limb/sim/integrate/stages_impl.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {

template <typename T>
struct FixedStep<T>::Memory {
  ConfigurationSpace<T> space;
  Stages<T> stages;
  RobotState<T> before;
  VectorX<T> a, dx, u;
  Equation<T>* equation = nullptr;  ///< of the last step
};

template <typename T>
FixedStep<T>::FixedStep(IntegrationMethod method, const ConfigurationSpace<T>& space, int extra,
                        const T& step)
    : method_(method), step_(step) {
  if (method != IntegrationMethod::explicit_euler &&
      method != IntegrationMethod::semi_implicit_euler &&
      method != IntegrationMethod::runge_kutta_4) {
    fail("FixedStep", "method", to_text(method),
         "explicit-euler, semi-implicit-euler or runge-kutta-4");
  }
  if constexpr (Real<T>) check_positive("FixedStep", "step", double(step));
  const VectorX<T> zero = VectorX<T>::Constant(space.nv(), T(0));
  memory_.reset(
      new Memory{space, Stages<T>(space, extra, method == IntegrationMethod::runge_kutta_4 ? 4 : 1),
                 RobotState<T>(), zero, VectorX<T>::Constant(extra, T(0)), zero});
  memory_->before = memory_->stages.start();
}

template <typename T>
FixedStep<T>::~FixedStep() = default;

template <typename T>
void FixedStep<T>::step(Equation<T>& equation, RobotState<T>& s, const T& h) {
  Memory& m = *memory_;
  if (method_ == IntegrationMethod::runge_kutta_4) {
    constexpr std::array<double, 3> kSecond = {0.5}, kThird = {0, 0.5}, kFourth = {0, 0, 1};
    constexpr std::array<double, 4> kWeights = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    m.stages.begin(s);
    m.stages.evaluate(equation, 0, h, 0, {});
    m.stages.evaluate(equation, 1, h, 0.5, kSecond);
    m.stages.evaluate(equation, 2, h, 0.5, kThird);
    m.stages.evaluate(equation, 3, h, 1, kFourth);
    m.stages.combine(h, kWeights, s);
    return;
  }
  const bool explicit_euler = method_ == IntegrationMethod::explicit_euler;
  if (explicit_euler) {
    equation.rates(s, m.a, m.dx);
  } else {
    equation.step_rates(s, m.a, m.dx);
  }
  if (explicit_euler) m.u = h * s.v;
  s.v += h * m.a;
  s.x += h * m.dx;
  if (explicit_euler) {
    m.space.move(s.q, m.u, s.q);
    return;
  }
  m.space.add_axes_rotation(m.before.v, h, s.v);
  equation.add_impulses(m.before, h, s.v);
  m.space.step_straight(s.q, h, s.v, s.q);
}

template <typename T>
void FixedStep<T>::advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) {
  Memory& m = *memory_;
  copy_state(s, m.before);
  m.equation = &equation;
  const auto [h, t] = next_step(s.t, step_, t_end);
  step(equation, s, h);
  s.t = t;
  if (!is_finite(s)) {
    copy_state(m.before, s);
    fail_motion(to_text(method_), s.t);
  }
}

template <typename T>
void FixedStep<T>::state_at(const T& t, RobotState<T>& s) {
  Memory& m = *memory_;
  copy_state(m.before, s);
  step(*m.equation, s, t - m.before.t);
  s.t = t;
}

}  // namespace limb
