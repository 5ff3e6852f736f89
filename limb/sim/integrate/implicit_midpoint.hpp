#pragma once

#include "limb/sim/integrate/integrator.hpp"

namespace limb {

/// Implicit midpoint rule, order 2: the rates at the midpoint advance the state over the step.
/// Reversible in time, so that energy does not drift; stable for stiff springs and dampers with any
/// step. [Hairer 2006, implicit midpoint rule]
///
/// Newton's method on (v, x) at the midpoint; its matrix is computed by finite differences and
/// reused while the method converges. A step with a discontinuous force, such as a stop that is
/// reached in it, is divided, with a linearly implicit step across the discontinuity.
template <Real T>
class ImplicitMidpoint final : public Integrator<T> {
 public:
  ImplicitMidpoint(const ConfigurationSpace<T>& space, int extra, const T& step);
  ~ImplicitMidpoint() override;

  void advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) override;
  /// By a shorter step from the same start.
  void state_at(const T& t, RobotState<T>& s) override;
  /// Linearly implicit steps since construction.
  long linear_steps() const { return linear_steps_; }

 private:
  struct Memory;
  void residual(Equation<T>& equation, const T& h);
  void differentiate(Equation<T>& equation, const T& h);
  bool solve(Equation<T>& equation, const T& h);
  bool try_step(Equation<T>& equation, RobotState<T>& s, const T& h);
  void accept(Equation<T>& equation, RobotState<T>& s, const T& h);
  void step(Equation<T>& equation, RobotState<T>& s, const T& h);

  T step_;
  long linear_steps_ = 0;
  std::unique_ptr<Memory> memory_;
};

extern template class ImplicitMidpoint<double>;

}  // namespace limb
