#pragma once

#include "limb/dynamics/packed_factor.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

/// The mass matrix as M = L^T D L, with no more entries in L than the tree of joints has pairs of
/// ancestor and descendant [Featherstone 2005, branch sparsity]. Joints that follow others mix the
/// branches: the factor of a coupled robot is dense, its use the same. Make it once for a model;
/// nothing allocates afterwards.
template <typename T>
class MassFactor {
 public:
  explicit MassFactor(const Model<T>& model);

  int size() const { return static_cast<int>(packed_.D.size()); }
  /// Whether a mass matrix has been factored, and was not singular.
  bool is_ready() const { return ready_; }

  // For the algorithms of this room.
  const kernel::PackedFactor<T>& packed() const { return packed_; }
  kernel::PackedFactor<T>& packed() { return packed_; }
  MatrixX<T>& room() { return room_; }
  void set_ready(bool ready) { ready_ = ready; }

 private:
  kernel::PackedFactor<T> packed_;
  MatrixX<T> room_;  ///< for the mass matrix itself
  bool ready_ = false;
};

/// Factors a mass matrix of the model that the factor was made for (crba's; both triangles). O(n
/// d^2), d the depth of the tree. @returns -1; or, if M is singular, the index of a velocity that
/// no inertia opposes once those after it have given way.
/// @throws Error if M has the wrong size.
template <typename T>
int factorize_mass(const Model<T>& model, MatrixIn<T>& M, MassFactor<T>& factor);

/// The same for M(q).
template <typename T>
int factorize_mass(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MassFactor<T>& factor,
                   const JointEffects& effects = {});

/// x = M^-1 b. x may be b. O(n d).
/// @throws Error if a size is wrong or the factor holds no regular matrix.
template <typename T>
void solve_mass(const MassFactor<T>& factor, VectorIn<T>& b, VectorOut<T> x);

/// X = M^-1 B, column by column. X may be B.
template <typename T>
void solve_mass_columns(const MassFactor<T>& factor, MatrixIn<T>& B, MatrixOut<T> X);

/// M(q)^-1, both triangles, by way of the factor. O(n^2 d). @returns as factorize_mass; if not -1,
/// every entry is NaN.
template <typename T>
int mass_inverse(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MassFactor<T>& factor,
                 MatrixOut<T> M_inverse, const JointEffects& effects = {});

}  // namespace limb
