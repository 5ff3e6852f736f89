#pragma once

#include "limb/sim/integrator.hpp"

namespace limb {

/// Order 5 with an estimate of the error by order 4, and the state at any time inside a step to
/// order 4. [Dormand 1980, pair 5(4)], [Hairer 1993, dense output]
///
/// Steps grow and shrink so that the error of each, in the tangent at its begin, stays below the
/// tolerances; a step that does not is taken again.
template <Real T>
class DormandPrince final : public Integrator<T> {
 public:
  DormandPrince(const ConfigurationSpace<T>& space, int extra, const IntegratorOptions<T>& options);
  ~DormandPrince() override;

  void advance(Equation<T>& equation, State<T>& s, const T& t_end) override;
  void inside(const T& t, State<T>& s) override;
  void forget() override;

  /// Since it was made: steps that were kept, steps that were taken again.
  long accepted() const { return accepted_; }
  long rejected() const { return rejected_; }

 private:
  struct Memory;
  T first_step() const;
  T error_of(const T& h);

  IntegratorOptions<T> options_;
  std::unique_ptr<Memory> memory_;
  long accepted_ = 0, rejected_ = 0;
};

extern template class DormandPrince<double>;

}  // namespace limb
