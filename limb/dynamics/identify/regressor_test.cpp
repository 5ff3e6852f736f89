// Regressors on random trees of all joint types, with and without couplings.
#include "limb/dynamics/identify/regressor.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using testing::relative;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Sums over a dozen bodies; worst seen 12 eps.
constexpr double kTolerance = 100 * kEps;

TEST(Regressor, IsTheDynamics) {
  for (const Sample& s : testing::samples(5)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv(), count = parameter_count(s.model);
    Vector p(count), y(count), tau(n);
    inertial_parameters(s.model, p);
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    RegressorScratch<double> scratch(s.model);
    Workspace<double> work(s.model);
    Matrix Y(n, count);
    torque_regressor(s.model, k, scratch, Y);
    rnea(s.model, work, s.q, s.v, s.a, tau, JointEffects::none());
    EXPECT_LT(relative(Y * p, tau), kTolerance);
    static_regressor(s.model, k, scratch, Y);
    gravity(s.model, work, s.q, tau);
    EXPECT_LT(relative(Y * p, tau), kTolerance);
    kinetic_energy_regressor(s.model, k, y);
    const double kinetic = kinetic_energy(s.model, k, JointEffects::none());
    EXPECT_NEAR(y.dot(p), kinetic, kTolerance * (1 + kinetic));
    potential_energy_regressor(s.model, k, y);
    EXPECT_NEAR(y.dot(p), potential_energy(s.model, k),
                kTolerance * (1 + y.cwiseAbs().dot(p.cwiseAbs())));
    Matrix6X<double> Y6(6, count);
    momentum_regressor(s.model, k, Y6);
    Force<double> momentum;
    for (std::size_t i = 1; i < s.model.bodies().size(); ++i) {
      momentum += k.X_WB[i].act(s.model.bodies()[i].inertia * k.V_WB_B[i]);
    }
    EXPECT_LT(relative(Y6 * p, momentum.vector()), kTolerance);
    if (testing::kCountsAllocations) {
      EXPECT_EQ(testing::allocations([&] {
                  torque_regressor(s.model, k, scratch, Y);
                  static_regressor(s.model, k, scratch, Y);
                  kinetic_energy_regressor(s.model, k, y);
                  potential_energy_regressor(s.model, k, y);
                  momentum_regressor(s.model, k, Y6);
                }),
                0);
    }
  }
}

TEST(Regressor, BadInput) {
  const Model<double> model = load_model("builtin:2r");
  Kinematics<double> k(model);
  RegressorScratch<double> scratch(model);
  Matrix Y(2, 19);
  forward_kinematics(model, Eigen::Vector2d(0, 0), k);
  EXPECT_EQ(message([&] { static_regressor(model, k, scratch, Y); }),
            "static_regressor: Y is 2 x 19, expected 2 x 20");
  Vector p(7);
  EXPECT_EQ(message([&] { inertial_parameters(model, p); }),
            "inertial_parameters: p has 7 entries, expected 20 (ten for each body but the world)");
  EXPECT_NE(message([&] { torque_regressor(model, k, scratch, Y); }).find("torque_regressor"),
            std::string::npos);
}

TEST(Regressor, ThroughRobot) {
  for (const Sample& s : testing::samples(2)) {
    SCOPED_TRACE(s.name);
    Robot robot(s.model, JointEffects::none());
    robot.set_state(s.q, s.v, s.a);
    Vector p(parameter_count(s.model));
    inertial_parameters(s.model, p);
    EXPECT_LT(relative(robot.regressor() * p, robot.inverse_dynamics()), kTolerance);
    EXPECT_LT(relative(robot.static_regressor() * p, robot.gravity()), kTolerance);
    const double kinetic = robot.kinetic_energy(), potential = robot.potential_energy();
    EXPECT_NEAR(robot.kinetic_energy_regressor().dot(p), kinetic, kTolerance * (1 + kinetic));
    const Vector& y = robot.potential_energy_regressor();
    EXPECT_NEAR(y.dot(p), potential, kTolerance * (1 + y.cwiseAbs().dot(p.cwiseAbs())));
    // The linear part of the momentum does not depend on the reference point.
    const Vector h = robot.momentum_regressor() * p;
    EXPECT_LT(relative(h.head<3>(), robot.centroidal_momentum().f), kTolerance);
  }
}

}  // namespace
}  // namespace limb
