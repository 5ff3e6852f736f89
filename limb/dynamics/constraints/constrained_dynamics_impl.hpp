#pragma once

#include <limits>

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/constraints/constraint_rows_impl.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

// Symbols, with M = L^T D L (mass_factor.hpp):
//   J       rows of the active constraints, world axes
//   Y, Z    L^-T J^T, D^-1 L^-T J^T
//   A       J M^-1 J^T = Z^T Y, the Delassus matrix
//   drift   Jdot v - a*
namespace limb {
namespace constraint_detail {

template <typename T>
void check_set(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
               const ConstraintWorkspaceData<T>& work) {
  if (set.nv() != model.nv()) {
    fail(call, "set", "of a model with " + std::to_string(set.nv()) + " velocities",
         std::to_string(model.nv()), "make it from the same model");
  }
  if (work.velocity.size() != set.max_rows() || work.h.size() != model.nv() ||
      static_cast<int>(work.J.size()) != set.column_size()) {
    fail(call, "work", "of another model or set", "one made from these");
  }
}

template <typename T>
void check_rows(const char* call, const char* argument, const ConstraintSet<T>& set,
                VectorIn<T>& x) {
  if (x.size() != set.rows()) {
    check_size(call, argument, x.size(), set.rows(), "one for each active row");
  }
}

template <typename T>
T length(const T* x, int n) {
  using std::sqrt;
  T sum = T(0);
  for (int i = 0; i < n; ++i) sum = sum + x[i] * x[i];
  return sqrt(sum);
}

template <typename T>
ConstrainedReport<T> fail_singular(const FactorReport& factor, int rows, VectorOut<T>& x,
                                   VectorOut<T>& f) {
  x.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
  f.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
  return {factor.status, factor.velocity, rows, 0, T(std::numeric_limits<double>::quiet_NaN())};
}

/// Assembles and factorizes the Delassus matrix A of the rows in work. @returns the rank.
template <typename T>
int factorize_delassus(const ConstraintSet<T>& set, ConstraintWorkspaceData<T>& work,
                       const ConstrainedOptions& options) {
  assemble_delassus(set, work);
  const int rows = set.rows();
  for (int r = 0; r < rows; ++r) work.A(r, r) += T(options.compliance);
  return work.solve.factorize(work.A, rows, T(options.rank_tolerance), set.row_groups());
}

/// Constrained response to generalized forces x with constraint drift c, once A is factorized: x
/// becomes the accelerations, c the constraint forces, world axes. x and c must not be work.rhs.
template <typename T>
void solve_constrained(const ConstraintSet<T>& set, ConstraintWorkspaceData<T>& work, T* x, T* c) {
  // With y = L^-T (x + J^T f), a = L^-1 D^-1 y; J a needs only D^-1 L^-T J^T.
  const auto& F = work.factor.packed();
  const int n = static_cast<int>(work.h.size()), rows = set.rows();
  kernel::solve_transposed(F, n, x);
  add_rows(set, F, work.Z, x, c);
  for (int r = 0; r < rows; ++r) work.rhs[r] = -c[r];
  work.solve.solve(work.rhs.data(), c);
  add_columns(set, F, work.Y, c, x);
  for (int i = 0; i < n; ++i) x[i] = x[i] * F.inverse[i];
  kernel::solve_forward(F, n, x);
}

/// `from` is the input, `to` the output: torques and accelerations, or the reverse.
template <typename T>
void check_arguments(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                     const ConstraintWorkspaceData<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     const char* from_name, VectorIn<T>& from, const char* to_name,
                     const VectorOut<T>& to, const VectorOut<T>& f) {
  check_set(call, model, set, work);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
  check_velocity(call, from_name, model, from);
  check_velocity<T>(call, to_name, model, to);
  check_rows<T>(call, "f", set, f);
}

/// Expects the bias, external wrenches included, in work.h; computes the constraint rows.
template <typename T>
ConstrainedReport<T> forward_dynamics(const Model<T>& model, const ConstraintSet<T>& set,
                                      ConstraintWorkspaceData<T>& work, VectorIn<T>& q,
                                      VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T>& a,
                                      VectorOut<T>& f, const ConstrainedOptions& options) {
  const int n = model.nv(), rows = set.rows();
  const FactorReport factor = factorize_mass<T>(model, work.tree, q, work.factor, options.effects);
  if (!factor.ok()) return fail_singular<T>(factor, rows, a, f);
  compute_rows(model, set, q.data(), v.data(), work);

  const int rank = factorize_delassus(set, work, options);
  for (int i = 0; i < n; ++i) work.y[i] = tau[i] - work.h[i];
  for (int r = 0; r < rows; ++r) work.force[r] = work.drift[r];
  solve_constrained(set, work, work.y.data(), work.force.data());

  a = work.y;
  for (int r = 0; r < rows; ++r) {
    f[r] = work.force[r];
    work.rhs[r] = work.drift[r];
  }
  rotate_rows(set, work, RowAxes::constraint, f.data());
  add_rows(set, work.factor.packed(), work.J, a.data(), work.rhs.data());
  return {Status::ok, -1, rows, rank, length(work.rhs.data(), rows)};
}

/// constraint_jacobian without checks.
template <typename T>
void jacobian(const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspaceData<T>& work,
              VectorIn<T>& q, VectorIn<T>& v, MatrixOut<T> J, VectorOut<T> drift) {
  compute_rows(model, set, q.data(), v.data(), work);
  J.setConstant(T(0));
  const auto& F = work.factor.packed();
  for_each_branch(set, [&](const auto& item, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    for (int m = 0; m < branch.length; ++m) {
      const int column = F.path_of(branch.leaf)[m];
      for (int r = 0; r < item.rows; ++r) {
        J(item.first_row + r, column) += branch.sign * work.J[set.at(branch.start + m * lanes + r)];
      }
    }
  });
  for (int c = 0; c < model.nv(); ++c) {
    rotate_rows(set, work, RowAxes::constraint, J.data() + c * J.outerStride());
  }
  for (int r = 0; r < set.rows(); ++r) drift[r] = work.drift[r];
  rotate_rows(set, work, RowAxes::constraint, drift.data());
}

/// Expects M a + h, external wrenches included, in work.h.
template <typename T>
ConstrainedReport<T> inverse_dynamics(const Model<T>& model, const ConstraintSet<T>& set,
                                      ConstraintWorkspaceData<T>& work, VectorIn<T>& q,
                                      VectorIn<T>& v, VectorOut<T>& tau, VectorOut<T>& f,
                                      const ConstrainedOptions& options) {
  const int rows = set.rows(), n = model.nv();
  jacobian<T>(model, set, work, q, v, work.dense.topRows(rows), work.drift.head(rows));

  // X = J^T on the unactuated velocities u: f = X^T (X X^T)^+ (M a + h)_u.
  int without = 0;
  for (int i = 0; i < n; ++i) {
    if (set.has_motor(i)) continue;
    int other = 0;
    for (int k = 0; k <= i; ++k) {
      if (set.has_motor(k)) continue;
      T sum = T(0);
      for (int r = 0; r < rows; ++r) sum = sum + work.dense(r, i) * work.dense(r, k);
      work.A(other++, without) = sum;
    }
    work.y[without++] = work.h[i];
  }
  const int rank = work.solve.factorize(work.A, without, T(options.rank_tolerance));
  work.solve.solve(work.y.data(), tau.data());
  for (int r = 0; r < rows; ++r) {
    T sum = T(0);
    int k = 0;
    for (int i = 0; i < n; ++i) {
      if (!set.has_motor(i)) sum = sum + work.dense(r, i) * tau[k++];
    }
    f[r] = sum;
  }

  int k = 0;
  for (int i = 0; i < n; ++i) {
    T rest = work.h[i];
    for (int r = 0; r < rows; ++r) rest = rest - work.dense(r, i) * f[r];
    tau[i] = set.has_motor(i) ? rest : T(0);
    if (!set.has_motor(i)) work.y[k++] = rest;
  }
  return {Status::ok, -1, rows, rank, length(work.y.data(), without)};
}

}  // namespace constraint_detail

template <typename T>
void ConstraintWorkspace<T>::check(const char* call, const Model<T>& model,
                                   const ConstraintSet<T>& set) const {
  constraint_detail::check_set(call, model, set, *data_);
}

template <typename T>
void constraint_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                         MatrixOut<T> J, VectorOut<T> drift) {
  using namespace constraint_detail;
  work.check("constraint_jacobian", model, set);
  check_position("constraint_jacobian", "q", model, q);
  check_velocity("constraint_jacobian", "v", model, v);
  check_shape("constraint_jacobian", "J", J.rows(), J.cols(), set.rows(), model.nv());
  check_rows<T>("constraint_jacobian", "drift", set, drift);
  jacobian<T>(model, set, work.data(), q, v, J, drift);
}

