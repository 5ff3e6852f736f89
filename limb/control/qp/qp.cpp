#include "limb/control/qp/qp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "limb/base/check.hpp"
#include "limb/base/max_or_nan.hpp"
#include "limb/control/qp/qp_problem.hpp"

namespace limb {

struct Qp::Impl {
  explicit Impl(const QpProblem& p) : problem(p) {}
  QpProblem problem;
  std::unique_ptr<QpSolver> solver;
  bool known_feasible = false;
  bool reset_next = false;
  VectorX<double> Ax, Cx, gradient;  ///< workspace of residuals()
};

bool Qp::available() {
  return qp_solver_available();
}

Qp::Qp(int variables, int equalities, int inequalities, const QpOptions& options) {
  if (!available()) {
    throw Error(
        "Qp: limb was built without a solver of quadratic programs (./run build installs proxsuite "
        "where the Python package index answers)");
  }
  check_positive("Qp", "variables", variables);
  check_not_negative("Qp", "equalities", equalities);
  check_not_negative("Qp", "inequalities", inequalities);
  check_positive("Qp", "tolerance", options.tolerance);
  check_positive("Qp", "max_outer", options.max_outer);
  check_positive("Qp", "max_inner", options.max_inner);
  check_not_negative("Qp", "equilibrate_every", options.equilibrate_every);
  check_not_negative("Qp", "time_limit", options.time_limit);
  impl_ = std::make_unique<Impl>(QpProblem(variables, equalities, inequalities));
  impl_->known_feasible = options.known_feasible;
  impl_->solver = make_qp_solver(impl_->problem, options);
  impl_->Ax.setZero(equalities);
  impl_->Cx.setZero(inequalities);
  impl_->gradient.setZero(variables);
}
Qp::~Qp() = default;
Qp::Qp(Qp&&) noexcept = default;
Qp& Qp::operator=(Qp&&) noexcept = default;

namespace {

Qp::Matrix map(RowMajorMatrix& M) {
  return {M.data(), M.rows(), M.cols()};
}
Qp::Vector map(VectorX<double>& x) {
  return {x.data(), x.size()};
}

double largest(const VectorX<double>& x) {
  return x.size() == 0 ? 0 : x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
}

}  // namespace

int Qp::variables() const {
  return static_cast<int>(impl_->problem.g.size());
}
int Qp::equalities() const {
  return static_cast<int>(impl_->problem.b.size());
}
int Qp::inequalities() const {
  return static_cast<int>(impl_->problem.lower.size());
}
Qp::Matrix Qp::H() {
  return map(impl_->problem.H);
}
Qp::Matrix Qp::A() {
  return map(impl_->problem.A);
}
Qp::Matrix Qp::C() {
  return map(impl_->problem.C);
}
Qp::Vector Qp::g() {
  return map(impl_->problem.g);
}
Qp::Vector Qp::b() {
  return map(impl_->problem.b);
}
Qp::Vector Qp::lower() {
  return map(impl_->problem.lower);
}
Qp::Vector Qp::upper() {
  return map(impl_->problem.upper);
}
const VectorX<double>& Qp::x() const {
  return impl_->solver->x;
}
const VectorX<double>& Qp::y() const {
  return impl_->solver->y;
}
const VectorX<double>& Qp::z() const {
  return impl_->solver->z;
}
int Qp::iterations() const {
  return impl_->solver->iterations;
}
void Qp::reset() noexcept {
  impl_->solver->reset();
}

// By Farkas' lemma: a feasible x satisfies x^T (A^T y + C^T z) <= b^T y + (bounds selected by the
// signs of z)^T z for any y, z. If the right side is negative, |x| is at least its magnitude
// divided by |A^T y + C^T z|. The least-violation point of an infeasible problem gives such a
// certificate: y = A x - b and z = violation of the bounds by C x, for which the right side is
// x^T (A^T y + C^T z) - |y|^2 - |z|^2.
bool Qp::proves_infeasible(Impl& p) {
  constexpr double kFar = 1e4;  // in the units of x, which must be scaled so that this is large
  const QpProblem& problem = p.problem;
  const VectorX<double>& at = p.solver->x;
  if (!at.allFinite()) return false;
  p.Ax.noalias() = problem.A * at;
  p.Ax -= problem.b;
  p.Cx.noalias() = problem.C * at;
  for (Eigen::Index i = 0; i < p.Cx.size(); ++i) {
    p.Cx[i] -= std::clamp(p.Cx[i], problem.lower[i], problem.upper[i]);
  }
  p.gradient.noalias() = problem.A.transpose() * p.Ax;
  p.gradient.noalias() += problem.C.transpose() * p.Cx;
  const double right = at.dot(p.gradient) - p.Ax.squaredNorm() - p.Cx.squaredNorm();
  return right < -kFar * p.gradient.norm();
}

Status Qp::solve() noexcept {
  const QpProblem& p = impl_->problem;
  if (std::exchange(impl_->reset_next, false)) impl_->solver->reset();
  const bool finite = p.H.allFinite() && p.g.allFinite() && p.A.allFinite() && p.b.allFinite() &&
                      p.C.allFinite() && !p.lower.hasNaN() && !p.upper.hasNaN();
  if (!finite) {
    impl_->solver->reset();
    return Status::not_finite;
  }
  // Contradicting bounds need no solver.
  if ((p.lower.array() > p.upper.array()).any()) {
    impl_->solver->reset();
    return Status::primal_infeasible;
  }
  impl_->solver->start_clock();
  Status status = impl_->solver->solve(p);
  // A warm start from another problem may cause a false infeasibility result or divergence: a
  // failure counts only from a cold start.
  if (status != Status::ok && impl_->solver->out_of_time()) {
    // The last iterate is kept for residuals(); the next solve starts from zero.
    impl_->reset_next = true;
  } else if (status != Status::ok) {
    impl_->solver->reset();
    status = impl_->solver->solve(p);
    if (status == Status::iteration_limit && !impl_->known_feasible && proves_infeasible(*impl_)) {
      status = Status::primal_infeasible;
    }
    if (status == Status::primal_infeasible || status == Status::dual_infeasible) {
      impl_->solver->reset();
    }
  }
  return status;
}

QpResiduals Qp::residuals() const noexcept {
  Impl& p = *impl_;
  const QpProblem& problem = p.problem;
  const VectorX<double>&x_ = p.solver->x, &y_ = p.solver->y, &z_ = p.solver->z;
  p.gradient.noalias() = problem.H * x_;
  p.gradient += problem.g;
  p.gradient.noalias() += problem.A.transpose() * y_;
  p.gradient.noalias() += problem.C.transpose() * z_;
  p.Ax.noalias() = problem.A * x_;
  p.Ax -= problem.b;
  p.Cx.noalias() = problem.C * x_;

  QpResiduals r;
  r.stationarity = largest(p.gradient);
  r.primal = largest(p.Ax);
  for (Eigen::Index i = 0; i < p.Cx.size(); ++i) {
    const double above = p.Cx[i] - problem.upper[i], below = problem.lower[i] - p.Cx[i];
    r.primal = max_or_nan(r.primal, max_or_nan(above, below));
    const double slack = z_[i] > 0 ? above : below;
    if (std::isfinite(slack)) {
      r.complementarity = max_or_nan(r.complementarity, std::abs(z_[i] * slack));
    } else {
      r.dual = max_or_nan(r.dual, std::abs(z_[i]));
    }
  }
  return r;
}

}  // namespace limb
