#pragma once

#include <limits>

#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/constraints/operational_space.hpp"

namespace limb {

template <typename T>
OperationalSpace<T>::OperationalSpace(const Model<T>& model, int rows)
    : Lambda(MatrixX<T>::Zero(rows, rows)),
      J_bar(MatrixX<T>::Zero(model.nv(), rows)),
      N(MatrixX<T>::Zero(model.nv(), model.nv())),
      mu(VectorX<T>::Zero(rows)),
      rho(mu),
      factor(model),
      B(J_bar),
      A(Lambda),
      vectors(Lambda),
      h(VectorX<T>::Zero(model.nv())),
      g(h),
      scratch(h),
      task(mu) {}

namespace operational_detail {

template <typename T>
void check_task(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, MatrixIn<T>& J,
                VectorIn<T>& dJ_v, const OperationalSpace<T>& out) {
  constexpr const char* kCall = "operational_space";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  const Eigen::Index rows = out.Lambda.rows();
  check_shape(kCall, "J", J.rows(), J.cols(), rows, model.nv());
  check_shape(kCall, "out.N", out.N.rows(), out.N.cols(), model.nv(), model.nv());
  if (dJ_v.size() != rows) check_size(kCall, "dJ_v", dJ_v.size(), rows);
}

template <typename T>
void fail_singular(OperationalSpace<T>& out) {
  const T nan = T(std::numeric_limits<double>::quiet_NaN());
  out.Lambda.setConstant(nan);
  out.J_bar.setConstant(nan);
  out.N.setConstant(nan);
  out.mu.setConstant(nan);
  out.rho.setConstant(nan);
  out.smallest_singular_value = out.largest_singular_value = out.threshold = nan;
  out.damped = 0;
}

/// y = X^T x
template <typename T>
void transposed_product(const MatrixX<T>& X, const VectorX<T>& x, VectorX<T>& y) {
  for (Eigen::Index c = 0; c < X.cols(); ++c) y[c] = X.col(c).dot(x);
}

/// Rotates axes p and q of A so that entry (p, q) becomes zero, derivatives included.
template <typename T>
void jacobi_rotation(MatrixX<T>& A, MatrixX<T>& vectors, Eigen::Index p, Eigen::Index q) {
  using std::abs;
  using std::hypot;
  const T d = A(q, q) - A(p, p), twice = T(2) * A(p, q);
  const T t = (d < T(0) ? -twice : twice) / (abs(d) + hypot(d, twice));
  const T c = T(1) / hypot(t, T(1)), s = t * c;
  const auto turn = [&](T& x, T& y) {
    const T old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (Eigen::Index k = 0; k < A.rows(); ++k) turn(A(k, p), A(k, q));
  for (Eigen::Index k = 0; k < A.rows(); ++k) turn(A(p, k), A(q, k));
  A(p, q) = A(q, p) = T(0);
  for (Eigen::Index k = 0; k < A.rows(); ++k) turn(vectors(k, p), vectors(k, q));
}

/// Eigenvalues (on the diagonal of A) and eigenvectors of a symmetric matrix by Jacobi rotations
/// [Golub 2013, Jacobi methods]. For few rows; Eigen's solver allocates.
template <typename T>
void diagonalize(MatrixX<T>& A, MatrixX<T>& vectors) {
  const Eigen::Index m = A.rows();
  const T least = T(std::numeric_limits<double>::min());
  vectors.setIdentity();
  for (int sweep = 0; sweep < 30; ++sweep) {  // quadratic convergence: six are enough
    T off = T(0);
    for (Eigen::Index c = 0; c < m; ++c) off += A.col(c).head(c).squaredNorm();
    if (!(off > least)) break;
    for (Eigen::Index q = 1; q < m; ++q) {
      for (Eigen::Index p = 0; p < q; ++p) {
        if (!(A(p, q) == T(0))) jacobi_rotation(A, vectors, p, q);
      }
    }
  }
  if constexpr (!Real<T>) {
    // The values are diagonal, the derivatives not yet. Each sweep doubles the order that is
    // diagonal; eigenvalues too close to each other define no axes, and their entries remain.
    const T near = T(1e-6) * A.diagonal().maxCoeff();
    for (int sweep = 0; sweep < 2; ++sweep) {
      for (Eigen::Index q = 1; q < m; ++q) {
        for (Eigen::Index p = 0; p < q; ++p) {
          using std::abs;
          if (abs(T(A(q, q) - A(p, p))) > near) jacobi_rotation(A, vectors, p, q);
        }
      }
    }
  }
}

/// Lambda from A, damped where A is nearly singular: eigenvalue x becomes 1/x or x / limit^2.
template <typename T>
void invert(OperationalSpace<T>& out, const OperationalOptions& options) {
  using std::sqrt;
  const Eigen::Index m = out.A.rows();
  out.Lambda.setZero();
  out.damped = 0;
  if (m == 0) return;
  diagonalize(out.A, out.vectors);
  MatrixX<T>& A = out.A;
  T least = A(0, 0), most = A(0, 0);
  for (Eigen::Index i = 1; i < m; ++i) {
    if (A(i, i) < least) least = A(i, i);
    if (A(i, i) > most) most = A(i, i);
  }
  const T none = T(0);
  out.smallest_singular_value = least > none ? T(sqrt(least)) : none;
  out.largest_singular_value = most > none ? T(sqrt(most)) : none;
  out.threshold = T(options.threshold) * out.largest_singular_value;
  const T limit = out.threshold * out.threshold;
  const auto regular = [&](Eigen::Index i) { return A(i, i) > none && A(i, i) >= limit; };
  const auto damped = [&](Eigen::Index i) { return !regular(i) && A(i, i) > none && limit > none; };
  for (Eigen::Index i = 0; i < m; ++i) {
    out.damped += !regular(i);
    if (regular(i)) out.Lambda(i, i) = T(1) / A(i, i);
    if (damped(i)) out.Lambda(i, i) = A(i, i) / limit / limit;
    if constexpr (!Real<T>) {
      // Derivatives that remain off the diagonal: inverse of D + E by w = (1 - E w) / D.
      for (int order = 0; order < 3; ++order) {
        for (Eigen::Index r = 0; r < m; ++r) {
          out.task[r] = r == i ? T(1) : none;
          for (Eigen::Index c = 0; c < m; ++c) {
            if (c != r && regular(c)) out.task[r] -= A(r, c) * out.Lambda(c, i);
          }
        }
        for (Eigen::Index r = 0; r < m; ++r) {
          if (regular(i) && regular(r)) out.Lambda(r, i) = out.task[r] / A(r, r);
          if (r != i && damped(i) && damped(r)) out.Lambda(r, i) = A(r, i) / limit / limit;
        }
      }
    }
  }
  A.noalias() = out.vectors.lazyProduct(out.Lambda);
  for (Eigen::Index c = 0; c < m; ++c) {
    for (Eigen::Index r = 0; r <= c; ++r) {
      out.Lambda(r, c) = out.Lambda(c, r) = A.row(r).dot(out.vectors.row(c));
    }
  }
}

/// All other results from B = M^-1 J^T (of the constrained robot) and `drift`, the acceleration
/// caused by the drift of the constraints.
template <typename T>
void complete(MatrixIn<T>& J, VectorIn<T>& dJ_v, const VectorX<T>& drift, OperationalSpace<T>& out,
              const OperationalOptions& options) {
  out.A.noalias() = J.lazyProduct(out.B);
  // Symmetric in spite of rounding.
  for (Eigen::Index c = 0; c < out.A.cols(); ++c) {
    for (Eigen::Index r = 0; r < c; ++r) {
      out.A(r, c) = out.A(c, r) = (out.A(r, c) + out.A(c, r)) / T(2);
    }
  }
  invert(out, options);
  out.J_bar.noalias() = out.B.lazyProduct(out.Lambda);
  out.N.noalias() = -out.J_bar.lazyProduct(J);
  out.N.diagonal().array() += T(1);

  transposed_product(out.B, out.g, out.task);
  out.rho.noalias() = out.Lambda.lazyProduct(out.task);
  out.h -= out.g;
  transposed_product(out.B, out.h, out.task);
  out.task -= dJ_v;
  for (Eigen::Index r = 0; r < J.rows(); ++r) {
    for (Eigen::Index c = 0; c < J.cols(); ++c) out.task[r] += J(r, c) * drift[c];
  }
  out.mu.noalias() = out.Lambda.lazyProduct(out.task);
}

/// M, h, g at the state, and B = M^-1 J^T of the unconstrained robot.
template <typename T>
FactorReport prepare(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     MatrixIn<T>& J, OperationalSpace<T>& out, MassFactor<T>& factor,
                     const JointEffects& effects) {
  const FactorReport report = factorize_mass<T>(model, work, q, factor, effects);
  if (!report.ok()) {
    fail_singular(out);
    return report;
  }
  bias<T>(model, work, q, v, out.h, effects);
  gravity<T>(model, work, q, out.g);
  out.B = J.transpose();
  solve_mass_columns<T>(factor, out.B, out.B);
  return report;
}

}  // namespace operational_detail

template <Branching T>
FactorReport operational_space(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                               VectorIn<T>& v, MatrixIn<T>& J, VectorIn<T>& dJ_v,
                               OperationalSpace<T>& out, const OperationalOptions& options) {
  using namespace operational_detail;
  check_task(model, q, v, J, dJ_v, out);
  const FactorReport report = prepare<T>(model, work, q, v, J, out, out.factor, options.effects);
  if (!report.ok()) return report;
  out.scratch.setZero();
  complete<T>(J, dJ_v, out.scratch, out, options);
  return report;
}

template <Branching T>
FactorReport operational_space(const Model<T>& model, const ConstraintSet<T>& set,
                               ConstraintWorkspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
                               MatrixIn<T>& J, VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                               const OperationalOptions& options) {
  ConstraintWorkspaceData<T>& work = workspace.data();
  using namespace constraint_detail;
  using namespace operational_detail;
  check_set("operational_space", model, set, work);
  check_task(model, q, v, J, dJ_v, out);
  const FactorReport report =
      prepare<T>(model, work.tree, q, v, J, out, work.factor, options.effects);
  if (!report.ok()) return report;

  compute_rows(model, set, q.data(), v.data(), work);
  assemble_delassus(set, work);
  const int rows = set.rows();
  work.solve.factorize(work.A, rows, T(ConstrainedOptions{}.rank_tolerance));
  const auto& F = work.factor.packed();
  // M^-1 J_c^T A_c^+ x for the rows in work.rhs.
  const auto constraint_response = [&](VectorX<T>& x) {
    work.solve.solve(work.rhs.data(), work.force.data());
    x.setZero();
    add_columns(set, F, work.J, work.force.data(), x.data());
    kernel::solve(F, work.factor.size(), x.data());
  };
  for (Eigen::Index c = 0; c < out.B.cols(); ++c) {
    work.rhs.setZero();
    add_rows(set, F, work.J, out.B.data() + c * out.B.outerStride(), work.rhs.data());
    constraint_response(out.scratch);
    out.B.col(c) -= out.scratch;
  }
  for (int r = 0; r < rows; ++r) work.rhs[r] = work.drift[r];
  constraint_response(out.scratch);
  complete<T>(J, dJ_v, out.scratch, out, options);
  return report;
}

}  // namespace limb
