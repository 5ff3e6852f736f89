#include "limb/dynamics/kinematics/centroidal_momentum.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"
#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();

// A dumbbell of two masses, 1 kg and 3 kg, 4 m apart, that moves at 2 m/s along y and spins at 0.5
// rad/s about z: about the mass centre, 1 m from the heavy end, the angular momentum is
// (3 * 1^2 + 1 * 3^2) * 0.5. About the world's origin the translation adds p x m v.
TEST(Momentum, Dumbbell) {
  RobotBuilder<double> b("dumbbell");
  const Inertia<double> I =
      Inertia<double>::point_mass(3, {1, 0, 0}) + Inertia<double>::point_mass(1, {-3, 0, 0});
  b.link("bar", 4, {0, 0, 0}, I.tensor());
  const Model<double> model = b.build(Base::free);
  VectorX<double> q(7), v(6);
  q << 10, 0, 0, 0, 0, 0, 1;
  v << 0, 2, 0, 0, 0, 0.5;
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, k);
  const auto h = centroidal_momentum(model, k), h_W = spatial_momentum(model, k);
  EXPECT_EQ(h.f, Vector3<double>(0, 8, 0));
  EXPECT_EQ(h.n, Vector3<double>(0, 0, 6));
  EXPECT_EQ(h_W.f, Vector3<double>(0, 8, 0));
  EXPECT_EQ(h_W.n, Vector3<double>(0, 0, 86));
}

class Robots : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Robots, ::testing::Range(1u, 7u));

// Matrices against vectors, rates against exact derivatives by dual numbers. Sums over 15 bodies of
// products of order 10; the largest difference seen is 26 eps of the size of the field.
TEST_P(Robots, MatricesAndRatesFitTogether) {
  for (const Model<double>& model : testing::random_robots(GetParam())) {
    const auto s = testing::random_state(model, GetParam());
    const auto k = testing::kinematics_at(model, s);
    const Model<Dual> moving = model.cast<Dual>();
    const auto k_t = testing::kinematics_in_time(moving, s);
    SubtreeScratch<double> scratch(model);
    SubtreeScratch<Dual> scratch_t(moving);
    const int n = model.nv();

    const Vector6<double> h = centroidal_momentum(model, k).vector();
    const Vector6<double> dh = centroidal_momentum_rate(model, k).vector();
    EXPECT_LT(testing::relative(dh, testing::derivative(centroidal_momentum(moving, k_t))),
              256 * kEps);
    Matrix6X<double> A = Matrix6X<double>::Constant(6, n, 7), dA = A;
    centroidal_matrix(model, k, scratch, A);
    centroidal_matrix_rate(model, k, scratch, dA);
    EXPECT_LT(testing::relative(A * s.v, h), 256 * kEps);
    EXPECT_LT(testing::relative(A * s.a + dA * s.v, dh), 256 * kEps);
    Matrix6X<Dual> A_t(6, n);
    centroidal_matrix(moving, k_t, scratch_t, A_t);
    const Matrix6X<double> derivative = testing::derivative<6, Eigen::Dynamic>(A_t);
    EXPECT_LT(testing::relative(dA, derivative), 256 * kEps);

    // The linear rows are the mass centre's, times the mass.
    Matrix3X<double> J(3, n);
    center_of_mass_jacobian(model, k, scratch, J);
    EXPECT_LT(testing::relative(A.topRows(3), J * model.total_mass()), 64 * kEps);
    const Vector3<double> p_WC = center_of_mass(model, k);
    const Force<double> at_origin =
        Pose<double>{Matrix3<double>::Identity(), p_WC}.act(Force<double>::from_vector(h));
    EXPECT_LT(testing::relative(spatial_momentum(model, k).vector(), at_origin.vector()),
              64 * kEps);
  }
}

// With a free base the first six rows of M v are the momentum at the base, and the first six of the
// inverse dynamics are the momentum's rate minus the weight. Both come from the plain traversal of
// limb/model/testing. Largest difference seen: 14 eps.
TEST_P(Robots, MomentumFromTheRowsOfTheFreeBase) {
  const Model<double> model = testing::random_robots(GetParam())[1];
  const auto s = testing::random_state(model, GetParam());
  const auto k = testing::kinematics_at(model, s);
  const Pose<double> X_CB{k.X_WB[1].R, k.X_WB[1].p - center_of_mass(model, k)};
  const VectorX<double> momentum = testing::mass_matrix(model, s.q) * s.v;
  const auto h = X_CB.act(Force<double>::from_vector(momentum.head<6>()));
  EXPECT_LT(testing::relative(centroidal_momentum(model, k).vector(), h.vector()), 256 * kEps);

  const VectorX<double> tau = testing::inverse_dynamics(model, s.q, s.v, s.a);
  auto dh = X_CB.act(Force<double>::from_vector(tau.head<6>()));
  dh.f += model.total_mass() * model.gravity();
  EXPECT_LT(testing::relative(centroidal_momentum_rate(model, k).vector(), dh.vector()),
            256 * kEps);
}

