#pragma once

#include <memory>
#include <string_view>

#include "limb/sim/integrate/configuration_space.hpp"

/// Integration of motions. No step allocates.
namespace limb {

enum class IntegrationMethod {
  explicit_euler,       ///< order 1; gains energy
  semi_implicit_euler,  ///< order 1, the new velocity moves the position; cheap and robust
  runge_kutta_4,        ///< order 4 on the manifold
  implicit_midpoint,    ///< order 2, reversible in time, stable for stiff springs and dampers
  dormand_prince,       ///< order 5, adaptive step
  cvode,                ///< orders 1 to 5 by SUNDIALS, adaptive step, for stiff motions
};

/// Whether the step length is controlled by an error estimate.
constexpr bool is_adaptive(IntegrationMethod method) {
  return method == IntegrationMethod::dormand_prince || method == IntegrationMethod::cvode;
}

/// "semi-implicit-euler" and so on, as on the command line.
std::string_view to_text(IntegrationMethod method);
/// @throws Error that lists the methods.
IntegrationMethod method_from_text(std::string_view call, std::string_view text);

/// Integrates an equation of motion step by step.
template <typename T>
class Integrator {
 public:
  virtual ~Integrator() = default;

  /// One step of `equation` from s, not beyond t_end: ends at t_end exactly, or before.
  /// @throws Error (computation failed) with the time, if the motion is not finite or a step has no
  /// solution; s is then unchanged.
  virtual void advance(Equation<T>& equation, RobotState<T>& s, const T& t_end) = 0;

  /// The state at a time t within the last step.
  virtual void state_at(const T& t, RobotState<T>& s) = 0;

  /// To be called when the equation has changed since the last step, for example by a new torque:
  /// discards all data of that step.
  virtual void reset() {}
};

template <typename T>
struct IntegratorOptions {
  T step = T(1e-3);  ///< s; adaptive methods: the largest one
  /// Adaptive methods: allowed error per step: absolute + relative for positions (rad, m),
  /// absolute + relative times the magnitude for all other states.
  T absolute_tolerance = T(1e-9), relative_tolerance = T(1e-9);
};

/// @param extra  number of states x of the equation besides q and v.
/// @throws Error if an option is not positive, or for cvode if limb was built without SUNDIALS.
template <typename T>
std::unique_ptr<Integrator<T>> make_integrator(IntegrationMethod method,
                                               const ConfigurationSpace<T>& space, int extra,
                                               const IntegratorOptions<T>& options = {});

extern template std::unique_ptr<Integrator<double>> make_integrator(
    IntegrationMethod, const ConfigurationSpace<double>&, int, const IntegratorOptions<double>&);

}  // namespace limb
