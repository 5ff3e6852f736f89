#pragma once

#include "limb/dynamics/constrained_derivatives.hpp"
#include "limb/dynamics/constraint_change_impl.hpp"
#include "limb/dynamics/rnea_derivatives.hpp"

namespace limb {

template <typename T>
ConstrainedDerivatives<T>::ConstrainedDerivatives(const Model<T>& model,
                                                  const ConstraintSet<T>& set)
    : a(VectorX<T>::Constant(model.velocity_size(), T(0))),
      f(VectorX<T>::Constant(set.max_rows(), T(0))),
      da_dq(MatrixX<T>::Constant(a.size(), a.size(), T(0))),
      da_dv(da_dq),
      da_dtau(da_dq),
      df_dq(MatrixX<T>::Constant(f.size(), a.size(), T(0))),
      df_dv(df_dq),
      df_dtau(df_dq) {}

template <typename T>
ImpactDerivatives<T>::ImpactDerivatives(const Model<T>& model, const ConstraintSet<T>& set)
    : v(VectorX<T>::Constant(model.velocity_size(), T(0))),
      impulse(VectorX<T>::Constant(set.max_rows(), T(0))),
      dv_dq(MatrixX<T>::Constant(v.size(), v.size(), T(0))),
      dv_dv(dv_dq),
      dimpulse_dq(MatrixX<T>::Constant(impulse.size(), v.size(), T(0))),
      dimpulse_dv(dimpulse_dq) {}

namespace constrained_derivatives_detail {

using namespace constraint_change_detail;
using constraint_detail::To;
using constraint_detail::turn_rows;

template <typename T>
void check_work(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                const ConstrainedDerivativeWorkspace<T>& work) {
  constraint_detail::check_set(call, model, set, work.constraints);
  work.constraints.tree.check(call, model);
}
/// @throws Error unless the result, by two of its parts, was made for this model and set.
template <typename T>
void check_result(const char* call, const ConstraintSet<T>& set, const VectorX<T>& x,
                  const VectorX<T>& f) {
  if (x.size() == set.velocity_size() && f.size() == set.max_rows()) return;
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

/// respond() for several columns side by side, E; A has full rank.
template <typename T, typename E>
void respond_at_once(const ConstraintSet<T>& set, const ConstraintWorkspace<T>& work, E* x, E* c) {
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

/// Columns: generalized forces and drifts become accelerations and constraint forces, world axes.
template <typename T>
void respond_columns(const ConstraintSet<T>& set, ConstrainedDerivativeWorkspace<T>& work,
                     MatrixOut<T> x, MatrixOut<T> c) {
  using E = typename ConstrainedDerivativeWorkspace<T>::Columns;
  constexpr Eigen::Index kAtOnce = E::RowsAtCompileTime;
  ConstraintWorkspace<T>& constraints = work.constraints;
  const int rows = set.rows();
  const Eigen::Index n = x.rows(), count = x.cols();
  if (constraints.solve.rank() < rows) {
    for (Eigen::Index k = 0; k < count; ++k) {
      constraint_detail::respond(set, constraints, x.data() + k * x.outerStride(),
                                 c.data() + k * c.outerStride());
    }
    return;
  }
  E* const X = &work.columns_x.data()->columns;
  E* const C = rows > 0 ? &work.columns_c.data()->columns : nullptr;
  for (Eigen::Index first = 0; first < count; first += kAtOnce) {
    const Eigen::Index width = std::min(kAtOnce, count - first);
    const auto place = [&](Eigen::Index size, const MatrixOut<T>& from, E* to) {
      for (Eigen::Index l = 0; l < kAtOnce; ++l) {
        const T* const column = from.data() + (first + std::min(l, width - 1)) * from.outerStride();
        for (Eigen::Index i = 0; i < size; ++i) to[i][l] = column[i];
      }
    };
    const auto take = [&](Eigen::Index size, const E* from, MatrixOut<T>& to) {
      for (Eigen::Index l = 0; l < width; ++l) {
        T* const column = to.data() + (first + l) * to.outerStride();
        for (Eigen::Index i = 0; i < size; ++i) column[i] = from[i][l];
      }
    };
    place(n, x, X);
    place(rows, c, C);
    respond_at_once(set, constraints, X, C);
    take(n, X, x);
    take(rows, C, c);
  }
}
template <typename T>
void turn_columns(const ConstraintSet<T>& set, const ConstraintWorkspace<T>& work, To to,
                  MatrixX<T>& c) {
  for (Eigen::Index k = 0; k < c.cols(); ++k) {
    turn_rows(set, work, to, c.data() + k * c.outerStride());
  }
}

/// What the dependence of J on q adds where A = J M^-1 J^T is singular, f = A^+ b of world axes,
/// and the residual r is left [Golub 1973, pseudo-inverses]:
///
///   df += (1 - A^+ A) d(J x)/dq - A^+ A^+ J M^-1 d(J^T r)/dq,    x = M^-1 J^T A^+ f
///
/// before() turns the last part into a drift, once the kinematics are of no more use, and after()
/// adds the first.
template <typename T>
class Redundancy {
 public:
  Redundancy(const Model<T>& model, const ConstraintSet<T>& set,
             ConstrainedDerivativeWorkspace<T>& work, int rank)
      : model_(model), set_(set), work_(work), needed_(rank < set.rows()) {
    if (needed_) keep(work.constraints.rhs.data(), work.spare.data());
  }

  void before(VectorIn<T>& q, MatrixX<T>& drift) {
    if (!needed_) return;
    auto& constraints = work_.constraints;
    const auto& F = constraints.factor.packed();
    const int n = model_.velocity_size();
    work_.room_q.setConstant(T(0));
    add_force_changes<T>(model_, set_, work_, work_.spare.data(), T(1), work_.room_q);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) work_.x[i] = work_.room_q(i, k);
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
    see_carriers(model_, work_);
    work_.room_row.setConstant(T(0));
    add_velocity_changes<T>(model_, set_, work_, work_.room_row);
  }

  void after(MatrixX<T>& df) {
    if (!needed_) return;
    const int rows = set_.rows();
    const MatrixX<T>& A = work_.constraints.A;
    for (Eigen::Index k = 0; k < df.cols(); ++k) {
      for (int r = 0; r < rows; ++r) {
        T sum = T(0);
        for (int s = 0; s < rows; ++s)
          sum = sum + A(std::min(r, s), std::max(r, s)) * work_.room_row(s, k);
        work_.c[r] = sum;
      }
      work_.constraints.solve.solve(work_.c.data(), work_.spare.data());
      for (int r = 0; r < rows; ++r) df(r, k) += work_.room_row(r, k) - work_.spare[r];
    }
  }

 private:
  void keep(const T* from, T* to) const {
    for (int r = 0; r < set_.rows(); ++r) to[r] = from[r];
  }

  const Model<T>& model_;
  const ConstraintSet<T>& set_;
  ConstrainedDerivativeWorkspace<T>& work_;
  bool needed_;
};

/// With a, f and the factors of constrained_forward_dynamics there, and the derivatives of rnea in
/// da_dq and da_dv.
template <typename T>
void forward_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstrainedDerivativeWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                         int rank, ConstrainedDerivatives<T>& result) {
  auto& [a, f, da_dq, da_dv, da_dtau, df_dq, df_dv, df_dtau] = result;
  ConstraintWorkspace<T>& constraints = work.constraints;
  forward_kinematics<T>(model, q, v, a, work.kinematics);
  see_carriers(model, work);
  Redundancy<T> redundancy(model, set, work, rank);
  add_force_changes<T>(model, set, work, constraints.force.data(), T(-1), da_dq);
  for (Eigen::Index k = 0; k < da_dq.cols(); ++k) {
    for (Eigen::Index i = 0; i < da_dq.rows(); ++i) {
      da_dq(i, k) = -da_dq(i, k);
      da_dv(i, k) = -da_dv(i, k);
      da_dtau(i, k) = T(i == k ? 1 : 0);
    }
  }
  set_all(T(0), df_dq, df_dv, df_dtau);
  add_acceleration_changes<T>(model, set, work, df_dq, df_dv);
  redundancy.before(q, df_dq);
  respond_columns<T>(set, work, da_dq, df_dq);
  respond_columns<T>(set, work, da_dv, df_dv);
  respond_columns<T>(set, work, da_dtau, df_dtau);
  redundancy.after(df_dq);
  add_turns<T>(model, set, work, constraints.force.data(), T(-1), df_dq);
  turn_columns(set, constraints, To::user, df_dq);
  turn_columns(set, constraints, To::user, df_dv);
  turn_columns(set, constraints, To::user, df_dtau);
}

template <typename T>
ConstrainedReport<T> give_up(const ConstrainedReport<T>& report, ConstrainedDerivatives<T>& r) {
  set_nan<T>(r.a, r.f, r.da_dq, r.da_dv, r.da_dtau, r.df_dq, r.df_dv, r.df_dtau);
  return report;
}

template <typename T>
void check_derivatives(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                       const ConstrainedDerivativeWorkspace<T>& work, VectorIn<T>& q,
                       VectorIn<T>& v, VectorIn<T>& tau, const ConstrainedDerivatives<T>& result) {
  check_work(call, model, set, work);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
  check_velocity(call, "tau", model, tau);
  check_result(call, set, result.a, result.f);
}

}  // namespace constrained_derivatives_detail

template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options) {
  using namespace constrained_derivatives_detail;
  check_derivatives<T>("constrained_derivatives", model, set, work, q, v, tau, result);
  result.f.setConstant(T(0));
  const ConstrainedReport<T> report = constrained_forward_dynamics<T>(
      model, set, work.constraints, q, v, tau, result.a, result.f.head(set.rows()), options);
  if (report.singular >= 0) return give_up(report, result);
  rnea_derivatives<T>(model, work.tree, q, v, result.a, result.da_dq, result.da_dv, result.da_dtau,
                      options.effects);
  forward_derivatives<T>(model, set, work, q, v, report.rank, result);
  return report;
}

