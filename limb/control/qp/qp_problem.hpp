#pragma once

#include <limits>
#include <memory>

#include "limb/control/qp/qp.hpp"
#include "limb/control/whole_body/stopwatch.hpp"

/// Interface between Qp and the solver, so that only one file includes the headers of the solver.
namespace limb {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct QpProblem {
  QpProblem(int variables, int equalities, int inequalities) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    H.setZero(variables, variables);
    A.setZero(equalities, variables);
    C.setZero(inequalities, variables);
    g.setZero(variables);
    b.setZero(equalities);
    lower.setConstant(inequalities, -kInfinity);
    upper.setConstant(inequalities, kInfinity);
  }
  RowMajorMatrix H, A, C;
  VectorX<double> g, b, lower, upper;
};

class QpSolver {
 public:
  virtual ~QpSolver() = default;
  virtual Status solve(const QpProblem& problem) noexcept = 0;
  virtual void reset() noexcept = 0;

  /// Starts the clock of the time limit.
  void start_clock() noexcept { watch_.restart(); }
  bool out_of_time() const noexcept {
    return time_limit > 0 && watch_.microseconds() > 1e6 * time_limit;
  }

  VectorX<double> x, y, z;
  int iterations = 0;
  double time_limit = 0;  ///< s; 0: no limit

 private:
  Stopwatch watch_;
};

/// Both are defined in qp_proxqp.cpp, or in qp_none.cpp if there is no solver.
bool qp_solver_available();
std::unique_ptr<QpSolver> make_qp_solver(const QpProblem& problem, const QpOptions& options);

}  // namespace limb
