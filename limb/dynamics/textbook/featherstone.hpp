#pragma once

#include "limb/dynamics/external.hpp"

/// Rigid-body algorithms in six dimensions as the book writes them: short, slow, readable. They
/// serve as oracles and for teaching; the fast ones are limb::rnea, crba, aba.
///
/// Rigid bodies only: no armature, damping or friction. All joint types and couplings; any scalar.
/// [Featherstone 2008, inverse and forward dynamics]
namespace limb::textbook::featherstone {

/// tau = M(q) a + C(q, v) v + g(q) - sum of J^T F.
template <typename T>
VectorX<T> rnea(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                WrenchesIn<T> external = {});

/// M(q), both triangles.
template <typename T>
MatrixX<T> crba(const Model<T>& model, VectorIn<T>& q);

/// a with rnea(q, v, a) = tau. The book's recursion walks independent joints; a robot with
/// couplings is solved by G^T M G instead.
/// @throws Error (computation failed) where a joint has nothing to move.
template <typename T>
VectorX<T> aba(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
               WrenchesIn<T> external = {});

}  // namespace limb::textbook::featherstone
