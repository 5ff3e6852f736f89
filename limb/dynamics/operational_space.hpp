#pragma once

#include "limb/dynamics/constrained.hpp"

namespace limb {

struct OperationalOptions {
  JointEffects effects = {};
  /// Singular values of J M^-1/2 below this part of the largest are damped: such a direction gets
  /// sigma^2 / threshold^4 instead of 1 / sigma^2, continuous at the threshold, zero at sigma = 0.
  double threshold = 1e-3;
};

/// The dynamics that a task x with dx/dt = J v feels [Khatib 1987, operational space]:
///
///   F = Lambda d2x/dt2 + mu + rho,    tau = J^T F + N^T tau_0
///
/// Results of operational_space(); made once for a model and a number of rows.
template <typename T>
struct OperationalSpace {
  OperationalSpace(const Model<T>& model, int rows);

  MatrixX<T> Lambda;  ///< (J M^-1 J^T)^-1, rows x rows
  MatrixX<T> J_bar;   ///< M^-1 J^T Lambda: the inverse of J of least kinetic energy
  MatrixX<T> N;    ///< 1 - J_bar J: velocities that the task does not see; N^T tau_0 moves it not
  VectorX<T> mu;   ///< forces of the velocities, friction of the joints included
  VectorX<T> rho;  ///< forces of gravity

  /// Singular values of J M^-1/2 (1/sqrt(kg) for a point): how easily the task is moved.
  T smallest_singular_value = T(0), largest_singular_value = T(0);
  T threshold = T(0);  ///< below it a direction is damped
  int damped = 0;      ///< how many are

  // For the algorithms of this room.
  MassFactor<T> factor;
  MatrixX<T> B, A, vectors;  ///< M^-1 J^T, J M^-1 J^T and its directions
  VectorX<T> h, g, room, task;
};

/// Of a task with Jacobian J and dJ_v = dJ/dt v at (q, v), any number of rows. No allocation.
/// O(n^2 m). @returns -1, or as factorize_mass, with every result NaN.
/// @throws Error if a size is wrong.
template <Branching T>
int operational_space(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                      MatrixIn<T>& J, VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                      const OperationalOptions& options = {});

/// The same with constraints that hold [Sentis 2005, contact]: M^-1 becomes N_c M^-1,
/// the accelerations that the constraints leave, and mu includes what they cause themselves.
/// Directions of the task that they lock are damped like others that nothing can move.
template <Branching T>
int operational_space(const Model<T>& model, const ConstraintSet<T>& set,
                      ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, MatrixIn<T>& J,
                      VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                      const OperationalOptions& options = {});

}  // namespace limb
