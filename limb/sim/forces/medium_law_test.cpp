// Drag of a medium: closed forms of one body, and the implicit part against the derivatives of the
// force.
#include "limb/sim/forces/medium_law.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/max_abs.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

/// A box with edges 0.2, 0.3 and 0.4 m and 2 kg on a free joint, its centre off the origin.
Description<double> box(const MediumDescription& medium) {
  const Vector3<double> edges(0.2, 0.3, 0.4);
  Description<double> robot;
  robot.gravity.setZero();
  LinkDescription<double> link;
  link.name = "box";
  link.inertial.emplace();
  link.inertial->mass = 2;
  link.inertial->X_LI.p = Vector3<double>(0.1, 0, -0.2);
  const Vector3<double> squares = edges.cwiseAbs2();
  link.inertial->tensor = (2.0 / 12 * (squares.sum() - squares.array())).matrix().asDiagonal();
  JointDescription<double> joint;
  joint.name = "free";
  joint.type = JointType::free;
  joint.parent = kWorldLink;
  joint.child = "box";
  robot.links = {link};
  robot.joints = {joint};
  robot.scene.medium = medium;
  return robot;
}

/// The generalized force on the robot in this state.
VectorX<double> force(const Model<double>& model, const MediumDescription& medium,
                      const Description<double>& robot, const VectorX<double>& q,
                      const VectorX<double>& v, VectorX<double>* damping = nullptr) {
  MediumLaw law(model, medium, MediumLaw::links_of(model, robot));
  Kinematics<double> kinematics(model);
  RobotState<double> state{0, q, v, {}};
  ForceInput input(model, state, kinematics);
  AppliedLoads loads{VectorX<double>::Zero(model.nv()), {}, {}};
  law.add(input, loads);
  VectorX<double> tau = VectorX<double>::Zero(model.nv());
  for (const FrameWrench<double>& wrench : loads.wrenches) {
    MatrixX<double> J(6, model.nv());
    frame_jacobian<double>(model, input.kinematics(), wrench.frame, FrameAxes::local, J);
    tau += J.transpose() * wrench.F_F.vector();
  }
  if (damping != nullptr) {
    JointStiffness joints{VectorX<double>::Zero(model.uncoupled_nv()),
                          VectorX<double>::Zero(model.uncoupled_nv())};
    law.add_stiffness(input, joints);
    *damping = joints.damping;
  }
  return tau;
}

TEST(MediumLaw, DragOfABoxFollowsItsFormula) {
  const MediumDescription medium{1.5, 0.3, Vector3<double>(0.5, 0, 0)};
  const Description<double> robot = box(medium);
  const Model<double> model = build_model(robot);
  VectorX<double> v = VectorX<double>::Zero(6);
  v.head<3>() = Vector3<double>(2, -1, 0);  // no rotation: the mass centre moves like the origin
  const VectorX<double> tau = force(model, medium, robot, model.neutral(), v);
  const double d = 0.3, linear = 3 * kPi * 0.3 * d;
  const double fx = -linear * 1.5 - 1.5 / 2 * 0.3 * 0.4 * 1.5 * 1.5;
  const double fy = linear * 1 + 1.5 / 2 * 0.2 * 0.4 * 1 * 1;
  EXPECT_NEAR(tau[0], fx, 16 * kEps * std::abs(fx));
  EXPECT_NEAR(tau[1], fy, 16 * kEps * std::abs(fy));
  EXPECT_EQ(tau[2], 0);
  // About the origin of the link, from which the force at (0.1, 0, -0.2) is seen.
  EXPECT_NEAR(tau[3], 0.2 * fy, 1e-15);
  EXPECT_NEAR(tau[4], -0.2 * fx, 1e-15);
  EXPECT_NEAR(tau[5], 0.1 * fy, 1e-15);

  // A rotation about the z axis through the mass centre: v = -w x p.
  const MediumDescription calm{1.5, 0.3, Vector3<double>::Zero()};
  v << 0, -0.3, 0, 0, 0, 3;
  const VectorX<double> turn = force(model, calm, robot, model.neutral(), v);
  const double nz =
      -kPi * 0.3 * d * d * d * 3 - 1.5 / 64 * 0.4 * (std::pow(0.2, 4) + std::pow(0.3, 4)) * 9;
  EXPECT_NEAR(turn[5], nz, 64 * kEps * std::abs(nz));
  EXPECT_LT(turn.head<3>().norm(), 1e-15);
}

// For linear drag, power is -v^T D v with D = -dtau/dv: the damping of the implicit step is at
// least D.
TEST(MediumLaw, DampingOfTheStepIsAtLeastTheDerivative) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Description<double> robot = testing::random_tree(seed, {.joints = 8});
    const testing::Sample s = testing::sample_of("", build_model(robot, Base::free), seed);
    const MediumDescription medium{2, 0.5, Vector3<double>(1, 2, 3)};
    VectorX<double> damping;
    const VectorX<double> tau = force(s.model, medium, robot, s.q, s.v, &damping);
    const Eigen::Index n = s.model.nv();
    MatrixX<double> D(n, n);
    constexpr double kStep = 1e-6;
    for (Eigen::Index i = 0; i < n; ++i) {
      VectorX<double> v = s.v;
      v[i] += kStep;
      D.col(i) = (tau - force(s.model, medium, robot, s.q, v)) / kStep;
    }
    const MatrixX<double> rest = MatrixX<double>(damping.asDiagonal()) - (D + D.transpose()) / 2;
    const double least = Eigen::SelfAdjointEigenSolver<MatrixX<double>>(rest).eigenvalues()[0];
    EXPECT_GT(least, -1e-4 * D.norm());  // the error of the differences
    EXPECT_LT(max_abs(damping), double(n) * D.norm());
  }
}

}  // namespace
}  // namespace limb
