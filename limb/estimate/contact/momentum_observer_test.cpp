#include "limb/estimate/contact/momentum_observer.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/estimate/testing/robots.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

/// For a constant force on a foot of a moving floating robot, the observer follows the generalized
/// force by dr/dt = gain (f - r). @returns the largest error over 0.1 s in steps of T, relative to
/// the force.
double observer_error(const Model<double>& model, double T) {
  const int n = model.nv();
  Workspace<double> work(model);
  VectorX<double> q(model.nq()), v(n), a(n), tau(n), f(n), r = VectorX<double>::Zero(n);
  neutral(model, q);
  for (int k = 0; k < n; ++k) v[k] = 0.2 * std::sin(k + 1.0);
  const double gain = 50;
  MomentumObserver observer(model, gain);
  const FrameId foot(static_cast<int>(model.frames().size()) - 1);
  Kinematics<double> kinematics(model);
  Matrix6X<double> J(6, n);
  const Vec force(1, -2, 6);
  Worst worst;
  const int steps = static_cast<int>(std::lround(0.1 / T));
  for (int k = 0; k <= steps; ++k) {
    forward_kinematics(model, q, v, kinematics);
    frame_jacobian(model, kinematics, foot, FrameAxes::local_world_aligned, J);
    f = J.topRows<3>().transpose() * force;
    for (int i = 0; i < n; ++i) tau[i] = i < 6 ? 0 : 0.05 * std::sin(20 * k * T + i);
    EXPECT_EQ(observer.update(T, q, v, tau), Status::ok);
    if (k > 0) r += (1 - std::exp(-gain * T)) * (f - r);
    worst.add((observer.force() - r).norm() / f.norm());
    aba(model, work, q, v, VectorX<double>(tau + f), a);
    v += T * a;
    integrate(model, q, VectorX<double>(T * v), q);
  }
  EXPECT_GT(r.norm(), 0.5 * f.norm());
  return worst.value();
}

/// A mass on a vertical slider with damping.
Model<double> slider(double mass, double damping) {
  RobotBuilder<double> robot("slider");
  robot.link("world")
      .link("mass", mass, Vec::Zero(), 0.1 * Matrix3<double>::Identity())
      .joint("slide", Joint<double>::prismatic(Vec::UnitZ()), "world", "mass")
      .drive(damping, 0, 0);
  return robot.build();
}

// One degree of freedom: m dv = (tau - m g - d v + f) dt, so that the implicit step
// r <- (r + gain T f) / (1 + gain T) of a constant force has the closed form f (1 - (1 + gain
// T)^-k).
TEST(MomentumObserver, FollowsAConstantForceExactly) {
  const double m = 3, d = 0.7, g = 9.81, gain = 40, T = 0.004, f = -8, tau = 50;
  const Model<double> model = slider(m, d);
  MomentumObserver observer(model, gain);
  VectorX<double> q = VectorX<double>::Zero(1), v = VectorX<double>::Constant(1, 0.6);
  VectorX<double> torque = VectorX<double>::Constant(1, tau);
  for (const int start : {0, 1}) {
    ASSERT_EQ(observer.update(T, q, v, torque), Status::ok) << start;
    EXPECT_EQ(observer.force()[0], 0);
    for (int k = 1; k <= 50; ++k) {
      // An implicit step of the mass: the terms of the observer are those at the new velocity.
      v[0] = (m * v[0] + T * (tau - m * g + f)) / (m + T * d);
      q[0] += T * v[0];
      ASSERT_EQ(observer.update(T, q, v, torque), Status::ok);
      EXPECT_NEAR(observer.force()[0], f * (1 - std::pow(1 + gain * T, -k)), 1e-11) << k;
    }
    // Wrong input changes nothing, and a reset starts from the present momentum.
    const double before = observer.force()[0];
    const VectorX<double> wrong = VectorX<double>::Constant(1, std::nan(""));
    EXPECT_EQ(observer.update(T, wrong, v, torque), Status::not_finite);
    EXPECT_EQ(observer.update(T, q, wrong, torque), Status::not_finite);
    EXPECT_EQ(observer.update(T, q, v, wrong), Status::not_finite);
    EXPECT_EQ(observer.update(-T, q, v, torque), Status::rejected);
    EXPECT_EQ(observer.update(1e3, q, v, torque), Status::rejected);
    EXPECT_EQ(observer.force()[0], before);
    observer.reset();
  }
}

