#pragma once

#include <memory>
#include <string_view>

#include "limb/sim/configuration_space.hpp"

/// How a motion is followed through time. No step allocates.
namespace limb {

enum class Method {
  explicit_euler,       ///< order 1, the lecture's; gains energy
  semi_implicit_euler,  ///< order 1, the new velocity moves the position; cheap and robust
  runge_kutta_4,        ///< order 4 on the manifold
  implicit_midpoint,    ///< order 2, reversible in time, stable for stiff springs and dampers
  dormand_prince,       ///< order 5, its step follows the error that is allowed
  cvode,  ///< orders 1 to 5 by SUNDIALS, for stiff motions; its step follows the error, too
};

/// Whether its steps follow the error that is allowed.
constexpr bool is_adaptive(Method method) {
  return method == Method::dormand_prince || method == Method::cvode;
}

/// "semi-implicit-euler" and so on, as the command line spells them.
std::string_view to_text(Method method);
/// @throws Error that lists the known ones.
Method method_from_text(std::string_view call, std::string_view text);

/// Follows equations of motion from a state, step by step.
template <typename T>
class Integrator {
 public:
  virtual ~Integrator() = default;

  /// One step of `equation` from s, not beyond t_end. The state is then at t_end exactly, or
  /// before.
  /// @throws Error (computation failed) with the time, if the motion stops being finite or a step
  /// finds no solution; s is then what it was.
  virtual void advance(Equation<T>& equation, State<T>& s, const T& t_end) = 0;

  /// The state at a time inside the last step: between its begin and its end.
  virtual void inside(const T& t, State<T>& s) = 0;

  /// To be called when the equation has changed since the last step, for example by a new torque:
  /// nothing of that step is used again.
  virtual void forget() {}
};

template <typename T>
struct IntegratorOptions {
  T step = T(1e-3);  ///< s; adaptive methods: the largest one
  /// Adaptive methods: allowed error of one step. Positions count as absolute + relative (rad, m),
  /// velocities and all else as absolute + relative times their size.
  T absolute_tolerance = T(1e-9), relative_tolerance = T(1e-9);
};

/// @throws Error if a number of the options is not positive, or for cvode where limb was built
/// without SUNDIALS.
template <typename T>
std::unique_ptr<Integrator<T>> make_integrator(Method method, const ConfigurationSpace<T>& space,
                                               int extra, const IntegratorOptions<T>& options = {});

extern template std::unique_ptr<Integrator<double>> make_integrator(
    Method, const ConfigurationSpace<double>&, int, const IntegratorOptions<double>&);

}  // namespace limb
