// Regressors on random trees of all joint types, coupled and not; identifiable parameters of robots
// whose groups the books write down.
#include "limb/dynamics/regressor.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "limb/dynamics/base_parameters.hpp"
#include "limb/dynamics/energy.hpp"
#include "limb/dynamics/log_cholesky_regressor.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/load.hpp"

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
    const int n = s.model.velocity_size(), count = parameter_count(s.model);
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
  EXPECT_EQ(message([&] { base_parameters(model, {.states = -1}); }),
            "base_parameters: states is -1, expected at least 0");
  EXPECT_EQ(message([&] { base_parameters(model, {.tolerance = 2}); }),
            "base_parameters: tolerance is 2, expected between 0 and 1");
}

TEST(Regressor, Facade) {
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
    // The linear part of the momentum is that about the mass centre too.
    const Vector h = robot.momentum_regressor() * p;
    EXPECT_LT(relative(h.head<3>(), robot.centroidal_momentum().f), kTolerance);
  }
}

// dtau/dtheta by differences of tau = Y p(theta); tau itself at the robot's own theta.
TEST(LogCholeskyRegressor, IsTheDerivative) {
  for (const Sample& s : testing::samples(3)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.velocity_size(), count = parameter_count(s.model);
    Vector p(count), theta(count), back(count);
    inertial_parameters(s.model, p);
    log_cholesky_parameters(s.model, theta);
    parameters_from_log_cholesky<double>(theta, back);
    // Roots of small differences of moments on the way: the condition of a flat body.
    EXPECT_LT(relative(back, p), 1e4 * kEps);
    log_cholesky_from_parameters<double>(p, back);
    EXPECT_EQ(back, theta);

    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    RegressorScratch<double> scratch(s.model);
    Matrix Y(n, count);
    torque_regressor(s.model, k, scratch, Y);
    Matrix by_theta = Y;
    EXPECT_EQ(testing::allocations([&] { regressor_by_log_cholesky<double>(theta, by_theta); }), 0);
    testing::Random random(5);
    const Vector d = testing::random_numbers(random, count);
    const auto torque = [&](double t) {
      parameters_from_log_cholesky<double>(theta + t * d, back);
      return Vector(Y * back);
    };
    const double h = 1e-5;
    // h^2 times third derivatives: eight times the values.
    EXPECT_LT(relative(by_theta * d, (torque(h) - torque(-h)) / (2 * h)), 1e-8);
  }
}

TEST(LogCholeskyRegressor, BadInput) {
  Vector five(5), ten(10), twenty(20);
  EXPECT_EQ(message([&] { parameters_from_log_cholesky<double>(five, five); }),
            "parameters_from_log_cholesky: size of theta is 5, expected a multiple of ten");
  EXPECT_EQ(message([&] { log_cholesky_from_parameters<double>(twenty, ten); }),
            "log_cholesky_from_parameters: theta has 10 entries, expected 20");
  Vector p = Vector::Zero(20);
  p[0] = p[4] = p[6] = p[9] = 1;  // the second body has no mass
  EXPECT_EQ(message([&] {
              log_cholesky_from_parameters<double>(p, twenty);
            }).find("log_cholesky_from_parameters: body 2: log_cholesky: "),
            0u);
  Matrix Y(3, 9);
  EXPECT_EQ(message([&] { regressor_by_log_cholesky<double>(ten, Y); }),
            "regressor_by_log_cholesky: columns of Y has 9 entries, expected 10");
}

// Torques from groups are the torques, and there are no more groups than the books count.
TEST(BaseParameters, GroupsGiveTheTorques) {
  for (const char* name : {"builtin:2r", "builtin:arm6", "builtin:arm7", "builtin:quadruped"}) {
    SCOPED_TRACE(name);
    const Model<double> model = load_model(name);
    const BaseParameters base = base_parameters(model);
    const Sample s = testing::sample_of(name, model, 3);
    const int n = model.velocity_size(), count = parameter_count(model);
    Vector p(count), tau(n);
    inertial_parameters(model, p);
    Kinematics<double> k(model);
    forward_kinematics(model, s.q, s.v, s.a, k);
    RegressorScratch<double> scratch(model);
    Workspace<double> work(model);
    Matrix Y(n, count);
    torque_regressor(model, k, scratch, Y);
    rnea(model, work, s.q, s.v, s.a, tau, JointEffects::none());
    const Vector groups = base.K * p;
    Vector found = Vector::Zero(n);
    for (std::size_t i = 0; i < base.leading.size(); ++i) {
      found += Y.col(base.leading[i]) * groups[static_cast<Eigen::Index>(i)];
    }
    // Through a decomposition of hundreds of rows; worst seen 2e4 eps.
    EXPECT_LT(relative(found, tau), 1e6 * kEps);
    EXPECT_GT(base.smallest_kept, 1e3 * base.largest_dropped);
  }
}

