#pragma once

#include "limb/sim/integrator.hpp"

namespace limb {

/// Order 2: the rates at the middle of the step, which depend on themselves, carry the state over
/// all of it. Reversible in time, so that energy does not drift one way; stable for stiff springs
/// and dampers of any step. [Hairer 2006, implicit midpoint rule]
///
/// Newton's method on (v, x) at the middle; its matrix comes from differences of the equation, and
/// is kept while it converges.
template <Real T>
class ImplicitMidpoint final : public Integrator<T> {
 public:
  ImplicitMidpoint(const ConfigurationSpace<T>& space, int extra, const T& step);
  ~ImplicitMidpoint() override;

  void advance(Equation<T>& equation, State<T>& s, const T& t_end) override;
  /// The same step, shorter.
  void inside(const T& t, State<T>& s) override;

 private:
  struct Memory;
  void residual(Equation<T>& equation, const T& h);
  void differentiate(Equation<T>& equation, const T& h);
  bool solve(Equation<T>& equation, const T& h);
  void step(Equation<T>& equation, State<T>& s, const T& h);

  T step_;
  std::unique_ptr<Memory> memory_;
};

extern template class ImplicitMidpoint<double>;

}  // namespace limb
