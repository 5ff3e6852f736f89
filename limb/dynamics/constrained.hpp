#pragma once

#include "limb/dynamics/constraint_set.hpp"
#include "limb/dynamics/external.hpp"

/// Dynamics of a robot whose contacts and closed loops are given. No allocation; each throws Error
/// if a size is wrong, before anything is computed. Derivation: docs/derivations/constrained.md.
namespace limb {

struct ConstrainedOptions {
  JointEffects effects = {};
  /// Rows whose pivot in J M^-1 J^T is smaller than this part of their diagonal entry depend on
  /// others: contacts are redundant, and of all forces that do the same the smallest are returned.
  double rank_tolerance = 1e-11;
  /// Added to the diagonal of J M^-1 J^T: contacts give way by so much acceleration a newton (1/kg;
  /// 1/(kg m^2) in rows of moments). Zero: they do not.
  double compliance = 0;
};

template <typename T>
struct ConstrainedReport {
  int singular = -1;  ///< a velocity that no inertia opposes; then all results are NaN
  int rows = 0;       ///< of the active constraints
  int rank = 0;       ///< how many of them are independent
  T residual = T(0);  ///< length of what the equations of the call leave over
};

/// J and Jdot v - a* of the active constraints, rows as in the set.
template <typename T>
void constraint_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                         MatrixOut<T> J, VectorOut<T> drift);

/// Accelerations a and constraint forces f with
///
///   M a + h = tau + J^T f,    J a + Jdot v = a*
///
/// a* is what the constraints want: rest, unless they say otherwise. By M = L^T D L and the columns
/// of each constraint's own branch; O(n d^2 + m^3). Redundant rows: the shortest f among those that
/// come nearest to a*, which has only one solution.
/// @param tau  on all velocities; zero where there is no motor.
/// @param f    set.rows() numbers: force (and moment) of each contact in its axes.
/// @returns with residual |J a + Jdot v - a*|: rounding, unless wishes contradict each other.
template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options = {});

/// The same with wrenches that the environment exerts on frames besides.
template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, const ConstrainedOptions& options = {});

/// Torques of the motors and constraint forces with M a + h = S^T tau + J^T f for a given a.
///
/// Motors do what they can: f is the shortest that carries the velocities without a motor as well
/// as possible (least squares), tau the rest. Without such velocities f is zero.
/// @param tau  on all velocities; zero where there is no motor.
/// @returns with rank of J on the velocities without a motor, and residual, the force that
/// remains on them: not rounding if a is impossible.
template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& a, VectorOut<T> tau,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options = {});

/// The same against wrenches that the environment exerts on frames besides.
template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau,
    VectorOut<T> f, const ConstrainedOptions& options = {});

/// Velocities after an impact on all active constraints at once, and its impulses:
///
///   M (v_after - v) = J^T impulse,    J v_after = -E J v
///
/// @param restitution  diagonal of E, each of 0 to 1: a number for each row, or one for all.
/// @returns with residual |J v_after + E J v|.
template <typename T>
ConstrainedReport<T> impact(const Model<T>& model, const ConstraintSet<T>& set,
                            ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                            VectorIn<T>& restitution, VectorOut<T> v_after, VectorOut<T> impulse,
                            const ConstrainedOptions& options = {});

}  // namespace limb
