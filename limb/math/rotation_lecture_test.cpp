// Rotations as a course on legged robots presents them, formula by formula and number by number:
// rotation matrices, roll-pitch-yaw, gimbal lock, quaternions, homogeneous transforms. Where the
// slides have an error, the test shows the correct form and that the printed one differs.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <numbers>

#include "limb/math/euler_rates.hpp"
#include "limb/math/se3.hpp"
#include "limb/math/testing/max_abs.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double r = std::numbers::sqrt2 / 2;

constexpr double deg(double angle_deg) {
  return angle_deg * std::numbers::pi / 180;
}

double max_difference(const Matrix3<double>& a, const Matrix3<double>& b) {
  return max_abs(a - b);
}

Matrix3<double> Rx(double angle) {
  return axis_rotation(0, angle);
}
Matrix3<double> Ry(double angle) {
  return axis_rotation(1, angle);
}
Matrix3<double> Rz(double angle) {
  return axis_rotation(2, angle);
}

/// Roll 180, pitch 45, yaw 90 degrees.
Matrix3<double> example() {
  Matrix3<double> R;
  R << 0, 1, 0,   //
      r, 0, -r,   //
      -r, 0, -r;  //
  return R;
}

/// 30 degrees about (0.6, 0.8, 0).
Quaternion<double> thirty() {
  return quaternion_from_axis_angle<double>({0.6, 0.8, 0}, deg(30));
}

// A1: R^T = R^-1, det R = 1; a test for it, and the repair of a drifted matrix.
TEST(RotationMatrix, OrthogonalWithDeterminantOne) {
  const Matrix3<double> R = example();
  EXPECT_LE(max_difference(R * R.transpose(), Matrix3<double>::Identity()), 2 * kEps);
  EXPECT_LE(max_difference(R.inverse(), R.transpose()), 2 * kEps);
  EXPECT_NEAR(R.determinant(), 1, 2 * kEps);
  EXPECT_TRUE(is_rotation(R));

  Matrix3<double> drifted = R;
  drifted(0, 1) += 1e-3;
  drifted(2, 0) -= 2e-3;
  EXPECT_FALSE(is_rotation(drifted));
  EXPECT_THROW(check_rotation("test", "R", drifted), Error);
  const Matrix3<double> repaired = nearest_rotation(drifted);
  EXPECT_TRUE(is_rotation(repaired));
  EXPECT_LE(max_difference(repaired, R), 2e-3);  // no further away than the largest disturbance
  EXPECT_FALSE(is_rotation<double>(-R)) << "orthogonal, but a reflection";
}

// A2, A3, A4: roll, pitch, yaw about fixed axes and yaw, pitch, roll about rotated axes give the
// same orientation.
TEST(RollPitchYaw, ExtrinsicAndIntrinsicAgree) {
  const double roll = deg(180), pitch = deg(45), yaw = deg(90);
  const Matrix3<double> extrinsic =
      euler_to_matrix(EulerSequence("xyz"), Vector3<double>(roll, pitch, yaw));
  const Matrix3<double> intrinsic =
      euler_to_matrix(EulerSequence("ZYX"), Vector3<double>(yaw, pitch, roll));
  // Entries of one product of sines and cosines: half an eps each.
  EXPECT_LE(max_difference(extrinsic, example()), 2 * kEps);
  EXPECT_LE(max_difference(intrinsic, example()), 2 * kEps);
  EXPECT_LE(max_difference(rpy_to_matrix(roll, pitch, yaw), example()), 2 * kEps);
  EXPECT_LE(max_difference(Rz(yaw) * Ry(pitch) * Rx(roll), example()), 2 * kEps);
  EXPECT_LE(max_difference(to_matrix(euler_to_quaternion(EulerSequence("xyz"),
                                                         Vector3<double>(roll, pitch, yaw))),
                           example()),
            4 * kEps);

  // Rotations about the current axes: after yaw, the new y; after yaw and pitch, the new x.
  const auto about = [](const Vector3<double>& axis, double angle) {
    return so3::exp<double>(axis * angle);
  };
  const Matrix3<double> yawed = about(Vector3<double>::UnitZ(), yaw);
  const Matrix3<double> pitched = about(yawed.col(1), pitch) * yawed;
  const Matrix3<double> rolled = about(pitched.col(0), roll) * pitched;
  EXPECT_LE(max_difference(rolled, example()), 8 * kEps);
}

