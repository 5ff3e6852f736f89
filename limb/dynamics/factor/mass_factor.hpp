#pragma once

#include "limb/dynamics/factor/factor_report.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {
namespace kernel {
template <typename T>
struct PackedFactor;
}

/// The mass matrix factored as M = L^T D L; L has nonzero entries only for pairs of ancestor and
/// descendant in the kinematic tree [Featherstone 2005, branch sparsity]. Couplings mix the
/// branches: the factor of a coupled robot is dense, used in the same way. Make it once per model;
/// nothing allocates afterwards.
template <typename T>
class MassFactor {
 public:
  explicit MassFactor(const Model<T>& model);

  int size() const { return static_cast<int>(M_buffer_.rows()); }
  /// Whether a nonsingular mass matrix has been factored.
  bool is_ready() const { return ready_; }

  // Internal: for the algorithms of this module, which include packed_factor.hpp.
  const kernel::PackedFactor<T>& packed() const { return *packed_; }
  kernel::PackedFactor<T>& packed() { return *packed_; }
  MatrixX<T>& M_buffer() { return M_buffer_; }
  void set_ready(bool ready) { ready_ = ready; }

 private:
  CopyablePtr<kernel::PackedFactor<T>> packed_;
  MatrixX<T> M_buffer_;  ///< for the mass matrix
  bool ready_ = false;
};

/// Factors a mass matrix (both triangles, as from crba) of the model that the factor was made for.
/// O(n d^2), d the depth of the tree. @returns singular, if M is, with a velocity without inertia
/// once those after it are eliminated.
/// @throws Error if M has the wrong size.
template <typename T>
FactorReport factorize_mass(const Model<T>& model, MatrixIn<T>& M, MassFactor<T>& factor);

/// The same for M(q).
template <typename T>
FactorReport factorize_mass(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                            MassFactor<T>& factor, const JointEffects& effects = {});

/// x = M^-1 b. x may be b. O(n d).
/// @throws Error if a size is wrong or no nonsingular matrix has been factored.
template <typename T>
void solve_mass(const MassFactor<T>& factor, VectorIn<T>& b, VectorOut<T> x);

/// X = M^-1 B, column by column. X may be B.
template <typename T>
void solve_mass_columns(const MassFactor<T>& factor, MatrixIn<T>& B, MatrixOut<T> X);

/// M(q)^-1, both triangles, from the factor. O(n^2 d). @returns as factorize_mass; if singular,
/// every entry is NaN.
template <typename T>
FactorReport mass_inverse(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                          MassFactor<T>& factor, MatrixOut<T> M_inverse,
                          const JointEffects& effects = {});

}  // namespace limb
