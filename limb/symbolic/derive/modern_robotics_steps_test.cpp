// The route with twists and wrenches gives the same forces, and its frames are exponentials of the
// screw axes.
#include "limb/symbolic/derive/modern_robotics_steps.hpp"

#include <gtest/gtest.h>

#include "limb/math/testing/compare.hpp"
#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using limb::testing::message;

const std::vector<std::string> kRobots = {"2r",       "rp",   "craig-rp",       "pr",
                                          "pp",       "rr",   "belt-leg",       "cartpole",
                                          "pendulum", "arm6", "planar-monopod", "planar-biped"};

TEST(ModernRobotics, GivesTheForcesOfTheOtherRoutes) {
  for (const std::string& name : kRobots) {
    DeriveOptions options;
    options.method = DerivationMethod::all;
    const Derivation d = derive(load_robot("builtin:" + name), options);
    EXPECT_EQ(d.form.tau, d.tau_newton_euler) << name;
    EXPECT_EQ(d.form.tau, d.tau_modern_robotics) << name;
    options.method = DerivationMethod::modern_robotics;
    const Derivation alone = derive(load_robot("builtin:" + name), options);
    ASSERT_EQ(alone.form.tau.size(), d.form.tau.size());
    EXPECT_EQ(to_text(alone.form.M(0, 0)), to_text(d.form.M(0, 0))) << name;
  }
}

/// exp(-[A] x) of a screw axis A = (w, v): with unit w, or w = 0 and any v.
Matrix exponential(const Vector& A, const P& x) {
  const Vector3<P> w(A[0], A[1], A[2]), v(A[3], A[4], A[5]);
  Matrix T = Matrix::Constant(4, 4, P(0));
  for (int i = 0; i < 4; ++i) T(i, i) = 1;
  const Matrix3<P> W = skew<P>(w), W2 = W * W;
  const bool turns = !w.dot(w).is_zero();
  const P s = sin(-x), c = P(1) - cos(-x);
  for (int r = 0; r < 3; ++r) {
    for (int k = 0; k < 3 && turns; ++k) {
      T(r, k) += s * W(r, k) + c * W2(r, k);
      // (1 x + (1 - cos x) W + (x - sin x) W^2) v
      T(r, 3) += (c * W(r, k) + (-x - s) * W2(r, k)) * v[k];
    }
    T(r, 3) += -x * v[r];
  }
  return T;
}

TEST(ModernRobotics, FramesAreExponentialsOfTheScrewAxes) {
  for (const std::string& name : kRobots) {
    const Robot robot = load_robot("builtin:" + name);
    const RingScope scope(robot.ring);
    const auto steps = modern_robotics_steps(robot, derive_links(robot, false));
    const VectorX<P> q = robot.model.coupling().expand_position(VectorX<P>(robot.q()));
    for (std::size_t k = 0; k < steps.links.size(); ++k) {
      const ModernRoboticsLink& link = steps.links[k];
      const P x = q[robot.model.bodies()[k + 1].q_start];
      const Matrix T = exponential(link.axis, x).lazyProduct(link.home);
      EXPECT_EQ(T, homogeneous(link.T_iP)) << name << " link " << k + 1;
    }
  }
}

TEST(ModernRobotics, ReportsJointsWithoutAScrewAxis) {
  const auto ring = Ring::make();
  const RingScope scope(ring);
  Description<P> d;
  d.name = "two";
  LinkDescription<P> link{"a", InertialDescription<P>{}, {}, {}};
  link.inertial->mass = 1;
  d.links.push_back(link);
  JointDescription<P> joint;
  joint.name = "screw";
  joint.type = JointType::cylindrical;
  joint.parent = kWorldLink;
  joint.child = "a";
  joint.axis = Vector3<P>::UnitZ();
  d.joints.push_back(joint);
  const Robot robot = make_robot(ring, d);
  EXPECT_FALSE(has_screw_axes(robot));
  EXPECT_EQ(message([&] { modern_robotics_steps(robot, derive_links(robot, false)); }),
            "modern_robotics_steps: joint 'screw' is cylindrical, expected joints of one degree of "
            "freedom, which have a screw axis");
  DeriveOptions all;
  all.method = DerivationMethod::all;
  const Derivation both = derive(robot, all);
  EXPECT_EQ(both.method, DerivationMethod::both);
  ASSERT_EQ(both.robot.notes.size(), 1u);
  EXPECT_NE(both.robot.notes[0].find("Modern Robotics is left out"), std::string::npos);
}

}  // namespace
}  // namespace limb::symbolic
