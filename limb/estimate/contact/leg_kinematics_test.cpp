// Position, velocity and noise of a foot against the closed forms of a planar leg, with an IMU that
// is rotated and away from the base origin.
#include "limb/estimate/contact/leg_kinematics.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "limb/estimate/contact/momentum_observer.hpp"
#include "limb/estimate/filter/base_filter.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kThigh = 0.25, kCalf = 0.35;
const Vec kHip(0.1, 0.2, -0.05);
/// Not symmetric, so that it differs from its inverse.
const Pose<double> kX_BS{axis_rotation<double>(2, 0.7) * axis_rotation<double>(0, -0.4),
                         Vec(0.3, -0.1, 0.15)};

/// A free trunk with a leg of two joints about y, straight down at zero, and a tail, which is not a
/// leg.
RobotBuilder<double> one_leg() {
  RobotBuilder<double> robot("one_leg");
  const Mat I = 0.01 * Mat::Identity();
  robot.link("trunk", 5, Vec::Zero(), I)
      .link("thigh", 1, Vec(0, 0, -kThigh / 2), I)
      .link("calf", 1, Vec(0, 0, -kCalf / 2), I)
      .link("tail", 1, Vec::Zero(), I)
      .joint("hip", Joint<double>::revolute(Vec::UnitY()), "trunk", "thigh",
             {Mat::Identity(), kHip})
      .joint("knee", Joint<double>::revolute(Vec::UnitY()), "thigh", "calf",
             {Mat::Identity(), Vec(0, 0, -kThigh)})
      .joint("tail_joint", Joint<double>::revolute(Vec::UnitZ()), "trunk", "tail")
      .frame("foot", "calf", {Mat::Identity(), Vec(0, 0, -kCalf)})
      .frame("imu", "trunk", kX_BS);
  return robot;
}
const std::vector<std::string> kFeet = {"foot"};

/// The foot in the base, and its Jacobian with respect to hip and knee.
Vec foot_in_base(double hip, double knee) {
  return kHip - Vec(kThigh * std::sin(hip) + kCalf * std::sin(hip + knee), 0,
                    kThigh * std::cos(hip) + kCalf * std::cos(hip + knee));
}
Eigen::Matrix<double, 3, 2> foot_jacobian(double hip, double knee) {
  const double s = hip + knee;
  const Vec by_knee(-kCalf * std::cos(s), 0, kCalf * std::sin(s));
  Eigen::Matrix<double, 3, 2> J;
  J << by_knee + Vec(-kThigh * std::cos(hip), 0, kThigh * std::sin(hip)), by_knee;
  return J;
}

TEST(LegKinematics, OfAPlanarLegInAxesOfTheSensor) {
  LegKinematics legs(one_leg().build(Base::free), kFeet, "imu");
  ASSERT_EQ(legs.model().nv(), 9);
  EXPECT_EQ(legs.leg(0),
            (std::vector<bool>{false, false, false, false, false, false, true, true, false}));
  VectorX<double> q = VectorX<double>::Zero(10), v = VectorX<double>::Zero(9);
  const Mat R_SB = kX_BS.R.transpose();
  for (const double hip : {0.0, 0.4, -1.1}) {
    for (const double knee : {0.0, -0.9, 2.0}) {
      q.tail<3>() << hip, knee, 0.3;
      v.tail<3>() << 0.7, -1.3, 5;
      ASSERT_EQ(legs.update(q, v), Status::ok);
      const auto J = foot_jacobian(hip, knee);
      EXPECT_LT((legs.p_SF(0) - R_SB * (foot_in_base(hip, knee) - kX_BS.p)).norm(), 4 * kEps);
      EXPECT_LT((legs.v_SF(0) - R_SB * J * Eigen::Vector2d(0.7, -1.3)).norm(), 4 * kEps);
      EXPECT_LT((legs.J(0).middleCols<2>(6) - R_SB * J).norm(), 4 * kEps);
      EXPECT_EQ(legs.J(0).leftCols<6>().norm() + legs.J(0).col(8).norm(), 0);
      const Mat N = R_SB * J * J.transpose() * R_SB.transpose() * 0.02 * 0.02;
      EXPECT_LT((legs.noise(0, 0.02, 0.003) - N - 0.003 * 0.003 * Mat::Identity()).norm(),
                4 * kEps * N.norm());
    }
  }
}

