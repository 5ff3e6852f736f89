#pragma once

#include <limits>
#include <memory>

#include "limb/control/qp.hpp"

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

  VectorX<double> x, y, z;
  int iterations = 0;
};

/// Both are in qp_proxqp.cpp, or in qp_none.cpp where there is no solver.
bool qp_solver_available();
std::unique_ptr<QpSolver> make_qp_solver(const QpProblem& problem, const QpOptions& options);

}  // namespace limb
