#pragma once

#include <vector>

#include "limb/dynamics/constraints/constraint_set.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/factor/semidefinite_solver.hpp"
#include "limb/dynamics/recursive/workspace_data.hpp"

namespace limb {

/// The arrays of a ConstraintWorkspace.
template <typename T>
struct ConstraintWorkspaceData {
  ConstraintWorkspaceData(const Model<T>& model, const ConstraintSet<T>& set);

  Workspace<T> tree;  ///< with open loops: the set closes them
  MassFactor<T> factor;

  // All in world axes.

  /// A body that supports constraints: constraint_kinematics_impl.hpp.
  struct BodyMotion {
    Matrix3<T> R = Matrix3<T>::Identity();
    Vector3<T> p = Vector3<T>::Zero();
    Vector3<T> w = p, wd = p, v = p, a = p;
  };
  VectorX<T> q, v, h, y;               ///< of the joints; bias; generalized forces
  std::vector<T> angle, cosine, sine;  ///< of the supporting joints; padded to a multiple of four
  std::vector<BodyMotion> bodies;
  Vector3<T> p_WO = Vector3<T>::Zero();
  std::vector<Motion<T>> S;     ///< of each joint velocity, at O
  std::vector<T> J, Y, Z;       ///< of each branch along its path: J^T, L^-T J^T, D^-1 L^-T J^T
  std::vector<Matrix3<T>> R_W;  ///< axes of each constraint
  VectorX<T> velocity;          ///< J v
  VectorX<T> drift;             ///< Jdot v - a*
  VectorX<T> rhs, force;
  MatrixX<T> dense;  ///< J, in the axes of the constraints
  MatrixX<T> A;      ///< Delassus matrix J M^-1 J^T, upper triangle
  kernel::SemidefiniteSolver<T> solve;
};

}  // namespace limb
