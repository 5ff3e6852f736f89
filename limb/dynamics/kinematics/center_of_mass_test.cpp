#include "limb/dynamics/kinematics/center_of_mass.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/center_of_mass_impl.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();

// A cart of 1 kg with a mass of 3 kg at the end of a massless bar of 2 m: the mass centre is at 3/4
// of the bar.
TEST(CenterOfMass, CartAndPole) {
  RobotBuilder<double> b("cart");
  b.link("rail").link("cart", 1, {0, 0, 0}, Matrix3<double>::Zero());
  b.link("bob", 3, {0, 0, 2}, Matrix3<double>::Zero());
  b.joint("slide", Joint<double>::prismatic(Vector3<double>::UnitX()), "rail", "cart");
  b.joint("swing", Joint<double>::revolute(Vector3<double>::UnitY()), "cart", "bob");
  const Model<double> model = b.build();
  const double x = 0.4, t = 0.7, dx = -0.3, w = 1.2, ddx = 0.8, dw = -0.5;
  Kinematics<double> k(model);
  forward_kinematics(model, Vector2<double>(x, t), Vector2<double>(dx, w), Vector2<double>(ddx, dw),
                     k);
  const double s = std::sin(t), c = std::cos(t);
  // A handful of products of numbers below 4: 16 eps.
  EXPECT_LT((center_of_mass(model, k) - Vector3<double>(x + 1.5 * s, 0, 1.5 * c)).norm(),
            16 * kEps);
  EXPECT_LT((center_of_mass_velocity(model, k) - Vector3<double>(dx + 1.5 * c * w, 0, -1.5 * s * w))
                .norm(),
            16 * kEps);
  EXPECT_LT((center_of_mass_acceleration(model, k) -
             Vector3<double>(ddx + 1.5 * (c * dw - s * w * w), 0, -1.5 * (s * dw + c * w * w)))
                .norm(),
            16 * kEps);
  SubtreeScratch<double> scratch(model);
  Matrix3X<double> J(3, 2), expected(3, 2);
  center_of_mass_jacobian(model, k, scratch, J);
  expected << 1, 1.5 * c, 0, 0, 0, -1.5 * s;
  EXPECT_LT((J - expected).norm(), 16 * kEps);
  EXPECT_LT((center_of_mass_jacobian_rate_times_v(model, k, scratch) -
             Vector3<double>(-1.5 * s * w * w, 0, -1.5 * c * w * w))
                .norm(),
            16 * kEps);
}

// The mean of the bodies' mass centres by the plain traversal of limb/model/testing; derivatives by
// dual numbers. Sums over 15
// bodies, a dozen levels deep: the largest difference seen is 30 eps of the size.
TEST(CenterOfMass, IsTheMeanOfTheBodiesAndItsDerivatives) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    for (const Model<double>& model : testing::random_robots(seed)) {
      const auto s = testing::random_state(model, seed);
      const auto k = testing::kinematics_at(model, s);
      const auto X = testing::body_poses(model, k.q);
      Vector3<double> sum = Vector3<double>::Zero();
      for (std::size_t i = 1; i < X.size(); ++i) {
        const Inertia<double>& I = model.bodies()[i].inertia;
        sum += I.mass() * (X[i] * I.com());
      }
      const Vector3<double> c = center_of_mass(model, k);
      EXPECT_LT(testing::relative(c, sum / model.total_mass()), 64 * kEps);

      const Model<Dual> moving = model.cast<Dual>();
      const auto k_t = testing::kinematics_in_time(moving, s);
      const Vector3<double> v = testing::derivative<3, 1>(center_of_mass(moving, k_t));
      EXPECT_LT(testing::relative(center_of_mass_velocity(model, k), v), 128 * kEps);
      const Vector3<double> a = testing::derivative<3, 1>(center_of_mass_velocity(moving, k_t));
      EXPECT_LT(testing::relative(center_of_mass_acceleration(model, k), a), 128 * kEps);

      SubtreeScratch<double> scratch(model);
      Matrix3X<double> J = Matrix3X<double>::Constant(3, model.nv(), 7);
      center_of_mass_jacobian(model, k, scratch, J);
      EXPECT_LT(testing::relative(J * s.v, v), 128 * kEps);
      const auto bias = center_of_mass_jacobian_rate_times_v(model, k, scratch);
      EXPECT_LT(testing::relative(J * s.a + bias, a), 128 * kEps);

      // Column by column: the derivative along each direction.
      Kinematics<Dual> k_c(moving);
      for (int j = 0; j < model.nv(); ++j) {
        const VectorX<double> unit = VectorX<double>::Unit(model.nv(), j);
        forward_kinematics(moving, testing::dual_position(moving, s.q, unit), k_c);
        const Vector3<double> column = testing::derivative<3, 1>(center_of_mass(moving, k_c));
        EXPECT_LT(testing::relative(J.col(j), column), 128 * kEps);
      }
    }
  }
}

TEST(CenterOfMass, ErrorsNameTheCause) {
  RobotBuilder<double> b("light");
  b.link("base").link("tip");
  b.joint("j", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "tip");
  const Model<double> model = b.build();
  Kinematics<double> k(model);
  forward_kinematics(model, VectorX<double>::Zero(1), k);
  EXPECT_EQ(testing::message([&] { center_of_mass(model, k); }),
            "center_of_mass: the robot has no mass, so it has no mass centre [computation failed]");
  EXPECT_EQ(testing::message([&] { center_of_mass_velocity(model, k); }),
            "center_of_mass_velocity: these kinematics are incomplete; call forward_kinematics "
            "with q and v first");
  SubtreeScratch<double> scratch(testing::random_robots(1)[1]);
  Matrix3X<double> J(3, 1), wide(3, 2);
  EXPECT_EQ(testing::message([&] { center_of_mass_jacobian(model, k, scratch, J); }),
            "center_of_mass_jacobian: scratch is for " + std::to_string(scratch.mass.size()) +
                " bodies, expected 2 (make it from the same model)");
  SubtreeScratch<double> own(model);
  EXPECT_EQ(testing::message([&] { center_of_mass_jacobian_rate_times_v(model, k, own); }),
            "center_of_mass_jacobian_rate_times_v: these kinematics are incomplete; call "
            "forward_kinematics with q and v first");
  EXPECT_EQ(testing::message([&] { center_of_mass_jacobian(model, k, own, wide); }),
            "center_of_mass_jacobian: J is 3 x 2, expected 3 x 1 (a column for each velocity of "
            "the robot)");
}

}  // namespace
}  // namespace limb
