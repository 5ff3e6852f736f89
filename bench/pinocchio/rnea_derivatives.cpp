#include <pinocchio/algorithm/rnea-derivatives.hpp>

#include "robot.hpp"

// Results stay in pinocchio::Data; they are copied only for the comparison.
extern "C" __attribute__((visibility("default"))) void opponent_rnea_derivatives(
    void* robot, const double* q, const double* v, const double* a, double* dq, double* dv,
    double* da) {
  opponent::Robot& r = opponent::of(robot);
  const int n = r.model.nv;
  pinocchio::computeRNEADerivatives(r.model, r.data, opponent::Vector(q, r.model.nq),
                                    opponent::Vector(v, n), opponent::Vector(a, n));
  if (dq == nullptr) return;
  Eigen::Map<Eigen::MatrixXd>(dq, n, n) = r.data.dtau_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, n, n) = r.data.dtau_dv;
  Eigen::Map<Eigen::MatrixXd>(da, n, n) = r.data.M.selfadjointView<Eigen::Upper>();
}