template <typename T>
ConstrainedReport<T> constrained_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                             ConstrainedDerivativeWorkspace<T>& work,
                                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                             WrenchesIn<T> external,
                                             ConstrainedDerivatives<T>& result,
                                             const ConstrainedOptions& options) {
  using namespace constrained_derivatives_detail;
  check_derivatives<T>("constrained_derivatives", model, set, work, q, v, tau, result);
  result.f.setConstant(T(0));
  const ConstrainedReport<T> report =
      constrained_forward_dynamics<T>(model, set, work.constraints, q, v, tau, external, result.a,
                                      result.f.head(set.rows()), options);
  if (report.singular >= 0) return give_up(report, result);
  rnea_derivatives<T>(model, work.tree, q, v, result.a, external, result.da_dq, result.da_dv,
                      result.da_dtau, options.effects);
  forward_derivatives<T>(model, set, work, q, v, report.rank, result);
  return report;
}

template <typename T>
ConstrainedReport<T> impact_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                        ConstrainedDerivativeWorkspace<T>& work, VectorIn<T>& q,
                                        VectorIn<T>& v, VectorIn<T>& restitution,
                                        ImpactDerivatives<T>& result,
                                        const ConstrainedOptions& options) {
  using namespace constrained_derivatives_detail;
  check_work("impact_derivatives", model, set, work);
  check_result("impact_derivatives", set, result.v, result.impulse);
  auto& [v_after, impulse, dv_dq, dv_dv, dp_dq, dp_dv] = result;
  ConstraintWorkspace<T>& constraints = work.constraints;
  const int n = model.velocity_size(), rows = set.rows();
  impulse.setConstant(T(0));
  const ConstrainedReport<T> report =
      impact<T>(model, set, constraints, q, v, restitution, v_after, impulse.head(rows), options);
  if (report.singular >= 0) {
    set_nan<T>(v_after, impulse, dv_dq, dv_dv, dp_dq, dp_dv);
    return report;
  }
  const auto e = [&](int r) { return restitution[restitution.size() == 1 ? 0 : r]; };

  // d(M x)/dq at x = v_after - v: inverse dynamics at rest, with gravity taken off.
  const VectorX<T>& rest = constraints.tree.zero;
  for (int i = 0; i < n; ++i) work.x[i] = v_after[i] - v[i];
  rnea_derivatives<T>(model, work.tree, q, rest.head(n), work.x, dv_dq, work.room_v, work.room_a,
                      options.effects);
  rnea_derivatives<T>(model, work.tree, q, rest.head(n), rest.head(n), work.room_q, work.room_v,
                      work.room_a, options.effects);
  forward_kinematics<T>(model, q, v_after, work.kinematics);
  see_carriers(model, work);
  Redundancy<T> redundancy(model, set, work, report.rank);
  add_force_changes<T>(model, set, work, constraints.force.data(), T(-1), dv_dq);
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < n; ++i) dv_dq(i, k) = work.room_q(i, k) - dv_dq(i, k);
  }

  // d(J v_after + E J v)/dq; E is diagonal in the axes of the user, which turn.
  set_all(T(0), dp_dq, dp_dv, dv_dv);
  add_velocity_changes<T>(model, set, work, dp_dq);
  forward_kinematics<T>(model, q, v, work.kinematics);
  see_carriers(model, work);
  add_velocity_changes<T>(model, set, work, dp_dv);
  for (int r = 0; r < rows; ++r) work.c[r] = constraints.velocity[r];
  turn_rows(set, constraints, To::world, work.c.data());
  add_turns<T>(model, set, work, work.c.data(), T(-1), dp_dv);
  const auto scale = [&](const T& first, MatrixX<T>& by) {
    turn_columns(set, constraints, To::user, by);
    for (int k = 0; k < n; ++k) {
      for (int r = 0; r < rows; ++r) by(r, k) = (first + e(r)) * by(r, k);
    }
    turn_columns(set, constraints, To::world, by);
  };
  scale(T(0), dp_dv);
  for (int r = 0; r < rows; ++r) work.c[r] = e(r) * constraints.velocity[r];
  turn_rows(set, constraints, To::world, work.c.data());
  add_turns<T>(model, set, work, work.c.data(), T(1), dp_dv);
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < rows; ++r) dp_dq(r, k) += dp_dv(r, k);
  }

  // v_after = v + what the impulses do: J by v, and E J.
  dp_dv.setConstant(T(0));
  add_jacobian<T>(model, set, work, dp_dv);
  scale(T(1), dp_dv);
  redundancy.before(q, dp_dq);
  respond_columns<T>(set, work, dv_dq, dp_dq);
  respond_columns<T>(set, work, dv_dv, dp_dv);
  for (int k = 0; k < n; ++k) dv_dv(k, k) += T(1);
  redundancy.after(dp_dq);
  add_turns<T>(model, set, work, constraints.force.data(), T(-1), dp_dq);
  turn_columns(set, constraints, To::user, dp_dq);
  turn_columns(set, constraints, To::user, dp_dv);
  return report;
}

}  // namespace limb
