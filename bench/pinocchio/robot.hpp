#pragma once

#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>
#include <vector>

#include "opponent.h"

namespace opponent {

struct Robot {
  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<pinocchio::RigidConstraintModel,
              Eigen::aligned_allocator<pinocchio::RigidConstraintModel>>
      contacts;
  std::vector<pinocchio::RigidConstraintData,
              Eigen::aligned_allocator<pinocchio::RigidConstraintData>>
      contact_data;
};

inline Robot& of(void* robot) {
  return *static_cast<Robot*>(robot);
}
using Vector = Eigen::Map<const Eigen::VectorXd>;
using VectorTo = Eigen::Map<Eigen::VectorXd>;

void rnea(void* robot, const double* q, const double* v, const double* a, double* tau);
void crba(void* robot, const double* q, double* M);
void aba(void* robot, const double* q, const double* v, const double* tau, double* a);
void set_contacts(void* robot, const OpponentContact* contacts, int count);
void constrained(void* robot, const double* q, const double* v, const double* tau, double* a);

}  // namespace opponent
