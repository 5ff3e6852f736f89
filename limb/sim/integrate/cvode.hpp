#pragma once

#include "limb/sim/integrate/integrator.hpp"

namespace limb {

/// Backward differentiation formulas (BDF) of order 1 to 5 with error control, by CVODE of
/// SUNDIALS: for stiff motions, for which stability forces explicit methods to far shorter steps
/// than accuracy requires. [Hindmarsh 2005, CVODE]
///
/// A sequence of steps has one origin q0; positions are q0 moved by a tangent u with du/dt =
/// ConfigurationSpace::rate, so that u, v and x are vectors. CVODE restarts at order 1 when a joint
/// has rotated far from the origin, when the equation has changed, and when the given state differs
/// from the end of the last step by more than ten times the tolerances (projection onto closed
/// loops changes it less).
class Cvode final : public Integrator<double> {
 public:
  /// @throws Error if limb was built without SUNDIALS, or an option is not positive.
  Cvode(const ConfigurationSpace<double>& space, int extra,
        const IntegratorOptions<double>& options);
  ~Cvode() override;
  Cvode(const Cvode&) = delete;
  Cvode& operator=(const Cvode&) = delete;

  /// Whether limb was built with SUNDIALS.
  static bool is_available();

  void advance(Equation<double>& equation, RobotState<double>& s, const double& t_end) override;
  void state_at(const double& t, RobotState<double>& s) override;
  void reset() override;

  /// Evaluations of the equation since construction, including those for its Jacobian.
  long evaluations() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace limb
