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
        outer_(options.max_outer),
        equilibrate_every_(options.equilibrate_every) {
    time_limit = options.time_limit;
    qp_.settings.eps_abs = options.tolerance;
    qp_.settings.eps_rel = 0;
    // Without this it stops at points with multipliers on constraints that are not active.
    qp_.settings.check_duality_gap = true;
    qp_.settings.eps_duality_gap_abs = 10 * options.tolerance;
    qp_.settings.eps_primal_inf = 1e-8;  // with its 1e-4, feasible problems were called infeasible
    if (options.surely_feasible) qp_.settings.eps_primal_inf = 0;
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
    iterations = 0;
    run();
    // ProxQP does not ask whether multipliers have the sign of a bound that is there: those that
    // have not are cleared, and it goes on from there.
    bool false_pushes = clear_false_pushes(p) > tolerance_;
    for (int again = 0; again < 3 && false_pushes && !out_of_time(); ++again) {
      qp_.update(nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, false);
      run();
      false_pushes = clear_false_pushes(p) > tolerance_;
    }
    x = qp_.results.x;
    y = qp_.results.y;
    z = qp_.results.z;
    if (!x.allFinite() || !y.allFinite() || !z.allFinite()) return QpStatus::iteration_limit;
    switch (qp_.results.info.status) {
      case proxqp::QPSolverOutput::PROXQP_SOLVED:
        return false_pushes ? QpStatus::iteration_limit : QpStatus::solved;
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
  /// To the end, or, where time is limited, a few changes of the multipliers at a time.
  void run() {
    using proxsuite::nullopt;
    using Guess = proxqp::InitialGuessStatus;
    constexpr int kSlice = 4;
    const bool limited = time_limit > 0;
    for (int done = 0; done < outer_; done += kSlice) {
      qp_.settings.max_iter = limited ? std::min(kSlice, outer_ - done) : outer_;
      if (done > 0) {  // the same problem, with the parameters that it has come to
        qp_.settings.initial_guess = Guess::WARM_START_WITH_PREVIOUS_RESULT;
        qp_.update(nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, false);
      }
      qp_.solve();
      iterations += static_cast<int>(qp_.results.info.iter);
      const bool stopped =
          qp_.results.info.status == proxqp::QPSolverOutput::PROXQP_MAX_ITER_REACHED;
      if (!limited || !stopped || out_of_time()) break;
    }
    qp_.settings.initial_guess = Guess::COLD_START_WITH_PREVIOUS_RESULT;
  }

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
  int outer_, equilibrate_every_;
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
