// The one file that sees ProxQP.
#include <algorithm>
#include <cmath>

#include "limb/control/qp_problem.hpp"
#include "limb/control/qp_proxqp_insert.hpp"

// After what it uses.
#include <proxsuite/proxqp/dense/dense.hpp>

namespace limb {
namespace {

namespace proxqp = proxsuite::proxqp;

class ProxQp final : public QpSolver {
 public:
  ProxQp(const QpProblem& p, const QpOptions& options)
      : qp_(p.g.size(), p.b.size(), p.lower.size(), false, proxqp::HessianType::Dense,
            proxqp::DenseBackend::PrimalDualLDLT),
        tolerance_(options.tolerance),
        equilibrate_every_(options.equilibrate_every) {
    qp_.settings.eps_abs = options.tolerance;
    qp_.settings.eps_rel = 0;
    // Without this it stops at points with multipliers on constraints that are not active.
    qp_.settings.check_duality_gap = true;
    qp_.settings.eps_duality_gap_abs = 10 * options.tolerance;
    qp_.settings.eps_primal_inf = 1e-8;  // with its 1e-4, feasible problems were called infeasible
    if (options.surely_feasible) qp_.settings.eps_primal_inf = 0;
    qp_.settings.max_iter = options.max_outer;
    qp_.settings.max_iter_in = options.max_inner;
    // From the solution before, but with the proximal parameters of a first solve: with those that
    // the last one ended with, another problem is easily taken for an infeasible one.
    qp_.settings.initial_guess = proxqp::InitialGuessStatus::COLD_START_WITH_PREVIOUS_RESULT;
    x.setZero(p.g.size());
    y.setZero(p.b.size());
    z.setZero(p.lower.size());
    // What the solver takes from the heap it takes here.
    qp_.init(p.H, p.g, p.A, p.b, p.C, p.lower, p.upper, true);
  }

  QpStatus solve(const QpProblem& p) noexcept override try {
    const bool equilibrate =
        solves_ == 0 || (equilibrate_every_ > 0 && solves_ % equilibrate_every_ == 0);
    ++solves_;
    // Vectors are handed over by hand: update() would copy each by way of the heap.
    qp_.model.g = p.g;
    qp_.model.b = p.b;
    qp_.model.l = p.lower;
    qp_.model.u = p.upper;
    clear_false_pushes(p);  // of bounds that were there in the last solve
    using proxsuite::nullopt;
    qp_.update(p.H, nullopt, p.A, nullopt, p.C, nullopt, nullopt, equilibrate);
    qp_.solve();
    // ProxQP does not ask whether multipliers have the sign of a bound that is there: those that
    // have not are cleared, and it goes on from there.
    for (int again = 0; again < 3 && clear_false_pushes(p) > tolerance_; ++again) {
      qp_.update(nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, false);
      qp_.solve();
    }
    x = qp_.results.x;
    y = qp_.results.y;
    z = qp_.results.z;
    iterations = static_cast<int>(qp_.results.info.iter);
    if (!x.allFinite() || !y.allFinite() || !z.allFinite()) return QpStatus::iteration_limit;
    switch (qp_.results.info.status) {
      case proxqp::QPSolverOutput::PROXQP_SOLVED:
        return QpStatus::solved;
      case proxqp::QPSolverOutput::PROXQP_PRIMAL_INFEASIBLE:
        return QpStatus::primal_infeasible;
      case proxqp::QPSolverOutput::PROXQP_DUAL_INFEASIBLE:
        return QpStatus::dual_infeasible;
      default:
        return QpStatus::iteration_limit;
    }
  } catch (...) {  // sizes are right by construction: nothing is left that the solver would throw
    return QpStatus::iteration_limit;
  }

  void forget() noexcept override {
    qp_.results.cleanup(qp_.settings);
    solves_ = 0;
  }

 private:
  /// Multipliers that push from an infinite bound become zero. @returns the largest of them.
  double clear_false_pushes(const QpProblem& p) {
    double largest = 0;
    for (Eigen::Index i = 0; i < p.lower.size(); ++i) {
      double& push = qp_.results.z[i];
      if (push == 0 || std::isfinite(push > 0 ? p.upper[i] : p.lower[i])) continue;
      largest = std::max(largest, std::abs(push));
      push = 0;
    }
    return largest;
  }

  proxqp::dense::QP<double> qp_;
  double tolerance_;
  int equilibrate_every_;
  long solves_ = 0;
};

}  // namespace

bool qp_solver_available() {
  return true;
}
std::unique_ptr<QpSolver> make_qp_solver(const QpProblem& problem, const QpOptions& options) {
  return std::make_unique<ProxQp>(problem, options);
}

}  // namespace limb
