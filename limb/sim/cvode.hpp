#pragma once

#include "limb/sim/integrator.hpp"

namespace limb {

/// Backward differences of order 1 to 5 with error control, by CVODE of SUNDIALS: for stiff
/// motions, whose steps an explicit method would have to keep far below what accuracy asks for.
/// [Hindmarsh 2005, CVODE]
///
/// A run of steps has one origin q0; positions are q0 moved by a tangent u with du/dt =
/// ConfigurationSpace::rate, so that u, v and x are plain vectors. A new run begins at order 1
/// where a joint has turned far from there, where the equation has changed, and where the state
/// comes back elsewhere than it was left, by more than ten times the tolerances: closing loops
/// moves it less.
class Cvode final : public Integrator<double> {
 public:
  /// @throws Error if limb was built without SUNDIALS, or a number of the options is not positive.
  Cvode(const ConfigurationSpace<double>& space, int extra,
        const IntegratorOptions<double>& options);
  ~Cvode() override;
  Cvode(const Cvode&) = delete;
  Cvode& operator=(const Cvode&) = delete;

  /// Whether limb was built with SUNDIALS.
  static bool is_available();

  void advance(Equation<double>& equation, State<double>& s, const double& t_end) override;
  void inside(const double& t, State<double>& s) override;
  void forget() override;

  /// Since it was made: evaluations of the equation, with those of its Jacobian.
  long evaluations() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace limb
