#include <pinocchio/algorithm/rnea.hpp>

#include "robot.hpp"

void opponent::rnea(void* robot, const double* q, const double* v, const double* a, double* tau) {
  Robot& r = of(robot);
  VectorTo(tau, r.model.nv) = pinocchio::rnea(r.model, r.data, Vector(q, r.model.nq),
                                              Vector(v, r.model.nv), Vector(a, r.model.nv));
}
