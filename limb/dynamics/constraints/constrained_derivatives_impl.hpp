#pragma once

#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "limb/dynamics/constraints/constraint_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/rnea_derivatives.hpp"

// With r = M a + h - tau - J^T f and c = J a + drift, the derivatives solve the linear system of
// constrained_forward_dynamics once more, with right-hand sides -dr and dc at fixed a and f
// (docs/derivations/constrained_derivatives.md). Symbols J, Y, Z, A as in constrained_impl.hpp.
namespace limb {

template <typename T>
ConstrainedDerivatives<T>::ConstrainedDerivatives(const Model<T>& model,
                                                  const ConstraintSet<T>& set)
    : a(VectorX<T>::Constant(model.nv(), T(0))),
      f(VectorX<T>::Constant(set.max_rows(), T(0))),
      da_dq(MatrixX<T>::Constant(a.size(), a.size(), T(0))),
      da_dv(da_dq),
      da_dtau(da_dq),
      df_dq(MatrixX<T>::Constant(f.size(), a.size(), T(0))),
      df_dv(df_dq),
      df_dtau(df_dq) {}

template <typename T>
ImpactDerivatives<T>::ImpactDerivatives(const Model<T>& model, const ConstraintSet<T>& set)
    : v(VectorX<T>::Constant(model.nv(), T(0))),
      impulse(VectorX<T>::Constant(set.max_rows(), T(0))),
      dv_dq(MatrixX<T>::Constant(v.size(), v.size(), T(0))),
      dv_dv(dv_dq),
      dimpulse_dq(MatrixX<T>::Constant(impulse.size(), v.size(), T(0))),
      dimpulse_dv(dimpulse_dq) {}

namespace constrained_derivatives_detail {

using namespace constraint_derivatives_detail;
using constraint_detail::rotate_rows;
using constraint_detail::RowAxes;

template <typename T>
void check_work(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                const ConstrainedDerivativeWorkspaceData<T>& work) {
  work.constraints.check(call, model, set);
  work.constraints.data().tree.check(call, model);
}
/// @throws Error unless the result was made for this model and set, judged by the sizes of x and f.
template <typename T>
void check_result(const char* call, const ConstraintSet<T>& set, const VectorX<T>& x,
                  const VectorX<T>& f) {
  if (x.size() == set.nv() && f.size() == set.max_rows()) return;
  fail(call, "result", "of another model or set", "one made from these");
}

template <typename T, typename... Parts>
void set_all(const T& value, Parts&... parts) {
  (parts.setConstant(value), ...);
}
template <typename T, typename... Parts>
void set_nan(Parts&... parts) {
  set_all(T(std::numeric_limits<double>::quiet_NaN()), parts...);
}

/// solve_constrained() for the columns of a pack E at once; A has full rank.
template <typename T, typename E>
void solve_constrained_pack(const ConstraintSet<T>& set, const ConstraintWorkspaceData<T>& work,
                            E* x, E* c) {
  const auto& F = work.factor.packed();
  const int n = static_cast<int>(work.h.size());
  kernel::solve_transposed(F, n, x);
  // c <- -(c + Z^T x), branch by branch.
  for (int r = 0; r < set.rows(); ++r) c[r] = -c[r];
  const auto each = [&](const auto& use) {
    constraint_detail::for_each_branch(set, [&](const auto& item, int b, int lanes) {
      const auto& branch = set.branches()[set.at(b)];
      if (branch.length > 0) use(item, branch, F.path_of(branch.leaf), lanes);
    });
  };
  each([&](const auto& item, const auto& branch, const int* path, int lanes) {
    const T* Z = work.Z.data() + branch.start;
    for (int r = 0; r < item.rows; ++r) {
      E sum = Z[r] * x[path[0]];
      for (int m = 1; m < branch.length; ++m) sum += Z[m * lanes + r] * x[path[m]];
      c[item.first_row + r] -= branch.sign * sum;
    }
  });
  work.solve.solve_regular(c);
  each([&](const auto& item, const auto& branch, const int* path, int lanes) {
    const T* Y = work.Y.data() + branch.start;
    E force[6];
    for (int r = 0; r < item.rows; ++r) force[r] = branch.sign * c[item.first_row + r];
    for (int m = 0; m < branch.length; ++m) {
      E sum = x[path[m]];
      for (int r = 0; r < item.rows; ++r) sum += Y[m * lanes + r] * force[r];
      x[path[m]] = sum;
    }
  });
  for (int i = 0; i < n; ++i) x[i] = x[i] * F.inverse[i];
  kernel::solve_forward(F, n, x);
}

/// solve_constrained() for each column of x and c: generalized forces and drifts become
/// accelerations and constraint forces, world axes.
template <typename T>
void solve_constrained_columns(const ConstraintSet<T>& set,
                               ConstrainedDerivativeWorkspaceData<T>& work, MatrixOut<T> x,
                               MatrixOut<T> c) {
  using E = typename ConstrainedDerivativeWorkspaceData<T>::Columns;
  constexpr Eigen::Index kWidth = E::RowsAtCompileTime;
  ConstraintWorkspaceData<T>& constraints = work.constraints.data();
  const int rows = set.rows();
  const Eigen::Index n = x.rows(), count = x.cols();
  if (constraints.solve.rank() < rows) {
    for (Eigen::Index k = 0; k < count; ++k) {
      constraint_detail::solve_constrained(set, constraints, x.data() + k * x.outerStride(),
                                           c.data() + k * c.outerStride());
    }
    return;
  }
  E* const X = &work.columns_x.data()->columns;
  E* const C = rows > 0 ? &work.columns_c.data()->columns : nullptr;
  for (Eigen::Index first = 0; first < count; first += kWidth) {
    const Eigen::Index width = std::min(kWidth, count - first);
    const auto load = [&](Eigen::Index size, const MatrixOut<T>& from, E* to) {
      for (Eigen::Index l = 0; l < kWidth; ++l) {
        const T* const column = from.data() + (first + std::min(l, width - 1)) * from.outerStride();
        for (Eigen::Index i = 0; i < size; ++i) to[i][l] = column[i];
      }
    };
    const auto store = [&](Eigen::Index size, const E* from, MatrixOut<T>& to) {
      for (Eigen::Index l = 0; l < width; ++l) {
        T* const column = to.data() + (first + l) * to.outerStride();
        for (Eigen::Index i = 0; i < size; ++i) column[i] = from[i][l];
      }
    };
    load(n, x, X);
    load(rows, c, C);
    solve_constrained_pack(set, constraints, X, C);
    store(n, X, x);
    store(rows, C, c);
  }
}
template <typename T>
void rotate_columns(const ConstraintSet<T>& set, const ConstraintWorkspaceData<T>& work, RowAxes to,
                    MatrixX<T>& c) {
  for (Eigen::Index k = 0; k < c.cols(); ++k) {
    rotate_rows(set, work, to, c.data() + k * c.outerStride());
  }
}

/// Terms of df/dq that exist only where A = J M^-1 J^T is singular, with f = A^+ b in world axes
/// and residual r [Golub 1973, pseudo-inverses]:
///
///   df += (1 - A^+ A) d(J x)/dq - A^+ A^+ J M^-1 d(J^T r)/dq,    x = M^-1 J^T A^+ f
///
/// add_to_drift() adds the last term as a drift and overwrites the kinematics; add_to_force() adds
/// the first term to the solution.
template <typename T>
class Redundancy {
 public:
  Redundancy(const Model<T>& model, const ConstraintSet<T>& set,
             ConstrainedDerivativeWorkspaceData<T>& work, int rank)
      : model_(model), set_(set), work_(work), needed_(rank < set.rows()) {
    if (needed_) keep(work.constraints.data().rhs.data(), work.spare.data());
  }

