#pragma once

#include "limb/estimate/filter/filter_state.hpp"

/// How the kernels of a filter store matrices (covariance_kernels.hpp).
namespace limb::kernel {

inline constexpr int kStride = 40;
static_assert(kStride >= kMaxErrors && kStride % 8 == 0);

/// Storage of columns for the kernels.
template <int Columns>
struct alignas(64) Padded {
  double numbers[kStride * Columns];
  double* column(int j) { return numbers + kStride * j; }
  const double* column(int j) const { return numbers + kStride * j; }
};

/// A step of the first nine errors of the core, and of feet that follow the rotation error.
/// Matrices have column stride 16, of which nine rows are used; the rest must be zero.
struct CoreStep {
  double E[16 * kCoreSize];    ///< the nine errors increase by E times the core
  double Q[16 * kCoreSize];    ///< covariance of the noise of the core
  double rotation_by_gyro[9];  ///< increase of the rotation error per gyroscope bias
  const double* W = nullptr;   ///< per foot, 3 x 3: its error increases by W times that; null: not
};

}  // namespace limb::kernel
