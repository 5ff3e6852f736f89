#pragma once

#include "limb/sim/integrate/integrator.hpp"

namespace limb {

/// Explicit methods with a fixed step: both Euler methods and Runge-Kutta of order 4. The same run
/// gives the same bits on one machine. For any scalar, so that motions can be differentiated.
template <typename T>
class FixedStep final : public Integrator<T> {
 public:
  /// @throws Error for another method, or a step that is not positive.
  FixedStep(IntegrationMethod method, const ConfigurationSpace<T>& space, int extra, const T& step);
  ~FixedStep() override;

  void advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) override;
  /// Recomputed by a shorter step from the same start.
  void state_at(const T& t, RobotState<T>& s) override;

 private:
  struct Memory;
  void step(Equation<T>& equation, RobotState<T>& s, const T& h);

  IntegrationMethod method_;
  T step_;
  std::unique_ptr<Memory> memory_;
};

extern template class FixedStep<double>;

}  // namespace limb