  void add_to_drift(VectorIn<T>& q, MatrixX<T>& drift) {
    if (!needed_) return;
    auto& constraints = work_.constraints.data();
    const auto& F = constraints.factor.packed();
    const int n = model_.nv();
    work_.scratch_q.setConstant(T(0));
    add_force_derivatives<T>(model_, set_, work_, work_.spare.data(), T(1), work_.scratch_q);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) work_.x[i] = work_.scratch_q(i, k);
      kernel::solve_transposed(F, n, work_.x.data());
      work_.c.setConstant(T(0));
      constraint_detail::add_rows(set_, F, constraints.Z, work_.x.data(), work_.c.data());
      constraints.solve.solve(work_.c.data(), work_.spare.data());
      for (int r = 0; r < set_.rows(); ++r) drift(r, k) += work_.spare[r];
    }
    constraints.solve.solve(constraints.force.data(), work_.c.data());
    work_.x.setConstant(T(0));
    constraint_detail::add_columns(set_, F, constraints.Y, work_.c.data(), work_.x.data());
    for (int i = 0; i < n; ++i) work_.x[i] = work_.x[i] * F.inverse[i];
    kernel::solve_forward(F, n, work_.x.data());
    forward_kinematics<T>(model_, q, work_.x, work_.kinematics);
    update_support_axes(model_, work_);
    work_.scratch_rows.setConstant(T(0));
    add_velocity_derivatives<T>(model_, set_, work_, work_.scratch_rows);
  }