// A straight leg does not move along itself to first order: the covariance is singular but for the
// error of the leg model, and nothing is divided by it.
TEST(LegKinematics, NoiseOfAStraightLegIsThatOfTheModelAlongTheLeg) {
  LegKinematics legs(one_leg().build(Base::free), kFeet, "");
  const double encoder = 1e-3, error = 1e-4, reach = kThigh + kCalf;
  // The same at all angles of the hip, in turned axes.
  for (const double hip : {0.0, 0.5, -1.2}) {
    VectorX<double> q = VectorX<double>::Zero(10);
    q[7] = hip;
    ASSERT_EQ(legs.update(q, VectorX<double>::Zero(9)), Status::ok);
    const Mat R = axis_rotation<double>(1, hip);
    const Vec across(encoder * encoder * (reach * reach + kCalf * kCalf) + error * error,
                     error * error, error * error);
    const Mat expected = R * across.asDiagonal() * R.transpose();
    EXPECT_LT((legs.noise(0, encoder, error) - expected).norm(), 10 * kEps * expected.norm());
    EXPECT_NEAR(legs.noise(0, encoder, 0).eigenvalues().real().minCoeff<Eigen::PropagateNaN>(), 0,
                10 * kEps * expected.norm());
  }
}

// The same in a filter, without any error of the model: the prior bounds the update.
TEST(LegKinematics, StraightLegUpdatesAFilter) {
  LegKinematics legs(one_leg().build(Base::free), kFeet, "");
  const VectorX<double> q = VectorX<double>::Zero(10), v = VectorX<double>::Zero(9);
  ASSERT_EQ(legs.update(q, v), Status::ok);
  for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
    auto filter = make_filter(kind, {});
    Matrix15 P = Matrix15::Zero();
    P.topLeftCorner<3, 3>() = 1e-4 * Mat::Identity();
    filter->reset({}, P);
    const double encoder = 1e-3;
    ASSERT_EQ(filter->add_foot(0, legs.p_SF(0), legs.noise(0, encoder, 0)), Status::ok);
    // The foot was lifted along the leg by a distance that its variance excludes.
    const auto m = foot_position(filter->state(), 0, legs.p_SF(0) + Vec(0, 0, 1e-2),
                                 legs.noise(0, encoder, 1e-5));
    // Across the leg two encoder readings, along it the model alone.
    EXPECT_NEAR(filter->innovation(m), 1e-2 * 1e-2 / (1e-5 * 1e-5), 1e-6 * 1e6);
    ASSERT_TRUE(filter->update(m).ok());
    EXPECT_TRUE(filter->covariance().allFinite());
    EXPECT_LT(filter->state().p_WS.norm(), 1e-2);
  }
}

// Damped least squares: a force along a straight leg needs no torque, and is found as zero; across
// it, the damping of a millimetre is negligible.
TEST(FootForces, OfAStraightLegAreBounded) {
  LegKinematics legs(one_leg().build(Base::free), kFeet, "imu");
  FootForces forces(legs);
  const double damping = 1e-6;  // m^2
  for (const double hip : {0.0, 0.8}) {
    for (const double knee : {0.0, 1e-6, 1e-3, 0.7}) {
      VectorX<double> q = VectorX<double>::Zero(10), tau = VectorX<double>::Zero(9);
      q[6] = 1;
      // A turned base: forces are found in axes of the world.
      const Mat R_WB = axis_rotation<double>(2, 1.2) * axis_rotation<double>(0, 0.5);
      q.segment<4>(3) = quaternion_from_matrix(R_WB).xyzw();
      q.tail<3>() << hip, knee, 0.2;
      const Vec force(30, -10, 200);
      const Eigen::Matrix<double, 3, 2> J = R_WB * foot_jacobian(hip, knee);
      tau.segment<2>(6) = J.transpose() * force;
      tau[8] = 100;  // the tail carries no foot
      tau.head<6>().setConstant(50);
      ASSERT_EQ(forces.update(q, tau), Status::ok);
      // (J J^T + d)^-1 J = J (J^T J + d)^-1, which is well conditioned across the leg.
      const Eigen::Matrix2d N = J.transpose() * J + damping * Eigen::Matrix2d::Identity();
      const Vec expected = J * N.ldlt().solve(tau.segment<2>(6));
      // The condition of either is that of the damping, 5e5.
      EXPECT_LT((forces.f_W(0) - expected).norm(), 1e6 * kEps * force.norm());
      // Never larger than the force.
      EXPECT_LE(forces.f_W(0).norm(), force.norm());
      if (knee == 0) {
        const Vec along = R_WB * axis_rotation<double>(1, hip) * Vec::UnitZ();
        EXPECT_NEAR(forces.f_W(0).dot(along), 0, 1e6 * kEps * force.norm());
      }
    }
  }
  VectorX<double> q = VectorX<double>::Zero(10), tau = VectorX<double>::Zero(9);
  q[6] = 1;
  const Vec before = forces.f_W(0);
  tau[7] = std::nan("");
  EXPECT_NE(forces.update(q, tau), Status::ok);
  EXPECT_EQ(forces.f_W(0), before);
}

