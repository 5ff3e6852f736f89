#pragma once

#include "limb/math/spatial.hpp"

namespace limb::axis_derivatives_detail {

/// The axis S of one joint velocity and its derivatives with the motion of the parent:
/// axis_derivatives_impl.hpp.
template <typename T>
struct AxisDerivatives {
  Motion<T> S, psi_dot, psi_ddot, psi_s_dot;
};

}  // namespace limb::axis_derivatives_detail