// A3, a misprint on the slide: the first intrinsic rotation is leftmost. The product printed for
// the intrinsic sequence, Rx Ry Rz, is another orientation.
TEST(RollPitchYaw, ThePrintedIntrinsicProductIsAnotherRotation) {
  const Matrix3<double> printed = Rx(deg(180)) * Ry(deg(45)) * Rz(deg(90));
  Matrix3<double> expected;
  expected << 0, -r, r,  //
      -1, 0, 0,          //
      0, -r, -r;         //
  EXPECT_LE(max_difference(printed, expected), 2 * kEps);
  EXPECT_GT(max_difference(printed, example()), 1);
  EXPECT_GT(so3::log<double>(printed.transpose() * example()).norm(), deg(90));
}

TEST(RollPitchYaw, TheExampleRoundTrips) {
  const auto [rpy, lock] = matrix_to_rpy(example());
  EXPECT_LE(max_difference(rpy_to_matrix(rpy[0], rpy[1], rpy[2]), example()), 8 * kEps);
  EXPECT_NEAR(std::abs(rpy[0]), deg(180), 8 * kEps);  // +180 and -180 are the same roll
  EXPECT_NEAR(rpy[1], deg(45), 8 * kEps);
  EXPECT_NEAR(rpy[2], deg(90), 8 * kEps);
  EXPECT_FALSE(lock.locked);
  EXPECT_NEAR(lock.measure, r, 2 * kEps);  // |cos pitch|
  EXPECT_NEAR(lock.distance, deg(45), 4 * kEps);
}

// A5: at pitch 90 degrees the roll and yaw axes are collinear. Two axes align, never three
// (the pitch axis is always perpendicular to both), so one degree of freedom is lost, not two.
TEST(GimbalLock, OneDegreeOfFreedomIsLost) {
  const EulerSequence zyx("ZYX");
  const Vector3<double> angles(deg(20), deg(90), deg(50));  // yaw, pitch, roll
  const Matrix3<double> E = euler_rate_matrix(zyx, angles);
  EXPECT_NEAR(E.col(0).dot(E.col(1)), 0, 2 * kEps);
  EXPECT_NEAR(E.col(1).dot(E.col(2)), 0, 2 * kEps);
  EXPECT_NEAR(E.col(0).dot(E.col(2)), -1, 2 * kEps);
  const Vector3<double> sigma = Eigen::JacobiSVD<Matrix3<double>>(E).singularValues();
  EXPECT_GT(sigma[1], 0.99);  // rank 2
  EXPECT_LE(sigma[2], 4 * kEps);

  // Only roll - yaw is determined: other angles, the same orientation.
  const Matrix3<double> R = euler_to_matrix(zyx, angles);
  EXPECT_LE(max_difference(R, euler_to_matrix(zyx, Vector3<double>(deg(-10), deg(90), deg(20)))),
            4 * kEps);
  const auto [found, lock] = euler_from_matrix(zyx, R);
  EXPECT_TRUE(lock.locked);
  EXPECT_LE(lock.measure, 4 * kEps);
  EXPECT_EQ(found[2], 0);
  EXPECT_NEAR(found[0], deg(-30), 4 * kEps);
  EXPECT_LE(max_difference(euler_to_matrix(zyx, found), R), 8 * kEps);
  EXPECT_LE((euler_rate_matrix(zyx, found).transpose() * lock.lost_direction).norm(), 4 * kEps);
  EXPECT_THROW(euler_rate_inverse(zyx, angles), Error);
}

// A5: det E = -cos(pitch) for yaw, pitch, roll rates: the measure of the distance to lock.
TEST(GimbalLock, DeterminantIsCosineOfPitch) {
  for (const double pitch : {-1.5, -0.8, 0.0, 0.4, 1.2, 1.57}) {
    const Vector3<double> angles(0.3, pitch, -0.9);
    const auto lock =
        euler_from_matrix(EulerSequence("ZYX"), euler_to_matrix(EulerSequence("ZYX"), angles)).lock;
    EXPECT_NEAR(euler_rate_matrix(EulerSequence("ZYX"), angles).determinant(), -std::cos(pitch),
                4 * kEps);
    EXPECT_NEAR(lock.measure, std::cos(pitch), 4 * kEps);
  }
}

// A6, A9: complex units, the tuple (q, q_vec) scalar first, unit norm, identity [1, 0, 0, 0].
TEST(QuaternionAlgebra, UnitsAndIdentity) {
  const auto i = quat_wxyz(0.0, 1.0, 0.0, 0.0), j = quat_wxyz(0.0, 0.0, 1.0, 0.0),
             k = quat_wxyz(0.0, 0.0, 0.0, 1.0);
  const Vector4<double> minus_one(-1, 0, 0, 0);
  EXPECT_EQ((i * i).wxyz(), minus_one);
  EXPECT_EQ((j * j).wxyz(), minus_one);
  EXPECT_EQ((k * k).wxyz(), minus_one);
  EXPECT_EQ((i * j * k).wxyz(), minus_one);
  EXPECT_EQ(Quaternion<double>::identity().wxyz(), Vector4<double>(1, 0, 0, 0));
  EXPECT_EQ(to_matrix(Quaternion<double>::identity()), Matrix3<double>::Identity());
}

