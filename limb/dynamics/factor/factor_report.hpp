#pragma once

#include "limb/base/status.hpp"

namespace limb {

/// Outcome of a computation that factors the mass matrix. With Status::singular every result of the
/// computation is NaN.
struct FactorReport {
  Status status = Status::ok;  ///< ok or singular
  int velocity = -1;           ///< if singular, the degree of freedom that no inertia opposes

  bool ok() const { return status == Status::ok; }

  // Internal: from the index of a vanishing pivot, or -1.
  static FactorReport from_pivot(int velocity) {
    return {velocity < 0 ? Status::ok : Status::singular, velocity};
  }
};

}  // namespace limb