TEST(MomentumObserver, FollowsAForceWithFirstOrder) {
  for (const char* name : {"builtin:quadruped", "builtin:humanoid"}) {
    const Model<double> model = load_model(name);
    const double coarse = observer_error(model, 1e-4), fine = observer_error(model, 5e-5);
    // Semi-implicit Euler in both: the error is proportional to the step.
    EXPECT_LT(fine, 0.03) << name;
    EXPECT_NEAR(coarse / fine, 2, 0.3) << name;
  }
}

TEST(MomentumObserver, CompensatesDampingAndFriction) {
  const Model<double> model = load_model("builtin:quadruped");  // its joints are damped
  const int n = model.nv();
  Workspace<double> work(model);
  VectorX<double> q(model.nq()), v = VectorX<double>::Constant(n, 0.5), a(n);
  neutral(model, q);
  const VectorX<double> tau = VectorX<double>::Zero(n);
  MomentumObserver observer(model, 100);
  const double T = 1e-4;
  for (int k = 0; k <= 1000; ++k) {
    ASSERT_EQ(observer.update(T, q, v, tau), Status::ok);
    aba(model, work, q, v, tau, a);
    v += T * a;
    integrate(model, q, VectorX<double>(T * v), q);
  }
  // There is no contact; the weight of the robot is 147 N.
  EXPECT_LT(observer.force().norm(), 0.2);
}

TEST(MomentumObserver, RejectsInputThatIsNotFinite) {
  const Model<double> model = load_model("builtin:quadruped");
  VectorX<double> q(model.nq()), v = VectorX<double>::Zero(model.nv());
  neutral(model, q);
  MomentumObserver observer(model, 100);
  EXPECT_EQ(observer.update(1e-3, q, v, v), Status::ok);
  VectorX<double> bad = v;
  bad[3] = std::nan("");
  EXPECT_NE(observer.update(1e-3, q, bad, v), Status::ok);
  EXPECT_NE(observer.update(std::nan(""), q, v, v), Status::ok);
  EXPECT_THROW(MomentumObserver(model, 0), Error);
  EXPECT_THROW(observer.update(1e-3, v, v, v), Error);
}

TEST(FootForces, FollowFromJointTorques) {
  for (const testing::Walker& walker : testing::available_walkers()) {
    const LegKinematics legs(walker.load(), walker.feet, walker.imu);
    const Model<double>& model = legs.model();
    VectorX<double> q = standing_posture(model, legs, 0.2);
    FootForces forces(legs);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, kinematics);
    Matrix6X<double> J(6, model.nv());
    VectorX<double> tau = VectorX<double>::Zero(model.nv());
    std::vector<Vec> given;
    for (int i = 0; i < legs.feet(); ++i) {
      given.push_back(Vec(5 * i, -3, 40 + 20 * i));
      frame_jacobian(model, kinematics, legs.frame(i), FrameAxes::local_world_aligned, J);
      tau += J.topRows<3>().transpose() * given.back();
    }
    tau.head<6>().setZero();  // unactuated, and not used
    ASSERT_EQ(forces.update(q, tau), Status::ok);
    for (int i = 0; i < legs.feet(); ++i) {
      // Damping of a millimetre against lever arms of a few decimetres: 1e-4 of the force.
      EXPECT_LT((forces.f_W(i) - given[static_cast<std::size_t>(i)]).norm(), 0.01 * 100)
          << walker.name << ", foot " << i;
    }
  }
}

}  // namespace
}  // namespace limb