// A7, A8: sum and product in components, the product also as (q r - q.r, r q + q r + q x r).
TEST(QuaternionAlgebra, SumAndProduct) {
  const auto q = quat_wxyz(1.0, 2.0, 3.0, 4.0), p = quat_wxyz(5.0, -6.0, 7.0, 0.5);
  EXPECT_EQ((q + p).wxyz(), Vector4<double>(6, -4, 10, 4.5));
  const Vector3<double> qv = q.vec(), pv = p.vec();
  const Vector3<double> vec = p.w() * qv + q.w() * pv + qv.cross(pv);
  const double scalar = q.w() * p.w() - qv.dot(pv);
  const Vector4<double> product(scalar, vec[0], vec[1], vec[2]);
  EXPECT_EQ((q * p).wxyz(), product);  // small integers and halves: exact
  const Vector4<double> w(1, 2, 3, 4);
  Matrix4<double> right;    // of p = (r0, r1, r2, r3), scalar first, acting on q
  right << 5, 6, -7, -0.5,  //
      -6, 5, 0.5, -7,       //
      7, -0.5, 5, -6,       //
      0.5, 7, 6, 5;         //
  EXPECT_EQ(Vector4<double>(right * w), product);
  EXPECT_EQ(Vector4<double>(left_product_matrix(q) * p.xyzw()), (q * p).xyzw());
  EXPECT_EQ(Vector4<double>(right_product_matrix(p) * q.xyzw()), (q * p).xyzw());
  EXPECT_NE((p * q).wxyz(), product);  // not commutative
}

// A9: q* = (q, -q_vec), q^-1 = q* / |q|^2, and q^-1 = q* for unit quaternions.
TEST(QuaternionAlgebra, ConjugateNormInverse) {
  const auto q = quat_wxyz(1.0, -1.0, 3.0, 5.0);
  EXPECT_EQ(q.conjugate().wxyz(), Vector4<double>(1, 1, -3, -5));
  EXPECT_EQ(q.norm(), 6);
  EXPECT_LE((q.inverse().wxyz() - Vector4<double>(1, 1, -3, -5) / 36).norm(), kEps);
  EXPECT_LE((q * q.inverse() - Quaternion<double>()).norm(), 2 * kEps);
  EXPECT_LE((thirty().inverse() - thirty().conjugate()).norm(), 2 * kEps);
}

// A10, A11: q = (cos t/2, sin t/2 axis); 30 degrees about (0.6, 0.8, 0).
TEST(QuaternionRotation, ThirtyDegreesExample) {
  const Vector4<double> expected(0.965925826289068, 0.155291427061512, 0.207055236082017, 0);
  EXPECT_LE(max_abs(thirty().wxyz() - expected), 6e-16);  // 15 digits given
  EXPECT_NEAR(thirty().w(), std::cos(deg(15)), kEps);
  EXPECT_NEAR(thirty().norm(), 1, 2 * kEps);
  const auto [axis, angle] = to_axis_angle(thirty());
  EXPECT_NEAR(angle, deg(30), 2 * kEps);
  EXPECT_LE((axis - Vector3<double>(0.6, 0.8, 0)).norm(), 2 * kEps);
  EXPECT_THROW(quaternion_from_axis_angle<double>({0.6, 0.9, 0}, deg(30)), Error);
}

// A12, A13: p' = q p q^-1; q = q'' q' rotates by q' first.
TEST(QuaternionRotation, ActionAndComposition) {
  const Vector3<double> p(0.3, -1.0, 2.0);
  const auto sandwich = thirty() * quat_wxyz(0.0, p[0], p[1], p[2]) * thirty().inverse();
  EXPECT_NEAR(sandwich.w(), 0, 4 * kEps);
  EXPECT_LE((sandwich.vec() - thirty().rotate(p)).norm(), 8 * kEps);
  EXPECT_LE((to_matrix(thirty()) * p - thirty().rotate(p)).norm(), 8 * kEps);

  const auto first = thirty(), second = quaternion_from_axis_angle<double>({0, 0, 1}, deg(90));
  const auto both = second * first;
  EXPECT_LE((both.rotate(p) - second.rotate(first.rotate(p))).norm(), 8 * kEps);
  EXPECT_LE(max_difference(to_matrix(both), to_matrix(second) * to_matrix(first)), 4 * kEps);
  EXPECT_GT((both.rotate(p) - first.rotate(second.rotate(p))).norm(), 0.1);
}

