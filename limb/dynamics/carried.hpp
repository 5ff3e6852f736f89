#pragma once

#include "limb/math/spatial.hpp"

namespace limb::carried_detail {

/// The axis of one joint velocity, and what derivatives need of the motion that carries it:
/// carried_impl.hpp.
template <typename T>
struct Axis {
  Motion<T> S, rate, bend, sum;
};

}  // namespace limb::carried_detail
