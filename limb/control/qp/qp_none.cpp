// Built without a solver of quadratic programs: the constructor of Qp throws.
#include "limb/control/qp/qp_problem.hpp"

namespace limb {

bool qp_solver_available() {
  return false;
}
std::unique_ptr<QpSolver> make_qp_solver(const QpProblem&, const QpOptions&) {
  return nullptr;
}

}  // namespace limb
