#include <pinocchio/algorithm/constrained-dynamics.hpp>

#include "robot.hpp"

void opponent::set_contacts(void* robot, const OpponentContact* contacts, int count) {
  Robot& r = of(robot);
  r.contacts.clear();
  r.contact_data.clear();
  for (int i = 0; i < count; ++i) {
    const OpponentContact& c = contacts[i];
    r.contacts.emplace_back(
        c.surface != 0 ? pinocchio::CONTACT_6D : pinocchio::CONTACT_3D, r.model,
        static_cast<pinocchio::JointIndex>(c.body),
        pinocchio::SE3(Eigen::Matrix3d::Identity(), Eigen::Vector3d(c.p[0], c.p[1], c.p[2])),
        pinocchio::LOCAL);
    r.contact_data.emplace_back(r.contacts.back());
  }
  pinocchio::initConstraintDynamics(r.model, r.data, r.contacts, r.contact_data);
}

void opponent::constrained(void* robot, const double* q, const double* v, const double* tau,
                           double* a) {
  Robot& r = of(robot);
  static pinocchio::ProximalSettings settings(1e-12, 0.0, 1);
  VectorTo(a, r.model.nv) =
      pinocchio::constraintDynamics(r.model, r.data, Vector(q, r.model.nq), Vector(v, r.model.nv),
                                    Vector(tau, r.model.nv), r.contacts, r.contact_data, settings);
}
