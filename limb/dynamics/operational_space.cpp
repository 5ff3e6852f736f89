#include "limb/dynamics/operational_space.hpp"

#include <limits>

#include "limb/dynamics/constrained_impl.hpp"

namespace limb {

template <typename T>
OperationalSpace<T>::OperationalSpace(const Model<T>& model, int rows)
    : Lambda(MatrixX<T>::Zero(rows, rows)),
      J_bar(MatrixX<T>::Zero(model.velocity_size(), rows)),
      N(MatrixX<T>::Zero(model.velocity_size(), model.velocity_size())),
      mu(VectorX<T>::Zero(rows)),
      rho(mu),
      factor(model),
      B(J_bar),
      A(Lambda),
      vectors(Lambda),
      h(VectorX<T>::Zero(model.velocity_size())),
      g(h),
      room(h),
      task(mu) {}

namespace {

template <typename T>
void check_task(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, MatrixIn<T>& J,
                VectorIn<T>& dJ_v, const OperationalSpace<T>& out) {
  constexpr const char* kCall = "operational_space";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  const Eigen::Index rows = out.Lambda.rows();
  check_shape(kCall, "J", J.rows(), J.cols(), rows, model.velocity_size());
  check_shape(kCall, "out.N", out.N.rows(), out.N.cols(), model.velocity_size(),
              model.velocity_size());
  if (dJ_v.size() != rows) check_size(kCall, "dJ_v", dJ_v.size(), rows);
}

template <typename T>
int give_up(OperationalSpace<T>& out, int singular) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  out.Lambda.setConstant(nan);
  out.J_bar.setConstant(nan);
  out.N.setConstant(nan);
  out.mu.setConstant(nan);
  out.rho.setConstant(nan);
  out.smallest_singular_value = out.largest_singular_value = out.threshold = nan;
  out.damped = 0;
  return singular;
}

/// y = X^T x
template <typename T>
void transposed_product(const MatrixX<T>& X, const VectorX<T>& x, VectorX<T>& y) {
  for (Eigen::Index c = 0; c < X.cols(); ++c) y[c] = X.col(c).dot(x);
}

/// Eigenvalues (on the diagonal of A) and vectors of a symmetric matrix by turns in the planes of
/// two axes, each of which clears an entry [Golub 2013, Jacobi methods]. For few rows; Eigen's own
/// solver allocates.
template <typename T>
void diagonalize(MatrixX<T>& A, MatrixX<T>& vectors) {
  const Eigen::Index m = A.rows();
  vectors.setIdentity();
  for (int sweep = 0; sweep < 30; ++sweep) {  // converges quadratically: six do
    T off = T(0);
    for (Eigen::Index c = 0; c < m; ++c) off += A.col(c).head(c).squaredNorm();
    if (!(off > std::numeric_limits<T>::min())) return;
    for (Eigen::Index q = 1; q < m; ++q) {
      for (Eigen::Index p = 0; p < q; ++p) {
        if (A(p, q) == T(0)) continue;
        const T theta = (A(q, q) - A(p, p)) / (T(2) * A(p, q));
        const T t = (theta < T(0) ? T(-1) : T(1)) / (std::abs(theta) + std::hypot(theta, T(1)));
        const T c = T(1) / std::hypot(t, T(1)), s = t * c;
        const auto turn = [&](T& x, T& y) {
          const T old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (Eigen::Index k = 0; k < m; ++k) turn(A(k, p), A(k, q));
        for (Eigen::Index k = 0; k < m; ++k) turn(A(p, k), A(q, k));
        A(p, q) = A(q, p) = T(0);
        for (Eigen::Index k = 0; k < m; ++k) turn(vectors(k, p), vectors(k, q));
      }
    }
  }
}

/// Lambda from A, with damping where A is nearly singular.
template <typename T>
void invert(OperationalSpace<T>& out, const OperationalOptions& options) {
  const Eigen::Index m = out.A.rows();
  out.Lambda.setZero();
  out.damped = 0;
  if (m == 0) return;
  diagonalize(out.A, out.vectors);
  const auto lambda = out.A.diagonal();
  const T most = std::max(lambda.maxCoeff(), T(0));
  out.smallest_singular_value = std::sqrt(std::max(lambda.minCoeff(), T(0)));
  out.largest_singular_value = std::sqrt(most);
  out.threshold = T(options.threshold) * out.largest_singular_value;
  const T limit = out.threshold * out.threshold;
  for (Eigen::Index i = 0; i < m; ++i) {
    const bool damp = !(lambda[i] > T(0) && lambda[i] >= limit);
    out.damped += damp;
    T weight = T(0);
    if (!damp) {
      weight = T(1) / lambda[i];
    } else if (lambda[i] > T(0) && limit > T(0)) {
      weight = lambda[i] / limit / limit;
    }
    const MatrixX<T>& vectors = out.vectors;
    for (Eigen::Index c = 0; c < m; ++c) {
      for (Eigen::Index r = 0; r < m; ++r) {
        out.Lambda(r, c) += weight * (vectors(r, i) * vectors(c, i));
      }
    }
  }
}

/// From B = M^-1 J^T (of the constrained robot) and the acceleration `drift` that the constraints
/// cause, all the rest.
template <typename T>
void complete(MatrixIn<T>& J, VectorIn<T>& dJ_v, const VectorX<T>& drift, OperationalSpace<T>& out,
              const OperationalOptions& options) {
  out.A.noalias() = J.lazyProduct(out.B);
  // Rounding must not make it lopsided.
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

/// M, h, g at the state, and B = M^-1 J^T of the free robot.
template <typename T>
int begin(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, MatrixIn<T>& J,
          OperationalSpace<T>& out, MassFactor<T>& factor, const JointEffects& effects) {
  const int singular = factorize_mass<T>(model, work, q, factor, effects);
  if (singular >= 0) return give_up(out, singular);
  bias<T>(model, work, q, v, out.h, effects);
  gravity<T>(model, work, q, out.g);
  out.B = J.transpose();
  solve_mass_columns<T>(factor, out.B, out.B);
  return -1;
}

}  // namespace

template <Real T>
int operational_space(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                      MatrixIn<T>& J, VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                      const OperationalOptions& options) {
  check_task(model, q, v, J, dJ_v, out);
  const int singular = begin<T>(model, work, q, v, J, out, out.factor, options.effects);
  if (singular >= 0) return singular;
  out.room.setZero();
  complete<T>(J, dJ_v, out.room, out, options);
  return -1;
}

template <Real T>
int operational_space(const Model<T>& model, const ConstraintSet<T>& set,
                      ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, MatrixIn<T>& J,
                      VectorIn<T>& dJ_v, OperationalSpace<T>& out,
                      const OperationalOptions& options) {
  using namespace constraint_detail;
  check_set("operational_space", model, set, work);
  check_task(model, q, v, J, dJ_v, out);
  const int singular = begin<T>(model, work.tree, q, v, J, out, work.factor, options.effects);
  if (singular >= 0) return singular;

  place_constraints(model, set, q.data(), v.data(), work);
  assemble(set, work);
  const int rows = set.rows();
  work.solve.factorize(work.A, rows, T(ConstrainedOptions{}.rank_tolerance));
  const auto& F = work.factor.packed();
  // M^-1 J_c^T A_c^+ x for the rows in work.rhs.
  const auto respond = [&](VectorX<T>& x) {
    work.solve.solve(work.rhs.data(), work.force.data());
    x.setZero();
    add_columns(set, F, work.J, work.force.data(), x.data());
    kernel::solve(F, work.factor.size(), x.data());
  };
  for (Eigen::Index c = 0; c < out.B.cols(); ++c) {
    work.rhs.setZero();
    add_rows(set, F, work.J, out.B.data() + c * out.B.outerStride(), work.rhs.data());
    respond(out.room);
    out.B.col(c) -= out.room;
  }
  for (int r = 0; r < rows; ++r) work.rhs[r] = work.drift[r];
  respond(out.room);
  complete<T>(J, dJ_v, out.room, out, options);
  return -1;
}

template struct OperationalSpace<double>;
template int operational_space(const Model<double>&, Workspace<double>&, VectorIn<double>&,
                               VectorIn<double>&, MatrixIn<double>&, VectorIn<double>&,
                               OperationalSpace<double>&, const OperationalOptions&);
template int operational_space(const Model<double>&, const ConstraintSet<double>&,
                               ConstraintWorkspace<double>&, VectorIn<double>&, VectorIn<double>&,
                               MatrixIn<double>&, VectorIn<double>&, OperationalSpace<double>&,
                               const OperationalOptions&);

}  // namespace limb
