#pragma once

namespace limb {

/// The larger one, NaN if one of them is. For reported errors: std::max drops a NaN that comes
/// second.
inline double max_or_nan(double a, double b) {
  return a < b || b != b ? b : a;
}

}  // namespace limb
