#include "robot.hpp"

namespace opponent {
namespace {

pinocchio::JointModel joint_of(const OpponentBody& b) {
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

void* make(const OpponentBody* bodies, int count, const double gravity[3]) {
  using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  auto* robot = new Robot;
  for (int i = 0; i < count; ++i) {
    const OpponentBody& b = bodies[i];
    const pinocchio::SE3 placement(Eigen::Matrix3d(RowMajor(b.R)),
                                   Eigen::Vector3d(b.p[0], b.p[1], b.p[2]));
    const auto id = robot->model.addJoint(static_cast<pinocchio::JointIndex>(b.parent), joint_of(b),
                                          placement, "j" + std::to_string(i + 1));
    robot->model.appendBodyToJoint(
        id,
        pinocchio::Inertia(b.mass, Eigen::Vector3d(b.center[0], b.center[1], b.center[2]),
                           Eigen::Matrix3d(RowMajor(b.inertia))),
        pinocchio::SE3::Identity());
  }
  robot->model.gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  robot->data = pinocchio::Data(robot->model);
  return robot;
}

void release(void* robot) {
  delete static_cast<Robot*>(robot);
}

}  // namespace
}  // namespace opponent

extern "C" __attribute__((visibility("default"))) const OpponentTable* opponent_door() {
  static const OpponentTable table = {
      OPPONENT_BUILD, opponent::make, opponent::release,      opponent::rnea,
      opponent::crba, opponent::aba,  opponent::set_contacts, opponent::constrained};
  return &table;
}
