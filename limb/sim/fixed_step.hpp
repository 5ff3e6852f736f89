#pragma once

#include "limb/sim/integrator.hpp"

namespace limb {

/// Steps of one length by the methods without iteration: both Eulers and Runge-Kutta's of order 4.
/// The same run gives the same bits on one machine. For any scalar: what can be differentiated is
/// then the motion.
template <typename T>
class FixedStep final : public Integrator<T> {
 public:
  /// @throws Error for a method that is none of these, or a step that is not positive.
  FixedStep(Method method, const ConfigurationSpace<T>& space, int extra, const T& step);
  ~FixedStep() override;

  void advance(Equation<T>& equation, State<T>& s, const T& t_end) override;
  /// The same step, shorter.
  void inside(const T& t, State<T>& s) override;

 private:
  struct Memory;
  void step(Equation<T>& equation, State<T>& s, const T& h);

  Method method_;
  T step_;
  std::unique_ptr<Memory> memory_;
};

extern template class FixedStep<double>;

}  // namespace limb
