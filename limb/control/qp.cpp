#include "limb/control/qp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "limb/base/check.hpp"
#include "limb/control/qp_problem.hpp"

namespace limb {

std::string_view to_text(QpStatus status) {
  switch (status) {
    case QpStatus::solved:
      return "solved";
    case QpStatus::iteration_limit:
      return "iteration limit";
    case QpStatus::primal_infeasible:
      return "primal infeasible";
    case QpStatus::dual_infeasible:
      return "dual infeasible";
    case QpStatus::not_finite:
      return "not finite";
  }
  return "unknown";
}

struct Qp::Parts {
  explicit Parts(const QpProblem& p) : problem(p) {}
  QpProblem problem;
  std::unique_ptr<QpSolver> solver;
  bool surely_feasible = false;
  bool forget_next = false;
  VectorX<double> Ax, Cx, gradient;  ///< room for residuals
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
  parts_ = std::make_unique<Parts>(QpProblem(variables, equalities, inequalities));
  parts_->surely_feasible = options.surely_feasible;
  parts_->solver = make_qp_solver(parts_->problem, options);
  parts_->Ax.setZero(equalities);
  parts_->Cx.setZero(inequalities);
  parts_->gradient.setZero(variables);
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
  return x.size() == 0 ? 0 : x.lpNorm<Eigen::Infinity>();
}

}  // namespace

int Qp::variables() const {
  return static_cast<int>(parts_->problem.g.size());
}
int Qp::equalities() const {
  return static_cast<int>(parts_->problem.b.size());
}
int Qp::inequalities() const {
  return static_cast<int>(parts_->problem.lower.size());
}
Qp::Matrix Qp::H() {
  return map(parts_->problem.H);
}
Qp::Matrix Qp::A() {
  return map(parts_->problem.A);
}
Qp::Matrix Qp::C() {
  return map(parts_->problem.C);
}
Qp::Vector Qp::g() {
  return map(parts_->problem.g);
}
Qp::Vector Qp::b() {
  return map(parts_->problem.b);
}
Qp::Vector Qp::lower() {
  return map(parts_->problem.lower);
}
Qp::Vector Qp::upper() {
  return map(parts_->problem.upper);
}
const VectorX<double>& Qp::x() const {
  return parts_->solver->x;
}
const VectorX<double>& Qp::y() const {
  return parts_->solver->y;
}
const VectorX<double>& Qp::z() const {
  return parts_->solver->z;
}
int Qp::iterations() const {
  return parts_->solver->iterations;
}
void Qp::forget() noexcept {
  parts_->solver->forget();
}

// By Farkas: a feasible x gives x^T (A^T y + C^T z) <= b^T y + (bounds that z pushes from)^T z for
// any y, z. Where the right side is negative, x must be at least as far from zero as that number
// divided by the length of A^T y + C^T z. The least violation of a problem without solution is such
// a proof: y = A x - b, and z what C x is beyond its bounds, for which the right side is x^T (A^T y
// + C^T z) - |y|^2 - |z|^2.
bool Qp::proves_infeasible(Parts& p) {
  constexpr double kFar = 1e4;  // in the units of x, which are to be chosen so that this is far
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

QpStatus Qp::solve() noexcept {
  const QpProblem& p = parts_->problem;
  if (std::exchange(parts_->forget_next, false)) parts_->solver->forget();
  const bool numbers = p.H.allFinite() && p.g.allFinite() && p.A.allFinite() && p.b.allFinite() &&
                       p.C.allFinite() && !p.lower.hasNaN() && !p.upper.hasNaN();
  if (!numbers) {
    parts_->solver->forget();
    return QpStatus::not_finite;
  }
  // Bounds that contradict each other need no solver.
  if ((p.lower.array() > p.upper.array()).any()) {
    parts_->solver->forget();
    return QpStatus::primal_infeasible;
  }
  parts_->solver->begin_time();
  QpStatus status = parts_->solver->solve(p);
  // A start near another problem's solution may look like a proof that there is none, or lead away:
  // only from zero does a failure count.
  if (status != QpStatus::solved && parts_->solver->out_of_time()) {
    // What it stopped at is left for residuals(); the next solve starts from zero.
    parts_->forget_next = true;
  } else if (status != QpStatus::solved) {
    parts_->solver->forget();
    status = parts_->solver->solve(p);
    if (status == QpStatus::iteration_limit && !parts_->surely_feasible &&
        proves_infeasible(*parts_)) {
      status = QpStatus::primal_infeasible;
    }
    if (status == QpStatus::primal_infeasible || status == QpStatus::dual_infeasible) {
      parts_->solver->forget();
    }
  }
  return status;
}

QpResiduals Qp::residuals() const noexcept {
  Parts& p = *parts_;
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
    r.primal = std::max({r.primal, above, below});
    const double slack = z_[i] > 0 ? above : below;
    if (std::isfinite(slack)) {
      r.complementarity = std::max(r.complementarity, std::abs(z_[i] * slack));
    } else {
      r.dual = std::max(r.dual, std::abs(z_[i]));
    }
  }
  return r;
}

}  // namespace limb
