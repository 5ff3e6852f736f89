#include "limb/sim/world/compiled_loops.hpp"

#include <algorithm>

#include "limb/codegen/program.hpp"
#include "limb/codegen/record/trace_loops.hpp"

namespace limb {
namespace {

/// Pivoted factorization A = L D L^T of a symmetric positive semidefinite matrix. Rows whose pivot
/// is rounding are dependent; their unknowns are zero.
class PivotedFactor {
 public:
  /// `groups` has a number for each row, the same for consecutive rows of one point or rotation,
  /// which have one unit.
  explicit PivotedFactor(std::vector<int> groups)
      : groups_(std::move(groups)),
        L_(size(), size()),
        rows_(size()),
        scale_(size()),
        order_(size()) {}

  Eigen::Index size() const { return static_cast<Eigen::Index>(groups_.size()); }

  void compute(const MatrixX<double>& A) {
    const Eigen::Index m = A.rows();
    L_ = A;
    rank_ = 0;
    for (Eigen::Index i = 0; i < m; ++i) {
      order_[i] = i;
      double largest = 0;
      for (Eigen::Index k = 0; k < m; ++k) {
        const bool same_unit = groups_[std::size_t(k)] == groups_[std::size_t(i)];
        if (same_unit) largest = std::max(largest, A(k, k));
      }
      scale_[i] = largest > 0 ? 1 / largest : 0;
    }
    while (rank_ < m) {
      const Eigen::Index k = rank_;
      Eigen::Index best = -1;
      double most = kRankTolerance;
      for (Eigen::Index i = k; i < m; ++i) {
        const double part = L_(order_[i], order_[i]) * scale_[order_[i]];
        if (part > most) {
          most = part;
          best = i;
        }
      }
      if (best < 0) return;
      std::swap(order_[k], order_[best]);
      const Eigen::Index p = order_[k];
      const double inverse = 1 / L_(p, p);
      for (Eigen::Index i = k + 1; i < m; ++i) {
        const Eigen::Index r = order_[i];
        const double l = L_(r, p) * inverse;
        for (Eigen::Index j = k + 1; j < i; ++j) {
          const Eigen::Index c = order_[j];
          L_(c, r) = L_(r, c) -= l * L_(p, c);
        }
        L_(r, r) -= l * L_(p, r);
        L_(r, p) = l;
      }
      L_(p, p) = inverse;
      ++rank_;
    }
  }

  /// x with A x = b, for b in the range of A.
  void solve(const VectorX<double>& b, VectorX<double>& x) {
    x.setZero();
    for (Eigen::Index k = 0; k < rank_; ++k) {
      double sum = b[order_[k]];
      for (Eigen::Index j = 0; j < k; ++j) sum -= L_(order_[k], order_[j]) * rows_[j];
      rows_[k] = sum;
    }
    for (Eigen::Index k = rank_; k-- > 0;) {
      double sum = rows_[k] * L_(order_[k], order_[k]);
      for (Eigen::Index j = k + 1; j < rank_; ++j) sum -= L_(order_[j], order_[k]) * x[order_[j]];
      x[order_[k]] = sum;
    }
  }

 private:
  static constexpr double kRankTolerance = 1e-11;  // as ConstrainedOptions::rank_tolerance
  std::vector<int> groups_;
  MatrixX<double> L_;
  VectorX<double> rows_, scale_;
  Eigen::Matrix<Eigen::Index, Eigen::Dynamic, 1> order_;
  Eigen::Index rank_ = 0;
};

}  // namespace

// Symbols: e, J, B, A and c as in codegen/record/trace_loops.hpp; x multipliers, one per row.
struct CompiledLoops::Impl {
  Impl(const Model<double>& robot, codegen::LoopTraces traces)
      : space(robot),
        error(std::move(traces.error)),
        matrix(std::move(traces.matrix)),
        drift(std::move(traces.drift)),
        m(error.outputs()[0].rows),
        n(robot.nv()),
        factor(traces.row_groups),
        J(m, n),
        B(n, m),
        A(m, m),
        e(m),
        x(m),
        q(VectorX<double>::Constant(robot.nq(), std::nan(""))),
        q_new(q),
        v_new(n),
        step(n) {}

  void find_error(const VectorX<double>& at) {
    const double* const in[] = {at.data()};
    double* const out[] = {e.data()};
    error.run(in, out);
  }
  /// Computes e, J, B, A at a configuration, and the factor of A.
  void find_matrix(const VectorX<double>& at) {
    const double* const in[] = {at.data()};
    double* const out[] = {e.data(), J.data(), B.data(), A.data()};
    matrix.run(in, out);
    factor.compute(A);
    q = at;
  }
  /// step = -B A^-1 right
  void find_step(const VectorX<double>& right) {
    factor.solve(right, x);
    step.noalias() = B.lazyProduct(x);
    step = -step;
  }

  ConfigurationSpace<double> space;
  codegen::Program error, matrix, drift;
  Eigen::Index m, n;
  PivotedFactor factor;
  MatrixX<double> J, B, A;
  VectorX<double> e, x;
  VectorX<double> q;  ///< of J, B, A and their factor
  VectorX<double> q_new, v_new, step;
};

CompiledLoops::CompiledLoops(const Model<double>& model, const JointEffects& effects)
    : impl_(std::make_unique<Impl>(model, codegen::trace_loops(model, effects))) {}

CompiledLoops::~CompiledLoops() = default;

void CompiledLoops::constrain(const RobotState<double>& s, VectorX<double>& a) {
  Impl& p = *impl_;
  if (p.q != s.q) p.find_matrix(s.q);
  const double* const in[] = {s.q.data(), s.v.data()};
  double* const out[] = {p.e.data()};
  p.drift.run(in, out);
  p.e.noalias() += p.J.lazyProduct(a);
  p.find_step(p.e);
  a += p.step;
}

bool CompiledLoops::close(RobotState<double>& s) {
  Impl& p = *impl_;
  constexpr double kFar = 1e-3, kClosed = 1e-13;
  // The matrix of the start of the step, where known, removes most of the error, so that the matrix
  // of the end is computed only once.
  p.q_new = s.q;
  double before = kFar;
  for (int i = 0; i < 5 && std::isfinite(p.q[0]); ++i) {
    p.find_error(p.q_new);
    const double size = p.e.lpNorm<Eigen::Infinity>();
    if (size < kClosed) break;
    if (!(size < before)) {  // the matrix belongs to another configuration
      p.q_new = s.q;
      break;
    }
    before = size;
    p.find_step(p.e);
    p.space.move(p.q_new, p.step, p.q_new);
  }
  constexpr int kSteps = 6;
  for (int i = 0; i < kSteps; ++i) {
    p.find_matrix(p.q_new);
    const double size = p.e.lpNorm<Eigen::Infinity>();
    if (!(size < kFar)) return false;
    if (size < kClosed) {
      p.e.noalias() = p.J.lazyProduct(s.v);
      p.find_step(p.e);
      s.v += p.step;
      s.q = p.q_new;
      return s.v.allFinite();
    }
    p.find_step(p.e);
    p.space.move(p.q_new, p.step, p.q_new);
  }
  return false;
}

}  // namespace limb
