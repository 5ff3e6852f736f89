#include "limb/estimate/contact/momentum_observer.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/estimate/testing/robots.hpp"
#include "limb/estimate/walk/synthetic_walk.hpp"

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
  double worst = 0;
  const int steps = static_cast<int>(std::lround(0.1 / T));
  for (int k = 0; k <= steps; ++k) {
    forward_kinematics(model, q, v, kinematics);
    frame_jacobian(model, kinematics, foot, FrameAxes::local_world_aligned, J);
    f = J.topRows<3>().transpose() * force;
    for (int i = 0; i < n; ++i) tau[i] = i < 6 ? 0 : 0.05 * std::sin(20 * k * T + i);
    EXPECT_EQ(observer.update(T, q, v, tau), Status::ok);
    if (k > 0) r += (1 - std::exp(-gain * T)) * (f - r);
    worst = std::max(worst, (observer.force() - r).norm() / f.norm());
    aba(model, work, q, v, VectorX<double>(tau + f), a);
    v += T * a;
    integrate(model, q, VectorX<double>(T * v), q);
  }
  EXPECT_GT(r.norm(), 0.5 * f.norm());
  return worst;
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
  for (const testing::Walker& walker : testing::walkers()) {
    if (!walker.is_available()) continue;
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
