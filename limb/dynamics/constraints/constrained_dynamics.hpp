#pragma once

#include "limb/dynamics/constraints/constraint_set.hpp"
#include "limb/dynamics/factor/factor_report.hpp"
#include "limb/dynamics/recursive/external.hpp"

/// Dynamics of a robot with given contacts and closed loops. No allocation; each function throws
/// Error if a size is wrong, before anything is computed.
/// Derivation: docs/derivations/constrained.md.
namespace limb {

struct ConstrainedOptions {
  JointEffects effects = {};
  /// Rows whose pivot in J M^-1 J^T is smaller than this fraction of the largest diagonal entry of
  /// their point or rotation (three rows) count as dependent: the contacts are redundant, and the
  /// equivalent forces of least norm are returned.
  double rank_tolerance = 1e-11;
  /// Added to the diagonal of J M^-1 J^T: acceleration of a contact per newton of its force (1/kg;
  /// 1/(kg m^2) in rows of moments). Zero: rigid contacts.
  double compliance = 0;
};

template <typename T>
struct ConstrainedReport {
  Status status = Status::ok;  ///< ok or singular: then all results are NaN
  int velocity = -1;           ///< if singular, the degree of freedom that no inertia opposes
  int rows = 0;                ///< of the active constraints
  int rank = 0;                ///< number of independent rows
  T residual = T(0);           ///< norm of the residual of the equations of the call

  bool ok() const { return status == Status::ok; }
  FactorReport factor() const { return {status, velocity}; }
};

/// J and drift = Jdot v - a* of the active constraints, rows as in the set.
template <typename T>
void constraint_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                         MatrixOut<T> J, VectorOut<T> drift);

/// Accelerations a and constraint forces f with
///
///   M a + h = tau + J^T f,    J a + Jdot v = a*
///
/// a* is the target acceleration of the constraints, zero by default. Uses M = L^T D L and only the
/// columns of each constraint's branch; O(n d^2 + m^3). Redundant rows: the f of least norm among
/// the least-squares solutions, which is unique.
/// @param tau  on all velocities; zero where there is no motor.
/// @param f    set.rows() numbers: force (and moment) of each contact in its axes.
/// @returns with residual |J a + Jdot v - a*|: rounding, unless targets contradict each other.
template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options = {});

/// The same with external wrenches on frames.
template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, const ConstrainedOptions& options = {});

/// Torques of the motors and constraint forces with M a + h = S^T tau + J^T f for a given a.
///
/// f is the least-norm, least-squares solution of the unactuated rows, and tau follows from the
/// actuated rows. Without unactuated velocities f is zero.
/// @param tau  on all velocities; zero where there is no motor.
/// @returns with the rank of J on the unactuated velocities, and residual, the force that remains
/// on them: larger than rounding if a is impossible.
template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& a, VectorOut<T> tau,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options = {});

/// The same with external wrenches on frames.
template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau,
    VectorOut<T> f, const ConstrainedOptions& options = {});

/// Velocities after a simultaneous impact on all active constraints, and its impulses:
///
///   M (v_after - v) = J^T impulse,    J v_after = -E J v
///
/// @param restitution  diagonal of E, each from 0 to 1: a number per row, or one for all.
/// @returns with residual |J v_after + E J v|.
template <typename T>
ConstrainedReport<T> impact(const Model<T>& model, const ConstraintSet<T>& set,
                            ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                            VectorIn<T>& restitution, VectorOut<T> v_after, VectorOut<T> impulse,
                            const ConstrainedOptions& options = {});

}  // namespace limb
