#pragma once

#include <string_view>

namespace limb {

/// Outcome of a computation that can fail by its nature, for correct arguments. Wrong arguments
/// throw Error instead, except in control loops, where nothing throws.
enum class Status {
  ok,
  singular,           ///< a matrix that must be inverted is singular
  not_finite,         ///< an input or a result is NaN or infinite
  wrong_size,         ///< a vector does not have the size that the robot or task requires
  unreachable,        ///< a goal is provably farther away than the reach of the robot
  local_minimum,      ///< no small change reduces the error; another start may succeed
  no_progress,        ///< steps became too small, but this is not a local minimum
  iteration_limit,    ///< stopped before convergence
  primal_infeasible,  ///< no point satisfies the constraints
  dual_infeasible,    ///< the cost is unbounded below
  rejected,           ///< an input is late, implausible or contradicts the state: not used
  not_ready,          ///< more data are needed before there is a result
};

/// The name in words: "ok", "local minimum", ...
std::string_view to_text(Status status);

}  // namespace limb
