#include <pinocchio/algorithm/aba-derivatives.hpp>

#include "robot.hpp"

// Results stay in pinocchio::Data; they are copied only for the comparison.
extern "C" __attribute__((visibility("default"))) void opponent_aba_derivatives(
    void* robot, const double* q, const double* v, const double* tau, double* dq, double* dv,
    double* dtau) {
  opponent::Robot& r = opponent::of(robot);
  const int n = r.model.nv;
  pinocchio::computeABADerivatives(r.model, r.data, opponent::Vector(q, r.model.nq),
                                   opponent::Vector(v, n), opponent::Vector(tau, n));
  if (dq == nullptr) return;
  Eigen::Map<Eigen::MatrixXd>(dq, n, n) = r.data.ddq_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, n, n) = r.data.ddq_dv;
  Eigen::Map<Eigen::MatrixXd>(dtau, n, n) = r.data.Minv.selfadjointView<Eigen::Upper>();
}
