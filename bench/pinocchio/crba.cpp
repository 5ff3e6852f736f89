#include <pinocchio/algorithm/crba.hpp>

#include "robot.hpp"

// The result stays in pinocchio::Data; it is copied only for the comparison.
void opponent::crba(void* robot, const double* q, double* M) {
  Robot& r = of(robot);
  pinocchio::crba(r.model, r.data, Vector(q, r.model.nq), pinocchio::Convention::LOCAL);
  if (M != nullptr) Eigen::Map<Eigen::MatrixXd>(M, r.model.nv, r.model.nv) = r.data.M;
}
