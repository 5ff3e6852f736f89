#pragma once

#include "limb/dynamics/external.hpp"

/// Newton-Euler in vectors of three: velocities and accelerations outward, forces and moments
/// inward, for trees and all joint types. Short, slow, readable; oracle and for teaching.
/// [Craig 2005, iterative Newton-Euler dynamics]
namespace limb::textbook::craig {

/// tau = M(q) a + C(q, v) v + g(q) - sum of J^T F; rigid bodies only. It divides by nothing.
template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                            WrenchesIn<T> external = {});

}  // namespace limb::textbook::craig
