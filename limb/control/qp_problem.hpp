#pragma once

#include <limits>
#include <memory>

#include "limb/control/qp.hpp"
#include "limb/control/whole_body_clock.hpp"

/// What Qp hands to the solver, so that one file alone knows the solver's headers.
namespace limb {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct QpProblem {
  QpProblem(int variables, int equalities, int inequalities) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    H.setZero(variables, variables);
    A.setZero(equalities, variables);
    C.setZero(inequalities, variables);
    g.setZero(variables);
    b.setZero(equalities);
    lower.setConstant(inequalities, -kNone);
    upper.setConstant(inequalities, kNone);
  }
  RowMajorMatrix H, A, C;
  VectorX<double> g, b, lower, upper;
};

class QpSolver {
 public:
  virtual ~QpSolver() = default;
  virtual QpStatus solve(const QpProblem& problem) noexcept = 0;
  virtual void forget() noexcept = 0;

  /// A solve begins now: its limit of time counts from here.
  void begin_time() noexcept { began_.restart(); }
  bool out_of_time() const noexcept {
    return time_limit > 0 && began_.microseconds() > 1e6 * time_limit;
  }

  VectorX<double> x, y, z;
  int iterations = 0;
  double time_limit = 0;  ///< s; 0: none

 private:
  Stopwatch began_;
};

/// Both are in qp_proxqp.cpp, or in qp_none.cpp where there is no solver.
bool qp_solver_available();
std::unique_ptr<QpSolver> make_qp_solver(const QpProblem& problem, const QpOptions& options);

}  // namespace limb
