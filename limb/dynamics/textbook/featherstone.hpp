#pragma once

#include "limb/dynamics/recursive/external.hpp"

/// Spatial-vector algorithms as written in the book: short, slow, readable. Test oracles and
/// teaching code; the fast ones are limb::rnea, crba, aba.
///
/// Rigid bodies only: no armature, damping or friction. All joint types and couplings; any scalar.
/// They allocate; each throws Error for a wrong size or a wrench with an invalid frame.
/// [Featherstone 2008, inverse and forward dynamics]
namespace limb::textbook::featherstone {

/// tau = M(q) a + C(q, v) v + g(q) - sum of J^T F. O(n).
template <typename T>
VectorX<T> rnea(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                WrenchesIn<T> external = {});

/// M(q), both triangles. O(n d) for depth d.
template <typename T>
MatrixX<T> crba(const Model<T>& model, VectorIn<T>& q);

/// a with rnea(q, v, a) = tau. O(n). The book's recursion is for independent joints; a robot with
/// couplings is solved with G^T M G instead.
/// @throws Error (computation failed) where a joint has no inertia to move.
template <typename T>
VectorX<T> aba(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
               WrenchesIn<T> external = {});

}  // namespace limb::textbook::featherstone