  void add_to_force(MatrixX<T>& df) {
    if (!needed_) return;
    const int rows = set_.rows();
    const MatrixX<T>& A = work_.constraints.data().A;
    for (Eigen::Index k = 0; k < df.cols(); ++k) {
      for (int r = 0; r < rows; ++r) {
        T sum = T(0);
        for (int s = 0; s < rows; ++s)
          sum = sum + A(std::min(r, s), std::max(r, s)) * work_.scratch_rows(s, k);
        work_.c[r] = sum;
      }
      work_.constraints.data().solve.solve(work_.c.data(), work_.spare.data());
      for (int r = 0; r < rows; ++r) df(r, k) += work_.scratch_rows(r, k) - work_.spare[r];
    }
  }

 private:
  void keep(const T* from, T* to) const {
    for (int r = 0; r < set_.rows(); ++r) to[r] = from[r];
  }

  const Model<T>& model_;
  const ConstraintSet<T>& set_;
  ConstrainedDerivativeWorkspaceData<T>& work_;
  bool needed_;
};

/// Expects a, f and the factors of constrained_forward_dynamics, and the derivatives of rnea in
/// da_dq and da_dv.
template <typename T>
void forward_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstrainedDerivativeWorkspaceData<T>& work, VectorIn<T>& q,
                         VectorIn<T>& v, int rank, ConstrainedDerivatives<T>& result) {
  auto& [a, f, da_dq, da_dv, da_dtau, df_dq, df_dv, df_dtau] = result;
  ConstraintWorkspaceData<T>& constraints = work.constraints.data();
  forward_kinematics<T>(model, q, v, a, work.kinematics);
  update_support_axes(model, work);
  Redundancy<T> redundancy(model, set, work, rank);
  add_force_derivatives<T>(model, set, work, constraints.force.data(), T(-1), da_dq);
  for (Eigen::Index k = 0; k < da_dq.cols(); ++k) {
    for (Eigen::Index i = 0; i < da_dq.rows(); ++i) {
      da_dq(i, k) = -da_dq(i, k);
      da_dv(i, k) = -da_dv(i, k);
      da_dtau(i, k) = T(i == k ? 1 : 0);
    }
  }
  set_all(T(0), df_dq, df_dv, df_dtau);
  add_acceleration_derivatives<T>(model, set, work, df_dq, df_dv);
  redundancy.add_to_drift(q, df_dq);
  solve_constrained_columns<T>(set, work, da_dq, df_dq);
  solve_constrained_columns<T>(set, work, da_dv, df_dv);
  solve_constrained_columns<T>(set, work, da_dtau, df_dtau);
  redundancy.add_to_force(df_dq);
  add_axis_rotation<T>(model, set, work, constraints.force.data(), T(-1), df_dq);
  rotate_columns(set, constraints, RowAxes::constraint, df_dq);
  rotate_columns(set, constraints, RowAxes::constraint, df_dv);
  rotate_columns(set, constraints, RowAxes::constraint, df_dtau);
}

