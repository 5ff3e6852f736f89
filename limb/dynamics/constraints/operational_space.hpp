#pragma once

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/factor/factor_report.hpp"

namespace limb {

struct OperationalOptions {
  JointEffects effects = {};
  /// Relative: singular values of J M^-1/2 below this fraction of the largest one are damped. With
  /// s = threshold * largest (absolute, OperationalSpace::threshold), such a direction gets
  /// sigma^2 / s^4 instead of 1 / sigma^2: continuous at sigma = s, zero at sigma = 0.
  double threshold = 1e-3;
};

/// Operational-space dynamics of a task x with dx/dt = J v [Khatib 1987, operational space]:
///
///   F = Lambda d2x/dt2 + mu + rho,    tau = J^T F + N^T tau_0
///
/// Results of operational_space(); made once for a model and a number of rows.
template <typename T>
struct OperationalSpace {
  OperationalSpace(const Model<T>& model, int rows);

  MatrixX<T> Lambda;  ///< (J M^-1 J^T)^-1, rows x rows
  MatrixX<T> J_bar;   ///< M^-1 J^T Lambda: the dynamically consistent inverse of J
  MatrixX<T> N;       ///< 1 - J_bar J: null-space projector; N^T tau_0 does not accelerate the task
  VectorX<T> mu;      ///< velocity-dependent forces, joint friction included
  VectorX<T> rho;     ///< gravity forces

  /// Singular values of J M^-1/2 (1/sqrt(kg) for a point): mobility of the task.
  T smallest_singular_value = T(0), largest_singular_value = T(0);
  T threshold = T(0);  ///< absolute: directions of smaller singular values are damped
  int damped = 0;      ///< number of damped directions

  // For the algorithms of this module.
  MassFactor<T> factor;
  MatrixX<T> B, A, vectors;  ///< M^-1 J^T, J M^-1 J^T and its eigenvectors
  VectorX<T> h, g, scratch, task;
};

/// Operational-space dynamics of a task with Jacobian J and dJ_v = dJ/dt v at (q, v), any number of
/// rows. No allocation. O(n^2 m).
/// @returns as factorize_mass; if M is singular, every result is NaN.
/// @throws Error if a size is wrong.
template <Branching T>
FactorReport operational_space(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                               VectorIn<T>& v, MatrixIn<T>& J, VectorIn<T>& dJ_v,
                               OperationalSpace<T>& out, const OperationalOptions& options = {});

/// The same with active constraints [Sentis 2005, contact]: M^-1 becomes N_c M^-1, projected on the
/// accelerations that satisfy the constraints, and mu includes their drift. Directions of the task
/// that the constraints lock are damped like other singular directions.
template <Branching T>
FactorReport operational_space(const Model<T>& model, const ConstraintSet<T>& set,
                               ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                               MatrixIn<T>& J, VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                               const OperationalOptions& options = {});

}  // namespace limb
