// Motions with a closed form in textbooks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// One link on one joint.
Model<double> one_body(JointType type, double mass, const Vector3<double>& com,
                       const Vector3<double>& moments) {
  Description<double> robot;
  robot.name = "one_body";
  LinkDescription<double> link;
  link.name = "body";
  InertialDescription<double> inertial;
  inertial.mass = mass;
  inertial.X_LI.p = com;
  inertial.tensor = moments.asDiagonal();
  link.inertial = inertial;
  robot.links.push_back(link);
  JointDescription<double> joint;
  joint.name = "joint";
  joint.type = type;
  joint.parent = kWorldLink;
  joint.child = "body";
  robot.joints.push_back(joint);
  return build_model(robot);
}

// Euler's equations I wdot = -w x I w; the mass centre falls with g.
// [Goldstein 2002, rigid body equations of motion]
TEST(FreeBody, FallsAndObeysEuler) {
  const Vector3<double> I(0.3, 0.5, 0.7), w(1.1, -0.4, 2.0), v(0.3, 0.2, -0.1);
  const Model<double> model = one_body(JointType::free, 2, Vector3<double>::Zero(), I);
  Workspace<double> work(model);
  Vector q(7), velocity(6), a(6);
  q << 1, 2, 3, 0.5, 0.5, 0.5, 0.5;
  velocity << v, w;
  ASSERT_TRUE(aba(model, work, q, velocity, Vector::Zero(6), a).ok());
  const Vector3<double> wdot((I[1] - I[2]) * w[1] * w[2] / I[0], (I[2] - I[0]) * w[2] * w[0] / I[1],
                             (I[0] - I[1]) * w[0] * w[1] / I[2]);
  EXPECT_LT((a.tail<3>() - wdot).norm(), 8 * kEps * wdot.norm());
  // Body axes: the rate of the twist is R^T g - w x v. This quaternion rotates z to x, x to y.
  const Matrix3<double> R{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  const Vector3<double> expected = R.transpose() * model.gravity() - w.cross(v);
  EXPECT_LT((a.head<3>() - expected).norm(), 8 * kEps * expected.norm());
}

// A symmetric top on its tip, its axis inclined by theta, precesses steadily when
//   I1 cos(theta) Omega^2 - I3 w3 Omega + m g l = 0, I1 about the tip.
// [Goldstein 2002, heavy symmetrical top]
TEST(SpinningTop, PrecessesSteadily) {
  const double m = 0.5, l = 0.1, I1_com = 2e-3, I3 = 1e-3, theta = 0.6, g = 9.81, w3 = 200;
  const double I1 = I1_com + m * l * l;
  const double A = I1 * std::cos(theta), B = -I3 * w3, C = m * g * l;
  const double precession = (-B - std::sqrt(B * B - 4 * A * C)) / (2 * A);  // the slow one
  const Model<double> model = one_body(JointType::spherical, m, {0, 0, l}, {I1_com, I1_com, I3});
  Workspace<double> work(model);
  // Axes of the top: z along its axis, inclined about x. Precession is about the world's z; w3 is
  // the whole spin about the axis.
  Vector q(4), w(3), a(3);
  q << std::sin(theta / 2), 0, 0, std::cos(theta / 2);
  w << 0, precession * std::sin(theta), w3;
  ASSERT_TRUE(aba(model, work, q, w, Vector::Zero(3), a).ok());
  // Steady: the angular velocity rotates with the precession; in body axes wdot = w x (-Omega) with
  // Omega = precession * (0, sin, cos).
  const Vector3<double> Omega(0, precession * std::sin(theta), precession * std::cos(theta));
  const Vector3<double> expected = Vector3<double>(w).cross(-Omega);
  EXPECT_LT((Vector3<double>(a) - expected).norm(), 64 * kEps * expected.norm());
}

// No friction, no drive: energy is conserved. Fourth-order Runge-Kutta with aba.
TEST(DoublePendulum, ConservesEnergy) {
  const Model<double> model = load_model("builtin:2r");
  Workspace<double> work(model);
  Kinematics<double> kinematics(model);
  const auto energy = [&](const Vector& q, const Vector& v) {
    forward_kinematics(model, q, v, kinematics);
    return kinetic_energy(model, kinematics) + potential_energy(model, kinematics);
  };
  Vector q(2), v(2), a(2);
  q << 0.7, -0.4;
  v << 0.3, 1.0;
  const double initial = energy(q, v);
  const auto acceleration = [&](const Vector& x, const Vector& xd) {
    EXPECT_TRUE(aba(model, work, x, xd, Vector::Zero(2), a, JointEffects::none()).ok());
    return a;
  };
  const double h = 1e-3;
  for (int i = 0; i < 5000; ++i) {
    const Vector k1 = acceleration(q, v), v2 = v + h / 2 * k1;
    const Vector k2 = acceleration(q + h / 2 * v, v2), v3 = v + h / 2 * k2;
    const Vector k3 = acceleration(q + h / 2 * v2, v3), v4 = v + h * k3;
    const Vector k4 = acceleration(q + h * v3, v4);
    q += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  // 5 s in steps of 1 ms: the truncation error is of order t h^4, times rates of some 10/s.
  EXPECT_LT(std::abs(energy(q, v) - initial), 1e-8 * (1 + std::abs(initial)));
}

}  // namespace
}  // namespace limb