template <typename T>
ConstrainedReport<T> fail_singular(const ConstrainedReport<T>& report,
                                   ConstrainedDerivatives<T>& r) {
  set_nan<T>(r.a, r.f, r.da_dq, r.da_dv, r.da_dtau, r.df_dq, r.df_dv, r.df_dtau);
  return report;
}

template <typename T>
void check_derivatives(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                       const ConstrainedDerivativeWorkspaceData<T>& work, VectorIn<T>& q,
                       VectorIn<T>& v, VectorIn<T>& tau, const ConstrainedDerivatives<T>& result) {
  check_work(call, model, set, work);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
  check_velocity(call, "tau", model, tau);
  check_result(call, set, result.a, result.f);
}

}  // namespace constrained_derivatives_detail

template <typename T>
ConstrainedDerivativeWorkspace<T>::ConstrainedDerivativeWorkspace(const Model<T>& model,
                                                                  const ConstraintSet<T>& set)
    : data_(CopyablePtr<ConstrainedDerivativeWorkspaceData<T>>::make(model, set)) {}

template <typename T>
void ConstrainedDerivativeWorkspace<T>::check(const char* call, const Model<T>& model,
                                              const ConstraintSet<T>& set) const {
  constrained_derivatives_detail::check_work(call, model, set, *data_);
}

template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& workspace,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options) {
  ConstrainedDerivativeWorkspaceData<T>& work = workspace.data();
  using namespace constrained_derivatives_detail;
  check_derivatives<T>("constrained_derivatives", model, set, work, q, v, tau, result);
  result.f.setConstant(T(0));
  const ConstrainedReport<T> report = constrained_forward_dynamics<T>(
      model, set, work.constraints, q, v, tau, result.a, result.f.head(set.rows()), options);
  if (!report.ok()) return fail_singular(report, result);
  rnea_derivatives<T>(model, work.tree, q, v, result.a, result.da_dq, result.da_dv, result.da_dtau,
                      options.effects);
  forward_derivatives<T>(model, set, work, q, v, report.rank, result);
  return report;
}

template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& workspace,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             WrenchesIn<T> external,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options) {
  ConstrainedDerivativeWorkspaceData<T>& work = workspace.data();
  using namespace constrained_derivatives_detail;
  check_derivatives<T>("constrained_derivatives", model, set, work, q, v, tau, result);
  result.f.setConstant(T(0));
  const ConstrainedReport<T> report =
      constrained_forward_dynamics<T>(model, set, work.constraints, q, v, tau, external, result.a,
                                      result.f.head(set.rows()), options);
  if (!report.ok()) return fail_singular(report, result);
  rnea_derivatives<T>(model, work.tree, q, v, result.a, external, result.da_dq, result.da_dv,
                      result.da_dtau, options.effects);
  forward_derivatives<T>(model, set, work, q, v, report.rank, result);
  return report;
}

