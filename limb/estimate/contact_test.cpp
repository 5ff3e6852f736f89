// Contacts from forces and switches with hysteresis, and from torques by the momentum observer.
#include <gtest/gtest.h>

#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/estimate/contact_detector.hpp"
#include "limb/estimate/momentum_observer.hpp"
#include "limb/estimate/synthetic_walk.hpp"
#include "limb/estimate/testing/robots.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;

TEST(ContactDetector, HasHysteresis) {
  ContactDetector foot({.make_force = 30, .break_force = 10});
  double t = 0;
  for (const auto& [force, stands] : {std::pair{0.0, false},
                                      {29.0, false},
                                      {30.0, true},
                                      {12.0, true},
                                      {29.0, true},
                                      {9.0, false},
                                      {25.0, false}}) {
    EXPECT_EQ(foot.update(t += 0.01, force), stands) << force;
  }
  EXPECT_TRUE(foot.update_switch(t += 0.01, true));
  EXPECT_FALSE(foot.update_switch(t += 0.01, false));
}

TEST(ContactDetector, WaitsUntilAChangeLasts) {
  ContactDetector foot(
      {.make_force = 30, .break_force = 10, .make_time = 0.02, .break_time = 0.01});
  EXPECT_FALSE(foot.update(0, 50));
  EXPECT_FALSE(foot.update(0.01, 50));
  EXPECT_FALSE(foot.update(0.015, 20));  // in between: the wait begins anew
  EXPECT_FALSE(foot.update(0.02, 50));
  EXPECT_FALSE(foot.update(0.039, 50));
  EXPECT_TRUE(foot.update(0.041, 50));
  EXPECT_TRUE(foot.update(0.05, 0));
  EXPECT_TRUE(foot.update(0.055, std::nan("")));
  EXPECT_FALSE(foot.update(0.061, 0));
}

TEST(ContactDetector, NoiseBetweenThresholdsChangesNothing) {
  ContactDetector foot({.make_force = 30, .break_force = 10});
  NoiseSource noise(1);
  foot.update(0, 40);
  for (int k = 1; k < 1000; ++k) EXPECT_TRUE(foot.update(k * 1e-3, 20 + 9 * noise.uniform()));
}

TEST(ContactDetector, SaysWhatIsWrong) {
  try {
    ContactDetector foot({.make_force = 10, .break_force = 20});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "ContactDetector: break_force is 20 N, expected at most make_force, 10 N");
  }
  EXPECT_THROW(ContactDetector({.make_time = -1}), Error);
}

// A force on a foot of a robot that floats and moves: the observer's answer follows its generalised
// force by dr/dt = gain (f - r), whatever the robot does meanwhile.
/// The largest error of the observer over 0.1 s in steps of T, relative to the force.
double observer_error(const Model<double>& model, double T) {
  const int n = model.velocity_size();
  Workspace<double> work(model);
  VectorX<double> q(model.position_size()), v(n), a(n), tau(n), f(n), r = VectorX<double>::Zero(n);
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
    EXPECT_TRUE(observer.update(T, q, v, tau));
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
    // Semi-implicit Euler on both sides: the error goes with the step.
    EXPECT_LT(fine, 0.03) << name;
    EXPECT_NEAR(coarse / fine, 2, 0.3) << name;
  }
}

TEST(MomentumObserver, KnowsDampingAndFrictionOfTheModel) {
  const Model<double> model = load_model("builtin:quadruped");  // its joints are damped
  const int n = model.velocity_size();
  Workspace<double> work(model);
  VectorX<double> q(model.position_size()), v = VectorX<double>::Constant(n, 0.5), a(n);
  neutral(model, q);
  const VectorX<double> tau = VectorX<double>::Zero(n);
  MomentumObserver observer(model, 100);
  const double T = 1e-4;
  for (int k = 0; k <= 1000; ++k) {
    ASSERT_TRUE(observer.update(T, q, v, tau));
    aba(model, work, q, v, tau, a);
    v += T * a;
    integrate(model, q, VectorX<double>(T * v), q);
  }
  // Nothing touches it; the weight of the robot is 147 N.
  EXPECT_LT(observer.force().norm(), 0.2);
}

TEST(MomentumObserver, RefusesWhatIsNotFinite) {
  const Model<double> model = load_model("builtin:quadruped");
  VectorX<double> q(model.position_size()), v = VectorX<double>::Zero(model.velocity_size());
  neutral(model, q);
  MomentumObserver observer(model, 100);
  EXPECT_TRUE(observer.update(1e-3, q, v, v));
  VectorX<double> bad = v;
  bad[3] = std::nan("");
  EXPECT_FALSE(observer.update(1e-3, q, bad, v));
  EXPECT_FALSE(observer.update(std::nan(""), q, v, v));
  EXPECT_THROW(MomentumObserver(model, 0), Error);
  EXPECT_THROW(observer.update(1e-3, v, v, v), Error);
}

TEST(FootForces, ExplainTorquesByForces) {
  for (const testing::Walker& walker : testing::walkers()) {
    if (!walker.is_here()) continue;
    const LegKinematics legs(walker.load(), walker.feet, walker.imu);
    const Model<double>& model = legs.model();
    VectorX<double> q = standing_posture(model, legs, 0.2);
    FootForces forces(legs);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, kinematics);
    Matrix6X<double> J(6, model.velocity_size());
    VectorX<double> tau = VectorX<double>::Zero(model.velocity_size());
    std::vector<Vec> given;
    for (int i = 0; i < legs.feet(); ++i) {
      given.push_back(Vec(5 * i, -3, 40 + 20 * i));
      frame_jacobian(model, kinematics, legs.frame(i), FrameAxes::local_world_aligned, J);
      tau += J.topRows<3>().transpose() * given.back();
    }
    tau.head<6>().setZero();  // no motor there, and none is needed
    ASSERT_TRUE(forces.update(q, tau));
    for (int i = 0; i < legs.feet(); ++i) {
      // Damping of a millimetre against levers of some decimetres: 1e-4 of the force.
      EXPECT_LT((forces.f_W(i) - given[static_cast<std::size_t>(i)]).norm(), 0.01 * 100)
          << walker.name << ", foot " << i;
    }
  }
}

}  // namespace
}  // namespace limb
