#include "limb/dynamics/kinematics/energy.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/energy_impl.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();

// A physical pendulum: T = (I + m l^2 + armature) w^2 / 2, U = -m g l cos(q), hanging along -z.
TEST(Energy, Pendulum) {
  const double m = 2, l = 0.7, I = 0.05, armature = 0.3, q = 0.4, w = 1.5;
  RobotBuilder<double> b("pendulum");
  b.link("base").link("bob", m, {0, 0, -l}, I * Matrix3<double>::Identity());
  b.joint("j", Joint<double>::revolute(Vector3<double>::UnitY()), "base", "bob");
  b.drive(0.1, 0.2, armature);
  const Model<double> model = b.build();
  Kinematics<double> k(model);
  forward_kinematics(model, VectorX<double>::Constant(1, q), VectorX<double>::Constant(1, w), k);
  // A few products: 8 eps of the value.
  const double T = (I + m * l * l) * w * w / 2, U = -m * 9.81 * l * std::cos(q);
  EXPECT_NEAR(kinetic_energy(model, k), T + armature * w * w / 2, 8 * kEps * T);
  EXPECT_NEAR(kinetic_energy(model, k, JointEffects::none()), T, 8 * kEps * T);
  EXPECT_NEAR(potential_energy(model, k), U, 8 * kEps * std::abs(U));
}

// T = v.M v / 2 with the mass matrix as the sum of J^T I J, couplings and armature included. Sums
// over 15 bodies: the largest difference seen is 7 eps of the value.
TEST(Energy, KineticIsHalfVTimesMTimesV) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    testing::RandomTreeOptions options{.joints = 14, .with_couplings = seed % 2 == 0};
    auto description = testing::random_tree(seed, options);
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      description.joints[i].armature = 0.1 * static_cast<double>(i);
    }
    const Model<double> model = build_model(description, Base::free);
    const auto k = testing::kinematics_at(model, testing::random_state(model, seed));
    MatrixX<double> M = testing::mass_matrix(model, k.q);
    const double rigid = 0.5 * k.v.dot(M * k.v);
    for (const Body<double>& body : model.bodies()) {
      for (int j = 0; j < body.joint.nv(); ++j) {
        M(body.v_start + j, body.v_start + j) += body.armature;
      }
    }
    const double whole = 0.5 * k.v.dot(M * k.v);
    EXPECT_NEAR(kinetic_energy(model, k), whole, 64 * kEps * whole);
    EXPECT_NEAR(kinetic_energy(model, k, JointEffects::none()), rigid, 64 * kEps * rigid);
  }
}

// dU/dt = g(q) . v, by dual numbers. The terms of the sum are m g v of each body, and rounding is
// relative to their size: the largest difference seen is 0.8 eps of m g (1 + |v|).
TEST(Energy, RateOfPotentialIsThePowerOfGravity) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    for (const Model<double>& model : testing::random_robots(seed)) {
      const auto s = testing::random_state(model, seed);
      const auto k = testing::kinematics_at(model, s);
      const Model<Dual> moving = model.cast<Dual>();
      const Dual U = potential_energy(moving, testing::kinematics_in_time(moving, s));
      const double power = testing::gravity_force(model, k.q).dot(k.v);
      const double scale = 9.81 * model.total_mass() * (1 + k.v.norm());
      EXPECT_NEAR(U.tangent[0], power, 16 * kEps * scale);
      EXPECT_NEAR(U.value, potential_energy(model, k), 16 * kEps * scale);
    }
  }
}

TEST(Energy, WeldedMassIsExcluded) {
  RobotBuilder<double> b("stand");
  b.link("base", 100, {0, 0, 5}, Matrix3<double>::Identity()).link("tip");
  b.joint("j", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "tip");
  const Model<double> model = b.build();
  const auto k = testing::kinematics_at(model, testing::random_state(model, 1));
  EXPECT_EQ(potential_energy(model, k), 0);
  EXPECT_EQ(kinetic_energy(model, k), 0);
  Kinematics<double> empty(model);
  EXPECT_EQ(testing::message([&] { kinetic_energy(model, empty); }),
            "kinetic_energy: these kinematics are incomplete; call forward_kinematics with q "
            "and v first");
}

}  // namespace
}  // namespace limb