template <typename T>
ConstrainedReport<T> impact_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                        ConstrainedDerivativeWorkspace<T>& workspace,
                                        VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& restitution,
                                        ImpactDerivatives<T>& result,
                                        const ConstrainedOptions& options) {
  ConstrainedDerivativeWorkspaceData<T>& work = workspace.data();
  using namespace constrained_derivatives_detail;
  check_work("impact_derivatives", model, set, work);
  check_result("impact_derivatives", set, result.v, result.impulse);
  auto& [v_after, impulse, dv_dq, dv_dv, dp_dq, dp_dv] = result;
  ConstraintWorkspaceData<T>& constraints = work.constraints.data();
  const int n = model.nv(), rows = set.rows();
  impulse.setConstant(T(0));
  const ConstrainedReport<T> report = impact<T>(model, set, work.constraints, q, v, restitution,
                                                v_after, impulse.head(rows), options);
  if (!report.ok()) {
    set_nan<T>(v_after, impulse, dv_dq, dv_dv, dp_dq, dp_dv);
    return report;
  }
  const auto e = [&](int r) { return restitution[restitution.size() == 1 ? 0 : r]; };

  // d(M x)/dq at x = v_after - v: inverse dynamics at zero velocity, minus gravity.
  const VectorX<T>& rest = constraints.tree.data().zero;
  for (int i = 0; i < n; ++i) work.x[i] = v_after[i] - v[i];
  rnea_derivatives<T>(model, work.tree, q, rest.head(n), work.x, dv_dq, work.scratch_v,
                      work.scratch_a, options.effects);
  rnea_derivatives<T>(model, work.tree, q, rest.head(n), rest.head(n), work.scratch_q,
                      work.scratch_v, work.scratch_a, options.effects);
  forward_kinematics<T>(model, q, v_after, work.kinematics);
  update_support_axes(model, work);
  Redundancy<T> redundancy(model, set, work, report.rank);
  add_force_derivatives<T>(model, set, work, constraints.force.data(), T(-1), dv_dq);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) dv_dq(i, k) = work.scratch_q(i, k) - dv_dq(i, k);
  }

  // d(J v_after + E J v)/dq; E is diagonal in the axes of the constraints, which rotate.
  set_all(T(0), dp_dq, dp_dv, dv_dv);
  add_velocity_derivatives<T>(model, set, work, dp_dq);
  forward_kinematics<T>(model, q, v, work.kinematics);
  update_support_axes(model, work);
  add_velocity_derivatives<T>(model, set, work, dp_dv);
  for (int r = 0; r < rows; ++r) work.c[r] = constraints.velocity[r];
  rotate_rows(set, constraints, RowAxes::world, work.c.data());
  add_axis_rotation<T>(model, set, work, work.c.data(), T(-1), dp_dv);
  const auto scale = [&](const T& first, MatrixX<T>& by) {
    rotate_columns(set, constraints, RowAxes::constraint, by);
    for (int k = 0; k < n; ++k) {
      for (int r = 0; r < rows; ++r) by(r, k) = (first + e(r)) * by(r, k);
    }
    rotate_columns(set, constraints, RowAxes::world, by);
  };
  scale(T(0), dp_dv);
  for (int r = 0; r < rows; ++r) work.c[r] = e(r) * constraints.velocity[r];
  rotate_rows(set, constraints, RowAxes::world, work.c.data());
  add_axis_rotation<T>(model, set, work, work.c.data(), T(1), dp_dv);
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < rows; ++r) dp_dq(r, k) += dp_dv(r, k);
  }

  // By v: v_after = v + M^-1 J^T impulse, and the rows are (1 + E) J v.
  dp_dv.setConstant(T(0));
  add_jacobian<T>(model, set, work, dp_dv);
  scale(T(1), dp_dv);
  redundancy.add_to_drift(q, dp_dq);
  solve_constrained_columns<T>(set, work, dv_dq, dp_dq);
  solve_constrained_columns<T>(set, work, dv_dv, dp_dv);
  for (int k = 0; k < n; ++k) dv_dv(k, k) += T(1);
  redundancy.add_to_force(dp_dq);
  add_axis_rotation<T>(model, set, work, constraints.force.data(), T(-1), dp_dq);
  rotate_columns(set, constraints, RowAxes::constraint, dp_dq);
  rotate_columns(set, constraints, RowAxes::constraint, dp_dv);
  return report;
}

}  // namespace limb