// A14: p'' = q p q^-1 + t, the same as the homogeneous transform.
TEST(QuaternionRotation, RigidTransform) {
  const Vector3<double> p(0.3, -1.0, 2.0), t(-0.5, 0.25, 1.0);
  const Vector3<double> expected = thirty().rotate(p) + t;
  const auto X = Pose<double>::from_quaternion(thirty(), t);
  EXPECT_LE((X * p - expected).norm(), 8 * kEps);
  EXPECT_LE(((X.matrix() * p.homogeneous()).hnormalized() - expected).norm(), 8 * kEps);
}

// A15: interpolation. Quaternions need their signs aligned (q and -q are one rotation), and
// rotation matrices interpolate just as well, R0 exp(t log(R0^T R1)): the same path.
TEST(Interpolation, QuaternionsAndMatricesFollowTheSamePath) {
  const auto q0 = thirty(), q1 = quaternion_from_axis_angle<double>({0, 0.6, -0.8}, deg(140));
  const Matrix3<double> R0 = to_matrix(q0), R1 = to_matrix(q1);
  for (const double t : {0.0, 0.1, 0.5, 0.8, 1.0}) {
    const Matrix3<double> R = so3::interpolate(R0, R1, t);
    EXPECT_TRUE(is_rotation(R));
    EXPECT_LE(max_difference(to_matrix(slerp(q0, q1, t)), R), 16 * kEps) << t;
    EXPECT_LE(max_difference(to_matrix(slerp(q0, -q1, t)), R), 16 * kEps) << t;
  }
  // Interpolated entry by entry it is not a rotation.
  EXPECT_FALSE(is_rotation<double>(0.5 * (R0 + R1), 0.1));
}

// A15: q is discontinuous in sign as a function of the rotation: a full turn ends at -q.
TEST(Interpolation, AFullTurnChangesTheSign) {
  const auto turn = quaternion_from_axis_angle<double>({0, 0, 1}, deg(360));
  EXPECT_LE((turn + Quaternion<double>()).norm(), 2 * kEps);
  EXPECT_LE(max_difference(to_matrix(turn), Matrix3<double>::Identity()), 2 * kEps);
  EXPECT_EQ(to_matrix(thirty()), to_matrix(-thirty()));
}

// A16: Rodrigues R = 1 + sin(t) [u] + (1 - cos t) [u]^2, and the two columns of the comparison:
// 9 numbers with 6 constraints against 4 with 1; identity, inverse, composition.
TEST(Comparison, MatrixAndQuaternion) {
  const Vector3<double> u(0.6, 0.8, 0);
  const double t = deg(30);
  const Matrix3<double> U = skew(u);
  const Matrix3<double> R =
      Matrix3<double>::Identity() + std::sin(t) * U + (1 - std::cos(t)) * U * U;
  EXPECT_LE(max_difference(R, so3::exp<double>(t * u)), 2 * kEps);
  EXPECT_LE(max_difference(R, to_matrix(thirty())), 2 * kEps);
  EXPECT_LE((quaternion_from_matrix(R) - thirty()).norm(), 2 * kEps);
  EXPECT_LE((quaternion_exp<double>(t * u) - thirty()).norm(), 2 * kEps);
  EXPECT_LE((so3::log(R) - t * u).norm(), 2 * kEps);
  EXPECT_LE(max_difference(to_matrix(thirty().conjugate()), R.transpose()), 2 * kEps);
  EXPECT_LE((thirty() * thirty().conjugate() - Quaternion<double>()).norm(), 2 * kEps);
  EXPECT_LE(max_difference(to_matrix(thirty() * thirty()), R * R), 4 * kEps);
  EXPECT_EQ(R.size(), 9);
  EXPECT_EQ(thirty().xyzw().size(), 4);
}

// A17: T = [R p; 0 1], T^-1 = [R^T, -R^T p; 0 1].
TEST(Homogeneous, Inverse) {
  const Pose<double> X{example(), {1, -2, 0.5}};
  Matrix4<double> T;
  T << 0, 1, 0, 1,     //
      r, 0, -r, -2,    //
      -r, 0, -r, 0.5,  //
      0, 0, 0, 1;      //
  EXPECT_EQ(X.matrix(), T);
  Matrix4<double> inverse;
  inverse << 0, r, -r, 2.5 * r,  //
      1, 0, 0, -1,               //
      0, -r, -r, -1.5 * r,       //
      0, 0, 0, 1;                //
  EXPECT_LE(max_abs(X.inverse().matrix() - inverse), 2 * kEps);
  EXPECT_LE(max_abs(X.matrix().inverse() - inverse), 4 * kEps);
  EXPECT_LE(max_abs((X * X.inverse()).matrix() - Matrix4<double>::Identity()), 4 * kEps);
  EXPECT_EQ(Pose<double>::from_matrix(T).matrix(), T);
}

}  // namespace
}  // namespace limb