// A robot 1000 m away: quantities that do not depend on the world's origin are bit-identical, since
// all arms are measured from body 1.
TEST_P(Robots, FarFromTheOriginNothingIsLost) {
  for (const int which : {1, 3}) {
    const Model<double> model = testing::random_robots(GetParam())[static_cast<std::size_t>(which)];
    auto s = testing::random_state(model, GetParam());
    const auto near = testing::kinematics_at(model, s);
    s.q.head<3>() += Vector3<double>(600, -700, 400);
    const auto far = testing::kinematics_at(model, s);
    ASSERT_GT((far.X_WB[1].p - near.X_WB[1].p).norm(), 1000);
    SubtreeScratch<double> scratch(model);
    const int n = model.nv();

    EXPECT_EQ(centroidal_momentum(model, near).vector(), centroidal_momentum(model, far).vector());
    EXPECT_EQ(centroidal_momentum_rate(model, near).vector(),
              centroidal_momentum_rate(model, far).vector());
    EXPECT_EQ(center_of_mass_velocity(model, near), center_of_mass_velocity(model, far));
    EXPECT_EQ(center_of_mass_acceleration(model, near), center_of_mass_acceleration(model, far));
    EXPECT_EQ(kinetic_energy(model, near), kinetic_energy(model, far));
    Matrix6X<double> A(6, n), B(6, n);
    centroidal_matrix(model, near, scratch, A);
    centroidal_matrix(model, far, scratch, B);
    EXPECT_EQ(A, B);
    centroidal_matrix_rate(model, near, scratch, A);
    centroidal_matrix_rate(model, far, scratch, B);
    EXPECT_EQ(A, B);
    Matrix3X<double> J(3, n), K(3, n);
    center_of_mass_jacobian(model, near, scratch, J);
    center_of_mass_jacobian(model, far, scratch, K);
    EXPECT_EQ(J, K);
    for (int i = 0; i < static_cast<int>(model.frames().size()); ++i) {
      for (const FrameAxes axes : {FrameAxes::local, FrameAxes::local_world_aligned}) {
        frame_jacobian(model, near, FrameId(i), axes, A);
        frame_jacobian(model, far, FrameId(i), axes, B);
        EXPECT_EQ(A, B);
        frame_jacobian_rate(model, near, FrameId(i), axes, A);
        frame_jacobian_rate(model, far, FrameId(i), axes, B);
        EXPECT_EQ(A, B);
        EXPECT_EQ(frame_jacobian_rate_times_v(model, near, FrameId(i), axes).vector(),
                  frame_jacobian_rate_times_v(model, far, FrameId(i), axes).vector());
      }
    }
    // A position is rounded relative to its size, once per level of the tree.
    const Vector3<double> moved = center_of_mass(model, far) - center_of_mass(model, near);
    EXPECT_LT((moved - (far.X_WB[1].p - near.X_WB[1].p)).norm(), 4 * kEps * 1000);
  }
}

TEST(Momentum, ErrorsNameTheCause) {
  const Model<double> model = testing::random_robots(1)[1];
  Kinematics<double> k(model);
  SubtreeScratch<double> scratch(model);
  Matrix6X<double> A(6, 1);
  forward_kinematics(model, testing::random_state(model, 1).q, k);
  EXPECT_EQ(testing::message([&] { centroidal_matrix(model, k, scratch, A); }),
            "centroidal_matrix: A_G is 6 x 1, expected 6 x " + std::to_string(model.nv()) +
                " (a column for each velocity of the robot)");
  EXPECT_EQ(testing::message([&] { centroidal_momentum(model, k); }),
            "centroidal_momentum: these kinematics are incomplete; call forward_kinematics "
            "with q and v first");
  EXPECT_EQ(testing::message([&] { centroidal_momentum_rate(model, k); }),
            "centroidal_momentum_rate: these kinematics are incomplete; call "
            "forward_kinematics with q, v and a first");
}

}  // namespace
}  // namespace limb