template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& workspace, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  constraint_detail::check_arguments<T>("constrained_forward_dynamics", model, set, work, q, v,
                                        "tau", tau, "a", a, f);
  bias<T>(model, work.tree, q, v, work.h, options.effects);
  return constraint_detail::forward_dynamics<T>(model, set, work, q, v, tau, a, f, options);
}

template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& workspace,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, const ConstrainedOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  constraint_detail::check_arguments<T>("constrained_forward_dynamics", model, set, work, q, v,
                                        "tau", tau, "a", a, f);
  work.y.setConstant(T(0));
  rnea<T>(model, work.tree, q, v, work.y, external, work.h, options.effects);
  return constraint_detail::forward_dynamics<T>(model, set, work, q, v, tau, a, f, options);
}

template <typename T>
ConstrainedReport<T> impact(const Model<T>& model, const ConstraintSet<T>& set,
                            ConstraintWorkspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
                            VectorIn<T>& restitution, VectorOut<T> v_after, VectorOut<T> impulse,
                            const ConstrainedOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  using namespace constraint_detail;
  check_set("impact", model, set, work);
  check_position("impact", "q", model, q);
  check_velocity("impact", "v", model, v);
  check_velocity<T>("impact", "v_after", model, v_after);
  check_rows<T>("impact", "impulse", set, impulse);
  if (restitution.size() != 1) check_rows<T>("impact", "restitution", set, restitution);
  if constexpr (Real<T>) {
    for (Eigen::Index r = 0; r < restitution.size(); ++r) {
      if (restitution[r] >= 0 && restitution[r] <= 1) continue;
      fail("impact", "restitution[" + std::to_string(r) + "]", to_text(double(restitution[r])),
           "0 to 1");
    }
  }

  const int n = model.nv(), rows = set.rows();
  const FactorReport factor = factorize_mass<T>(model, work.tree, q, work.factor, options.effects);
  if (!factor.ok()) return fail_singular<T>(factor, rows, v_after, impulse);
  compute_rows(model, set, q.data(), v.data(), work);
  const int rank = factorize_delassus(set, work, options);
  const auto e = [&](int r) { return restitution[restitution.size() == 1 ? 0 : r]; };
  rotate_rows(set, work, RowAxes::constraint, work.velocity.data());
  for (int r = 0; r < rows; ++r) work.force[r] = (T(1) + e(r)) * work.velocity[r];
  rotate_rows(set, work, RowAxes::world, work.force.data());
  for (int i = 0; i < n; ++i) work.y[i] = T(0);
  solve_constrained(set, work, work.y.data(), work.force.data());
  for (int i = 0; i < n; ++i) v_after[i] = v[i] + work.y[i];
  for (int r = 0; r < rows; ++r) {
    impulse[r] = work.force[r];
    work.rhs[r] = e(r) * work.velocity[r];
  }
  rotate_rows(set, work, RowAxes::constraint, impulse.data());
  rotate_rows(set, work, RowAxes::world, work.rhs.data());
  add_rows(set, work.factor.packed(), work.J, v_after.data(), work.rhs.data());
  return {Status::ok, -1, rows, rank, length(work.rhs.data(), rows)};
}

template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& workspace, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& a, VectorOut<T> tau,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  constraint_detail::check_arguments<T>("constrained_inverse_dynamics", model, set, work, q, v, "a",
                                        a, "tau", tau, f);
  rnea<T>(model, work.tree, q, v, a, work.h, options.effects);
  return constraint_detail::inverse_dynamics<T>(model, set, work, q, v, tau, f, options);
}

template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& workspace,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau,
    VectorOut<T> f, const ConstrainedOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  constraint_detail::check_arguments<T>("constrained_inverse_dynamics", model, set, work, q, v, "a",
                                        a, "tau", tau, f);
  rnea<T>(model, work.tree, q, v, a, external, work.h, options.effects);
  return constraint_detail::inverse_dynamics<T>(model, set, work, q, v, tau, f, options);
}

}  // namespace limb
