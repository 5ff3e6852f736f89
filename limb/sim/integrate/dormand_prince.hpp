#pragma once

#include "limb/sim/integrate/integrator.hpp"

namespace limb {

/// Order 5 with an embedded error estimate of order 4, and dense output of order 4. [Dormand 1980,
/// pair 5(4)], [Hairer 1993, dense output]
///
/// The step length is adapted so that the error of each step, in the tangent space at its start,
/// stays below the tolerances; other steps are rejected and repeated.
template <Real T>
class DormandPrince final : public Integrator<T> {
 public:
  DormandPrince(const ConfigurationSpace<T>& space, int extra, const IntegratorOptions<T>& options);
  ~DormandPrince() override;

  void advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) override;
  void state_at(const T& t, RobotState<T>& s) override;
  void reset() override;

  /// Steps accepted and rejected since construction.
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
