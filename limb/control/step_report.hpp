#pragma once

#include "limb/base/status.hpp"

namespace limb {

/// Result of one step of a controller. Steps run in control loops: they do not allocate, lock or
/// throw.
struct StepReport {
  /// ok, wrong_size, not_finite or singular (the mass matrix); unless ok, all torques are zero.
  Status status = Status::ok;
  int saturated = 0;  ///< number of torques clamped to the limits of their motors

  bool ok() const { return status == Status::ok; }
};

}  // namespace limb