// As many groups as the regressor at other states has independent columns, on trees of all joint
// types, free and coupled; and the torques follow from the groups.
TEST(BaseParameters, AreAsManyAsTheRank) {
  for (const Sample& s : testing::samples(2, 5)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.velocity_size(), count = parameter_count(s.model);
    const BaseParameters base = base_parameters(s.model);
    Matrix stacked(60 * n, count), Y(n, count);
    Kinematics<double> k(s.model);
    RegressorScratch<double> scratch(s.model);
    for (int i = 0; i < 60; ++i) {
      const Sample other = testing::sample_of("", s.model, 100 + static_cast<unsigned>(i));
      forward_kinematics(s.model, other.q, other.v, other.a, k);
      torque_regressor(s.model, k, scratch, Y);
      stacked.middleRows(i * n, n) = Y;
    }
    Eigen::ColPivHouseholderQR<Matrix> decomposition(stacked);
    decomposition.setThreshold(1e-9);
    EXPECT_EQ(static_cast<Eigen::Index>(base.groups.size()), decomposition.rank());
    Vector p(count);
    inertial_parameters(s.model, p);
    const Vector groups = base.K * p;
    Vector found = Vector::Zero(stacked.rows());
    for (std::size_t i = 0; i < base.leading.size(); ++i) {
      found += stacked.col(base.leading[i]) * groups[static_cast<Eigen::Index>(i)];
    }
    EXPECT_LT(relative(found, stacked * p), 1e6 * kEps);
    EXPECT_GT(base.smallest_kept, 1e3 * base.largest_dropped);
  }
}

// On a floating base each hinge adds seven: of its own ten, the mass, the first moment along the
// axis and one second moment cannot be told from the carrier's [Khalil 2004, minimum parameters].
TEST(BaseParameters, QuadrupedCountsTenAndSevenForEachHinge) {
  const BaseParameters base = base_parameters(load_model("builtin:quadruped"));
  EXPECT_EQ(base.groups.size(), 10u + 12u * 7u);
  EXPECT_TRUE(base.unidentifiable.empty());
}

TEST(BaseParameters, NamedByLinks) {
  const Model<double> model = load_model("builtin:2r");
  const BaseParameters base = base_parameters(model, {.names = ParameterNames::links});
  const std::string first = model.body(BodyId(1)).link, second = model.body(BodyId(2)).link;
  EXPECT_EQ(base.groups[0].text, "mcx(" + first + ") + m(" + second + ")");
  EXPECT_EQ(parameter_names(model, ParameterNames::links)[10], "m(" + second + ")");
}

// Planar 2R: of 20 parameters the plane sees Izz, mx, my of each link, and the second link's mass
// only where it hangs on the first.
TEST(BaseParameters, PlanarTwoLinkArm) {
  const Model<double> model = load_model("builtin:2r");
  const BaseParameters base = base_parameters(model);
  std::vector<std::string> texts;
  for (const ParameterGroup& group : base.groups) texts.push_back(group.text);
  // l1 = 1, so that the factors l1 and l1^2 of the second mass are 1.
  const std::vector<std::string> expected = {"mcx_1 + m_2", "mcy_1", "Izz_1 + m_2",
                                             "mcx_2",       "mcy_2", "Izz_2"};
  EXPECT_EQ(texts, expected);
  EXPECT_EQ(base.unidentifiable.size(), 13u);
  EXPECT_EQ(parameter_names(model)[9], "Izz_1");
}

// A free body: all ten parameters, since every direction of motion has its own torque.
TEST(BaseParameters, FreeBodyHasTen) {
  const Model<double> model =
      build_model(testing::random_tree(1, {.joints = 0, .root = JointType::free}), Base::free);
  const BaseParameters base = base_parameters(model);
  EXPECT_EQ(base.groups.size(), 10u);
}

}  // namespace
}  // namespace limb
