#include <pinocchio/algorithm/aba.hpp>

#include "robot.hpp"

void opponent::aba(void* robot, const double* q, const double* v, const double* tau, double* a) {
  Robot& r = of(robot);
  VectorTo(a, r.model.nv) =
      pinocchio::aba(r.model, r.data, Vector(q, r.model.nq), Vector(v, r.model.nv),
                     Vector(tau, r.model.nv), pinocchio::Convention::LOCAL);
}
