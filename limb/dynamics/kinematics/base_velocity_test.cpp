#include "limb/dynamics/kinematics/base_velocity.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/base_velocity_impl.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::Dual;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr BaseVelocityConvention kConventions[] = {
    BaseVelocityConvention::body, BaseVelocityConvention::mujoco, BaseVelocityConvention::mixed,
    BaseVelocityConvention::world};

// A base at (3, 0, 0), facing along y, that moves forward at 2 m/s and yaws at 0.5 rad/s.
TEST(BaseVelocity, DrivingAndYawing) {
  testing::RandomTreeOptions one{.joints = 0};
  const Model<double> model = build_model(testing::random_tree(1, one), Base::free);
  VectorX<double> q(7), v(6);
  const double h = std::sqrt(0.5);
  q << 3, 0, 0, 0, 0, h, h;
  v << 2, 0, 0, 0, 0, 0.5;
  Kinematics<double> k(model);
  forward_kinematics(model, q, v, VectorX<double>::Zero(6), k);
  const auto close = [](const Vector3<double>& x, double a, double b, double c) {
    return (x - Vector3<double>(a, b, c)).norm() < 8 * kEps;  // sqrt(1/2) squared and summed
  };
  EXPECT_TRUE(close(base_velocity(model, k, BaseVelocityConvention::body).v, 2, 0, 0));
  EXPECT_TRUE(close(base_velocity(model, k, BaseVelocityConvention::mujoco).v, 0, 2, 0));
  EXPECT_TRUE(close(base_velocity(model, k, BaseVelocityConvention::mixed).v, 0, 2, 0));
  EXPECT_TRUE(close(base_velocity(model, k, BaseVelocityConvention::world).v, 0, 0.5, 0));
  // The body twist is constant; the velocity in the world rotates: 2 m/s at 0.5 rad/s, along -x.
  EXPECT_TRUE(close(base_acceleration(model, k, BaseVelocityConvention::body).v, 0, 0, 0));
  EXPECT_TRUE(close(base_acceleration(model, k, BaseVelocityConvention::mujoco).v, -1, 0, 0));
}

class Robots : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Robots, ::testing::Range(1u, 7u));

TEST_P(Robots, AreTheFramesVelocitiesAndTheirDerivatives) {
  for (const std::size_t which : {1, 3}) {
    const Model<double> model = testing::random_robots(GetParam())[which];
    const auto s = testing::random_state(model, GetParam());
    const auto k = testing::kinematics_at(model, s);
    const BodyId base = floating_base(model);
    EXPECT_EQ(base.value(), 1);
    // One rotation and one cross product of numbers below 3: 16 eps.
    const auto local = frame_velocity(model, k, base, FrameAxes::local);
    const auto aligned = frame_velocity(model, k, base, FrameAxes::local_world_aligned);
    const auto world = frame_velocity(model, k, base, FrameAxes::world);
    const auto V = [&](BaseVelocityConvention convention) {
      return base_velocity(model, k, convention).vector();
    };
    EXPECT_LT((V(BaseVelocityConvention::body) - local.vector()).norm(), 16 * kEps);
    EXPECT_LT((V(BaseVelocityConvention::mixed) - aligned.vector()).norm(), 16 * kEps);
    EXPECT_LT((V(BaseVelocityConvention::world) - world.vector()).norm(), 16 * kEps);
    EXPECT_LT((V(BaseVelocityConvention::mujoco) - stack(aligned.v, local.w)).norm(), 16 * kEps);

    const Model<Dual> moving = model.cast<Dual>();
    const auto k_t = testing::kinematics_in_time(moving, s);
    for (const BaseVelocityConvention convention : kConventions) {
      const auto A = base_acceleration(model, k, convention).vector();
      EXPECT_LT((A - testing::derivative(base_velocity(moving, k_t, convention))).norm(),
                32 * kEps);
    }
  }
}

