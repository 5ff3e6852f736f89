// Conserved quantities: energy of conservative robots, momentum in free flight.
#include <gtest/gtest.h>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/testing/free_motion.hpp"

namespace limb {
namespace {

using testing::FreeMotion;

struct Drift {
  double largest = 0, last = 0;  ///< of the energy, relative to the energy exchanged by the motion
};

/// The double pendulum of builtin:2r for 100 s, from both links horizontal.
Drift double_pendulum(IntegrationMethod method, double step, double tolerance) {
  const Model<double> model = load_model("builtin:2r");
  FreeMotion motion(model);
  const ConfigurationSpace<double> space(model);
  const auto integrator = make_integrator<double>(method, space, 0, {step, tolerance, tolerance});
  Kinematics<double> kinematics(model);
  const auto energy = [&](const RobotState<double>& s) {
    forward_kinematics(model, s.q, s.v, kinematics);
    return kinetic_energy(model, kinematics) + potential_energy(model, kinematics);
  };
  RobotState<double> s = make_state(model);
  const double start = energy(s);
  // From horizontal to hanging: (m1 + m2) g l1 + m2 g l2.
  const double scale = 3.5 * 9.81 * 1.0 + 1.5 * 9.81 * 0.8;
  Drift drift;
  for (testing::StepLimit limit(10'000'000); limit.next() && s.t < 100;) {
    integrator->advance(motion, s, 100);
    drift.last = std::abs(energy(s) - start) / scale;
    drift.largest = worse(drift.largest, drift.last);
  }
  return drift;
}

TEST(Conservation, EnergyOfTheDoublePendulumOver100Seconds) {
  struct Case {
    IntegrationMethod method;
    double step, tolerance, allowed;
  };
  // Measured values are in the table of docs/simulation.md; the motion is chaotic, so that they may
  // differ by a small factor between compilers.
  for (const Case& c : {Case{IntegrationMethod::semi_implicit_euler, 1e-3, 1, 0.5},
                        {IntegrationMethod::runge_kutta_4, 1e-3, 1, 1e-10},
                        {IntegrationMethod::implicit_midpoint, 1e-3, 1, 1e-5},
                        {IntegrationMethod::dormand_prince, 0.1, 1e-9, 1e-6},
                        {IntegrationMethod::dormand_prince, 0.1, 1e-12, 1e-9}}) {
    const Drift drift = double_pendulum(c.method, c.step, c.tolerance);
    std::printf("%-20s step %g, tolerance %g: largest %.1e, at the end %.1e\n",
                std::string(to_text(c.method)).c_str(), c.step, c.tolerance, drift.largest,
                drift.last);
    EXPECT_LT(drift.largest, c.allowed) << to_text(c.method);
  }
  const Drift drift = double_pendulum(IntegrationMethod::explicit_euler, 1e-3, 1);
  std::printf("explicit-euler       step 0.001: largest %.1e\n", drift.largest);
  EXPECT_GT(drift.largest, 1e-2);  // why it should not be used
}

// A free-floating arm without gravity, with motor torques: internal forces do not change momentum.
TEST(Conservation, MomentumInFreeFlight) {
  for (const char* name : {"builtin:arm7", "builtin:quadruped"}) {
    Description<double> description = load_description(name);
    description.gravity.setZero();
    // A fixed base is replaced by a satellite.
    LinkDescription<double> satellite;
    satellite.name = "satellite";
    satellite.inertial = InertialDescription<double>{};
    satellite.inertial->mass = 20;
    satellite.inertial->tensor = Eigen::Vector3d(3, 4, 5).asDiagonal();
    bool was_fixed = false;
    for (auto& joint : description.joints) {
      if (joint.parent != kWorldLink) continue;
      joint.parent = satellite.name;
      was_fixed = true;
    }
    if (was_fixed) description.links.push_back(satellite);
    const Model<double> model = build_model(description, Base::free);
    FreeMotion motion(model, JointEffects::none());
    motion.tau.tail(model.nv() - 6).setLinSpaced(-0.3, 0.4);
    RobotState<double> s = make_state(model);
    s.v.setLinSpaced(-0.5, 0.6);
    Kinematics<double> kinematics(model);
    const auto momentum = [&](const RobotState<double>& now) {
      forward_kinematics(model, now.q, now.v, kinematics);
      return spatial_momentum(model, kinematics).vector();
    };
    const Vector6<double> start = momentum(s);
    const RobotState<double> end = run_exactly(motion, model, s, 2);
    // Tolerance 1e-13 per step, about a hundred steps; rounding leaves 1e-13.
    EXPECT_LT((momentum(end) - start).norm() / (1 + start.norm()), 1e-12) << name;
  }
}

}  // namespace
}  // namespace limb
