#pragma once

#include <string_view>

#include "limb/sim/integrate/equation.hpp"

/// Functions common to the integrators: start and end of a step.
namespace limb {

/// Copies into a state of the same sizes, without allocation.
template <typename T>
void copy_state(const RobotState<T>& from, RobotState<T>& to) {
  to.t = from.t;
  to.q = from.q;
  to.v = from.v;
  to.x = from.x;
}

template <typename T>
struct NextStep {
  T h, t;  ///< length, and the time at its end
};

/// A step of the given length, or a shorter one that ends at t_end. If less than a millionth of a
/// step would remain, it ends at t_end too, with the full length: times that are multiples of the
/// step are unaffected by rounding of their differences.
template <typename T>
NextStep<T> next_step(const T& t, const T& step, const T& t_end) {
  const T left = t_end - t, slack = step * T(1e-6);
  if (left < step - slack) return {left, t_end};
  if (left < step + slack) return {step, t_end};
  return {step, t + step};
}

/// Whether q, v and x are finite; true for scalars without that test.
template <typename T>
bool is_finite(const RobotState<T>& s) {
  if constexpr (Real<T>) {
    return std::isfinite(s.q.sum()) && std::isfinite(s.v.sum()) && std::isfinite(s.x.sum());
  }
  return true;
}

/// @throws Error "call: after t = 1.25 s REASON" of kind computation_failed.
[[noreturn]] void fail_step(std::string_view call, double t, std::string_view reason);
/// @throws Error "call: after t = 1.25 s the motion is not finite (...)".
[[noreturn]] void fail_motion(std::string_view call, double t);
template <typename T>
[[noreturn]] void fail_motion(std::string_view call, const T&) {
  fail_motion(call, std::nan(""));
}

}  // namespace limb