// knee = -2 hip + 0.3: one encoder, whose column is the sum of both.
TEST(LegKinematics, CoupledJointsMoveTogether) {
  RobotBuilder<double> robot = one_leg();
  robot.couple("knee", {{"hip", -2}}, 0.3);
  LegKinematics legs(robot.build(Base::free), kFeet, "imu");
  ASSERT_EQ(legs.model().nv(), 8);
  EXPECT_EQ(legs.leg(0),
            (std::vector<bool>{false, false, false, false, false, false, true, false}));
  VectorX<double> q = VectorX<double>::Zero(9), v = VectorX<double>::Zero(8);
  const double hip = 0.4, knee = 0.3 - 2 * hip, rate = 1.5;
  q[7] = hip;
  v[6] = rate;
  ASSERT_EQ(legs.update(q, v), Status::ok);
  const Mat R_SB = kX_BS.R.transpose();
  const Vec J = foot_jacobian(hip, knee) * Eigen::Vector2d(1, -2);
  EXPECT_LT((legs.p_SF(0) - R_SB * (foot_in_base(hip, knee) - kX_BS.p)).norm(), 4 * kEps);
  EXPECT_LT((legs.v_SF(0) - R_SB * J * rate).norm(), 4 * kEps);
  EXPECT_LT((legs.noise(0, 0.1, 0) - 0.01 * R_SB * J * (R_SB * J).transpose()).norm(), 4 * kEps);
}

TEST(LegKinematics, IgnoresWhatIsNotALegAndKeepsTheLastSample) {
  LegKinematics legs(one_leg().build(Base::free), kFeet, "imu");
  VectorX<double> q = VectorX<double>::Zero(10), v = VectorX<double>::Zero(9);
  q.tail<3>() << 0.4, -0.7, 0;
  v.tail<3>() << 1, 2, 0;
  ASSERT_EQ(legs.update(q, v), Status::ok);
  const Vec p = legs.p_SF(0), v_SF = legs.v_SF(0);
  const double nan = std::nan("");
  // The base and the tail may be anything.
  q.head<7>().setConstant(nan);
  v.head<6>().setConstant(nan);
  q[9] = v[8] = nan;
  ASSERT_EQ(legs.update(q, v), Status::ok);
  EXPECT_EQ(legs.p_SF(0), p);
  for (double* wrong : {&q[7], &q[8], &v[6], &v[7]}) {
    const double good = *wrong;
    *wrong = nan;
    EXPECT_EQ(legs.update(q, v), Status::not_finite);
    *wrong = good;
    EXPECT_EQ(legs.p_SF(0), p);
    EXPECT_EQ(legs.v_SF(0), v_SF);
  }
  // A rejected sample leaves nothing behind: the next one is used as a whole.
  q[7] = 0.1;
  q[8] = nan;
  EXPECT_EQ(legs.update(q, v), Status::not_finite);
  q[7] = 0.4;
  q[8] = -0.7;
  ASSERT_EQ(legs.update(q, v), Status::ok);
  EXPECT_EQ(legs.p_SF(0), p);
}

}  // namespace
}  // namespace limb
