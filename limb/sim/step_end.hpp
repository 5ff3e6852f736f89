#pragma once

#include <string_view>

#include "limb/sim/equation.hpp"

/// What every integrator does at the ends of a step.
namespace limb {

/// Into a state of the same sizes, without allocation.
template <typename T>
void copy_state(const State<T>& from, State<T>& to) {
  to.t = from.t;
  to.q = from.q;
  to.v = from.v;
  to.x = from.x;
}

template <typename T>
struct NextStep {
  T h, t;  ///< length, and the time at its end
};

/// A step of the wished length, or a shorter one that ends at t_end. One that would leave less than
/// a millionth of a step ends there too, with its own length: times that are multiples of the step
/// do not feel the rounding of their differences.
template <typename T>
NextStep<T> next_step(const T& t, const T& step, const T& t_end) {
  const T left = t_end - t, slack = step * T(1e-6);
  if (left < step - slack) return {left, t_end};
  if (left < step + slack) return {step, t_end};
  return {step, t + step};
}

/// Whether no number of q and v is infinite or not a number: always, where that cannot be asked.
template <typename T>
bool is_finite(const State<T>& s) {
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
