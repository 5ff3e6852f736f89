#pragma once

#include "limb/dynamics/recursive/external.hpp"

/// Newton-Euler with three-vectors: velocities and accelerations in a forward (outward) pass,
/// forces and moments in a backward (inward) pass, for trees and all joint types. Short, slow,
/// readable: test oracle and teaching code. [Craig 2005, iterative Newton-Euler dynamics]
namespace limb::textbook::craig {

/// tau = M(q) a + C(q, v) v + g(q) - sum of J^T F; rigid bodies only. No divisions. O(n);
/// allocates.
/// @throws Error for a wrong size or a wrench with an invalid frame.
template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                            WrenchesIn<T> external = {});

}  // namespace limb::textbook::craig