// There and back, power and Jacobians: at most four rotations of vectors of length up to 3.
TEST_P(Robots, VectorsAndColumnsConvertTogether) {
  for (const std::size_t which : {1, 3}) {
    const Model<double> model = testing::random_robots(GetParam())[which];
    const auto s = testing::random_state(model, GetParam());
    const auto k = testing::kinematics_at(model, s);
    const int n = model.nv();
    const FrameId frame(static_cast<int>(model.frames().size()) - 1);
    Matrix6X<double> J(6, n);
    frame_jacobian(model, k, frame, FrameAxes::local, J);
    const VectorX<double> V_F = J * s.v;
    const VectorX<double> tau = testing::random_state(model, GetParam() + 100).v;
    for (const BaseVelocityConvention to : kConventions) {
      VectorX<double> v(n), a(n), f(n), back(n);
      convert_base_velocity(model, k, s.v, BaseVelocityConvention::body, to, v);
      convert_base_acceleration(model, k, s.a, BaseVelocityConvention::body, to, a);
      convert_base_force(model, k, tau, BaseVelocityConvention::body, to, f);
      EXPECT_LT((v.head<6>() - base_velocity(model, k, to).vector()).norm(), 32 * kEps);
      EXPECT_LT((a.head<6>() - base_acceleration(model, k, to).vector()).norm(), 32 * kEps);
      EXPECT_EQ(v.tail(n - 6), s.v.tail(n - 6));
      EXPECT_EQ(a.tail(n - 6), s.a.tail(n - 6));
      EXPECT_EQ(f.tail(n - 6), tau.tail(n - 6));
      EXPECT_NEAR(f.dot(v), tau.dot(s.v), 64 * kEps);
      const Matrix6<double> B = base_velocity_matrix(model, k, BaseVelocityConvention::body, to);
      EXPECT_LT((B * s.v.head<6>() - v.head<6>()).norm(), 32 * kEps);

      MatrixX<double> J_to = J;
      convert_base_columns(model, k, BaseVelocityConvention::body, to, J_to);
      EXPECT_LT(testing::relative(J_to * v, V_F), 128 * kEps);
      convert_base_columns(model, k, to, BaseVelocityConvention::body, J_to);
      EXPECT_LT(testing::relative(J_to, J), 64 * kEps);
      convert_base_velocity(model, k, v, to, BaseVelocityConvention::body, back);
      EXPECT_LT((back - s.v).norm(), 32 * kEps);
      convert_base_acceleration(model, k, a, to, BaseVelocityConvention::body, back);
      EXPECT_LT((back - s.a).norm(), 32 * kEps);
      convert_base_force(model, k, f, to, BaseVelocityConvention::body, f);
      EXPECT_LT((f - tau).norm(), 32 * kEps);
    }
    // In the matching convention the base's Jacobian is the identity.
    MatrixX<double> own(6, n);
    frame_jacobian(model, k, floating_base(model), FrameAxes::local_world_aligned, J);
    own = J;
    convert_base_columns(model, k, BaseVelocityConvention::body, BaseVelocityConvention::mixed,
                         own);
    EXPECT_LT((own.leftCols(6) - Matrix6<double>::Identity()).norm(), 32 * kEps);
  }
}

TEST(BaseVelocity, ErrorsNameTheCause) {
  const auto robots = testing::random_robots(2);
  EXPECT_TRUE(has_floating_base(robots[1]));
  EXPECT_FALSE(has_floating_base(robots[2]));
  const auto k = testing::kinematics_at(robots[2], testing::random_state(robots[2], 2));
  EXPECT_EQ(testing::message([&] { base_velocity(robots[2], k, BaseVelocityConvention::body); }),
            "base_velocity: the robot has no floating base (Base::free)");
  const auto k1 = testing::kinematics_at(robots[1], testing::random_state(robots[1], 2));
  VectorX<double> v = VectorX<double>::Zero(3);
  EXPECT_EQ(testing::message([&] {
              convert_base_velocity(robots[1], k1, v, BaseVelocityConvention::body,
                                    BaseVelocityConvention::mujoco, v);
            }),
            "convert_base_velocity: v has 3 entries, expected " + std::to_string(robots[1].nv()) +
                " (a free joint needs 7 numbers in q but 6 in v)");
}

}  // namespace
}  // namespace limb
