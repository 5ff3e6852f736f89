// The only file that includes ProxQP.
#include <algorithm>
#include <cmath>

#include "limb/control/qp/qp_problem.hpp"
#include "limb/control/qp/qp_proxqp_insert.hpp"

// After qp_proxqp_insert.hpp, which specializes one of its templates.
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
    // Without this it stops at points with nonzero multipliers of inactive constraints.
    qp_.settings.check_duality_gap = true;
    qp_.settings.eps_duality_gap_abs = 10 * options.tolerance;
    qp_.settings.eps_primal_inf = 1e-8;  // the default 1e-4 reports feasible problems as infeasible
    if (options.known_feasible) qp_.settings.eps_primal_inf = 0;
    qp_.settings.max_iter_in = options.max_inner;
    // From the previous solution, but with initial proximal parameters: with the final ones of the
    // last solve, a different problem is easily reported as infeasible.
    qp_.settings.initial_guess = proxqp::InitialGuessStatus::COLD_START_WITH_PREVIOUS_RESULT;
    x.setZero(p.g.size());
    y.setZero(p.b.size());
    z.setZero(p.lower.size());
    // All allocations of the solver happen here.
    qp_.init(p.H, p.g, p.A, p.b, p.C, p.lower, p.upper, true);
  }

  Status solve(const QpProblem& p) noexcept override try {
    const bool equilibrate =
        solves_ == 0 || (equilibrate_every_ > 0 && solves_ % equilibrate_every_ == 0);
    ++solves_;
    // Vectors are assigned directly: update() would allocate a copy of each.
    qp_.model.g = p.g;
    qp_.model.b = p.b;
    qp_.model.l = p.lower;
    qp_.model.u = p.upper;
    clear_invalid_multipliers(p);  // of bounds that existed in the last solve
    using proxsuite::nullopt;
    qp_.update(p.H, nullopt, p.A, nullopt, p.C, nullopt, nullopt, equilibrate);
    iterations = 0;
    run();
    // ProxQP does not check whether the sign of a multiplier belongs to a finite bound: those of
    // infinite bounds are cleared, and the solve continues from there.
    bool invalid_multipliers = clear_invalid_multipliers(p) > tolerance_;
    for (int again = 0; again < 3 && invalid_multipliers && !out_of_time(); ++again) {
      qp_.update(nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, nullopt, false);
      run();
      invalid_multipliers = clear_invalid_multipliers(p) > tolerance_;
    }
    x = qp_.results.x;
    y = qp_.results.y;
    z = qp_.results.z;
    if (!x.allFinite() || !y.allFinite() || !z.allFinite()) return Status::iteration_limit;
    switch (qp_.results.info.status) {
      case proxqp::QPSolverOutput::PROXQP_SOLVED:
        return invalid_multipliers ? Status::iteration_limit : Status::ok;
      case proxqp::QPSolverOutput::PROXQP_PRIMAL_INFEASIBLE:
        return Status::primal_infeasible;
      case proxqp::QPSolverOutput::PROXQP_DUAL_INFEASIBLE:
        return Status::dual_infeasible;
      default:
        return Status::iteration_limit;
    }
  } catch (...) {  // sizes are correct by construction: the solver does not throw
    return Status::iteration_limit;
  }

  void reset() noexcept override {
    qp_.results.cleanup(qp_.settings);
    solves_ = 0;
  }

 private:
  /// Solves at once, or, with a time limit, in slices of a few multiplier updates.
  void run() {
    using proxsuite::nullopt;
    using Guess = proxqp::InitialGuessStatus;
    constexpr int kSlice = 4;
    const bool limited = time_limit > 0;
    for (int done = 0; done < outer_; done += kSlice) {
      qp_.settings.max_iter = limited ? std::min(kSlice, outer_ - done) : outer_;
      if (done > 0) {  // the same problem, with its current parameters
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

  /// Sets multipliers of infinite bounds to zero. @returns the largest of them.
  double clear_invalid_multipliers(const QpProblem& p) {
    double largest = 0;
    for (Eigen::Index i = 0; i < p.lower.size(); ++i) {
      double& multiplier = qp_.results.z[i];
      if (multiplier == 0 || std::isfinite(multiplier > 0 ? p.upper[i] : p.lower[i])) continue;
      largest = std::max(largest, std::abs(multiplier));
      multiplier = 0;
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
