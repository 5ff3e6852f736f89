#pragma once

#include <pinocchio/multibody.hpp>
#include <string>

#include "opponent.h"

namespace opponent {

inline pinocchio::JointModel joint_of(const OpponentBody& b) {
  const Eigen::Vector3d axis(b.axis[0], b.axis[1], b.axis[2]);
  const auto is = [&](int k) { return axis == Eigen::Vector3d::Unit(k); };
  if (b.joint == OPPONENT_FREE) return pinocchio::JointModelFreeFlyer();
  if (b.joint == OPPONENT_PRISMATIC) {
    if (is(0)) return pinocchio::JointModelPX();
    if (is(1)) return pinocchio::JointModelPY();
    if (is(2)) return pinocchio::JointModelPZ();
    return pinocchio::JointModelPrismaticUnaligned(axis);
  }
  if (is(0)) return pinocchio::JointModelRX();
  if (is(1)) return pinocchio::JointModelRY();
  if (is(2)) return pinocchio::JointModelRZ();
  return pinocchio::JointModelRevoluteUnaligned(axis);
}

inline pinocchio::Model model_of(const OpponentBody* bodies, int count, const double gravity[3]) {
  using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  pinocchio::Model model;
  for (int i = 0; i < count; ++i) {
    const OpponentBody& b = bodies[i];
    const pinocchio::SE3 placement(Eigen::Matrix3d(RowMajor(b.R)),
                                   Eigen::Vector3d(b.p[0], b.p[1], b.p[2]));
    const auto id = model.addJoint(static_cast<pinocchio::JointIndex>(b.parent), joint_of(b),
                                   placement, "j" + std::to_string(i + 1));
    model.appendBodyToJoint(
        id,
        pinocchio::Inertia(b.mass, Eigen::Vector3d(b.center[0], b.center[1], b.center[2]),
                           Eigen::Matrix3d(RowMajor(b.inertia))),
        pinocchio::SE3::Identity());
  }
  model.gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  return model;
}

}  // namespace opponent
