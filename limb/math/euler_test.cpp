#include "limb/math/euler.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <sstream>
#include <vector>

#include "limb/base/testing/worst.hpp"
#include "limb/math/euler_scipy_data.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::message;
using testing::Random;

constexpr double kPi = std::numbers::pi;
constexpr unsigned kSeed = 20240611;

template <typename T>
T largest(const Matrix3<T>& m) {
  return max_abs(m);
}

/// Difference of two angles, at most half a turn.
template <typename T>
T angle_distance(T a, T b) {
  return std::abs(std::remainder(a - b, T(2 * kPi)));
}

/// The singular middle angles in range.
template <typename T>
std::array<T, 2> locks(const EulerSequence& s) {
  if (s.is_proper()) return {T(0), T(kPi)};
  return {T(-kPi / 2), T(kPi / 2)};
}

/// First and third angle over a grid with the ends and quarters of the range and values between;
/// middle angle at both locks and at `offsets` on either side of them, and over its range.
template <typename T>
std::vector<Vector3<T>> grid(const EulerSequence& s, const std::vector<T>& offsets) {
  std::vector<T> middles;
  for (const T lock : locks<T>(s)) {
    middles.push_back(lock);
    for (const T offset : offsets) {
      middles.push_back(lock + offset);
      middles.push_back(lock - offset);
    }
  }
  const T start = locks<T>(s)[0];
  for (int n = 1; n < 8; ++n) middles.push_back(start + T(n * kPi / 8));
  std::vector<Vector3<T>> all;
  for (const T first : {-3.0, -kPi / 2, -0.4, 0.0, 0.7, kPi / 2, 2.2, kPi}) {
    for (const T third : {-2.9, -kPi / 2, -1.1, 0.0, 0.3, kPi / 2, 1.9, kPi}) {
      for (const T middle : middles) all.emplace_back(first, middle, third);
    }
  }
  return all;
}

template <typename T>
std::vector<Vector3<T>> random_angles(int count, T range) {
  Random random(kSeed);
  std::vector<Vector3<T>> all;
  for (int n = 0; n < count; ++n) all.push_back(random.vector<T>(double(range)));
  return all;
}

template <typename T>
std::vector<T> offsets() {
  if constexpr (std::is_same_v<T, double>) return {1e-14, 1e-12, 1e-9, 1e-6, 1e-3};
  return {T(5e-6), T(1e-4), T(1e-3)};
}

template <typename T>
class EulerOf : public ::testing::Test {};
using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(EulerOf, Scalars);

// The definition: axis rotations multiplied in the order of the letters, or in reverse.
TYPED_TEST(EulerOf, MatrixIsTheProductOfAxisRotations) {
  using T = TypeParam;
  Worst worst, worst_quaternion;
  for (const EulerSequence& s : kEulerSequences) {
    for (const Vector3<T>& t : random_angles<T>(50, T(2 * kPi))) {
      const Matrix3<T> R1 = axis_rotation(s.axis(0), t[0]), R2 = axis_rotation(s.axis(1), t[1]),
                       R3 = axis_rotation(s.axis(2), t[2]);
      const Matrix3<T> R = s.is_intrinsic() ? Matrix3<T>(R1 * R2 * R3) : Matrix3<T>(R3 * R2 * R1);
      worst.add(largest<T>(euler_to_matrix(s, t) - R));
      worst_quaternion.add(largest<T>(to_matrix(euler_to_quaternion(s, t)) - R));
    }
  }
  ::testing::Test::RecordProperty("matrix_eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("quaternion_eps",
                                  std::to_string(worst_quaternion.value() / epsilon<T>()));
  // The same products of at most two factors as the column rotations: measured 0.
  EXPECT_LE(worst.value(), 2 * epsilon<T>());
  // Two quaternion products and the squares of to_matrix: measured 3.5 eps, double and float.
  EXPECT_LE(worst_quaternion.value(), 8 * epsilon<T>());
}

TYPED_TEST(EulerOf, ExtrinsicIsReversedIntrinsic) {
  using T = TypeParam;
  for (const EulerSequence& s : kEulerSequences) {
    for (const Vector3<T>& t : random_angles<T>(10, T(kPi))) {
      // The same operations on the same numbers: equal to the last bit.
      EXPECT_EQ(euler_to_matrix(s, t), euler_to_matrix(s.reversed(), Vector3<T>(t.reverse()))) << s;
      const Matrix3<T> R = euler_to_matrix(s, t);
      EXPECT_EQ(euler_from_matrix(s, R).angles,
                Vector3<T>(euler_from_matrix(s.reversed(), R).angles.reverse()))
          << s;
    }
  }
}

// Everywhere, at lock and on both sides of it: the angles reproduce the matrix and are in range.
TYPED_TEST(EulerOf, MatrixRoundTripEverywhere) {
  using T = TypeParam;
  Worst worst, worst_locked;
  for (const EulerSequence& s : kEulerSequences) {
    std::vector<Vector3<T>> all = grid<T>(s, offsets<T>());
    for (const Vector3<T>& t : random_angles<T>(200, T(3 * kPi))) all.push_back(t);
    for (const Vector3<T>& given : all) {
      const Matrix3<T> R = euler_to_matrix(s, given);
      const auto [t, lock] = euler_from_matrix(s, R);
      Worst& error = lock.locked ? worst_locked : worst;
      error.add(largest<T>(euler_to_matrix(s, t) - R));
      for (const int n : {0, 2}) {
        EXPECT_GT(t[n], -T(kPi)) << s << " " << given.transpose();
        EXPECT_LE(t[n], T(kPi)) << s << " " << given.transpose();
      }
      EXPECT_GE(t[1], locks<T>(s)[0]);
      EXPECT_LE(t[1], locks<T>(s)[1]);
      const auto from_q = euler_from_quaternion(s, quaternion_from_matrix(R));
      EXPECT_EQ(from_q.angles, t);
    }
  }
  ::testing::Test::RecordProperty("free_eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("locked_eps",
                                  std::to_string(worst_locked.value() / epsilon<T>()));
  // Rounding of R into q, of three angles of size up to pi (half an ulp is 1 eps) and of the
  // product back: measured 5.0 eps (double), 5.3 (float); at lock 3.0 and 4.3.
  EXPECT_LE(worst.value(), 12 * epsilon<T>());
  EXPECT_LE(worst_locked.value(), 12 * epsilon<T>());
}

// A quaternion avoids the rounding of a matrix; q and -q are the same rotation.
TYPED_TEST(EulerOf, QuaternionRoundTripAndSign) {
  using T = TypeParam;
  Worst worst, worst_sign;
  for (const EulerSequence& s : kEulerSequences) {
    for (const Vector3<T>& given : grid<T>(s, offsets<T>())) {
      const Quaternion<T> q = euler_to_quaternion(s, given);
      const auto [t, lock] = euler_from_quaternion(s, q);
      const Quaternion<T> back = align_sign(q, euler_to_quaternion(s, t));
      worst.add((back - q).norm());
      const auto minus = euler_from_quaternion(s, -q);
      for (int n = 0; n < 3; ++n) worst_sign.add(angle_distance(minus.angles[n], t[n]));
    }
  }
  ::testing::Test::RecordProperty("eps", std::to_string(worst.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("sign_eps", std::to_string(worst_sign.value() / epsilon<T>()));
  EXPECT_LE(worst.value(), 8 * epsilon<T>());  // measured 3.0 eps (double), 3.2 (float)
  // Sum and difference of two angles up to pi are rounded at up to 2 pi: an ulp there is 4 eps.
  // Measured 6.0 eps (double), 4.8 (float).
  EXPECT_LE(worst_sign.value(), 12 * epsilon<T>());
}

// angles -> matrix -> angles. Near lock the split of first and third is as uncertain as eps over
// the distance, but the middle angle is accurate to eps: an arccosine would lose half the digits.
TYPED_TEST(EulerOf, AnglesRoundTrip) {
  using T = TypeParam;
  Worst worst_middle, worst_outer, worst_distance, worst_measure;
  for (const EulerSequence& s : kEulerSequences) {
    const auto [low, high] = locks<T>(s);
    for (const Vector3<T>& given : grid<T>(s, offsets<T>())) {
      if (!(low < given[1] && given[1] < high)) continue;
      const auto [t, lock] = euler_from_matrix(s, euler_to_matrix(s, given));
      const T distance = std::min(given[1] - low, high - given[1]);
      EXPECT_FALSE(lock.locked);
      worst_middle.add(std::abs(t[1] - given[1]));
      worst_distance.add(std::abs(lock.distance - distance));
      worst_measure.add(std::abs(lock.measure - std::sin(distance)));
      for (const int n : {0, 2}) {
        worst_outer.add(angle_distance(t[n], given[n]) * std::sin(distance));
      }
    }
  }
  ::testing::Test::RecordProperty("middle_eps",
                                  std::to_string(worst_middle.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("outer_eps", std::to_string(worst_outer.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("distance_eps",
                                  std::to_string(worst_distance.value() / epsilon<T>()));
  ::testing::Test::RecordProperty("measure_eps",
                                  std::to_string(worst_measure.value() / epsilon<T>()));
  // Entries of R are known to about an eps, angles up to pi to two: measured for middle, outer,
  // distance and measure 2.5, 4.0, 2.5, 2.0 eps (double), 2.0, 4.0, 2.0, 1.5 (float).
  EXPECT_LE(worst_middle.value(), 8 * epsilon<T>());
  EXPECT_LE(worst_outer.value(), 12 * epsilon<T>());
  EXPECT_LE(worst_distance.value(), 8 * epsilon<T>());
  EXPECT_LE(worst_measure.value(), 8 * epsilon<T>());
}

// Built exactly at lock (as exactly as pi/2 can be typed): always reported, third angle 0.
TYPED_TEST(EulerOf, LockIsDetectedAndTheThirdAngleIsZero) {
  using T = TypeParam;
  Worst worst;
  for (const EulerSequence& s : kEulerSequences) {
    for (const T middle : locks<T>(s)) {
      for (Vector3<T> given : random_angles<T>(300, T(kPi))) {
        given[1] = middle;
        const auto [t, lock] = euler_from_matrix(s, euler_to_matrix(s, given));
        worst.add(lock.distance);
        EXPECT_TRUE(lock.locked) << s << " " << given.transpose();
        EXPECT_LE(lock.measure, lock.distance);
        EXPECT_EQ(t[1], middle);
        EXPECT_EQ(t[2], T(0));
        // Only the sum or the difference of the outer angles is determined, as the axes are
        // parallel or opposite in this sequence.
        const T with_sum = angle_distance(t[0], given[0] + given[2]);
        const T with_difference = angle_distance(t[0], given[0] - given[2]);
        EXPECT_LE(std::min(with_sum, with_difference), 16 * epsilon<T>());
      }
    }
  }
  ::testing::Test::RecordProperty("distance_eps", std::to_string(worst.value() / epsilon<T>()));
  EXPECT_LE(worst.value(), 4 * epsilon<T>());  // measured 0.6 eps (double), 0.8 (float);
                                               // kEulerLockEps = 8 is well above it
}

TEST(Euler, NearLockIsNotLocked) {
  for (const EulerSequence& s : kEulerSequences) {
    for (const double offset : {1e-14, 1e-12, 1e-9, 1e-3}) {
      const double middle = locks<double>(s)[1] - offset;
      const auto [t, lock] = euler_from_matrix(s, euler_to_matrix<double>(s, {0.4, middle, -1.2}));
      EXPECT_FALSE(lock.locked) << s;
      // The distance is an angle near pi rounded: measured 1 eps.
      EXPECT_NEAR(lock.distance, offset, 4 * epsilon<double>()) << s;
    }
  }
}

// [SciPy 1.17.1] made by tools/oracles/euler_scipy.py.
TEST(Euler, AgreesWithSciPy) {
  Worst worst_quaternion, worst_matrix, worst_angle;
  int count = 0;
  for (const auto& sample : euler_scipy::kSamples) {
    const EulerSequence s(sample.sequence);
    const Vector3<double> given(sample.given), expected(sample.angles);
    const Matrix3<double> R = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>(sample.matrix);
    const auto q = Quaternion<double>::from_xyzw(Vector4<double>(sample.xyzw));
    worst_matrix.add(largest<double>(euler_to_matrix(s, given) - R));
    const auto ours = align_sign(q, euler_to_quaternion(s, given));
    worst_quaternion.add((ours - q).norm());
    for (const auto& found : {euler_from_matrix(s, R), euler_from_quaternion(s, q)}) {
      worst_angle.add((found.angles - expected).norm() * found.lock.measure);
    }
    ++count;
  }
  EXPECT_EQ(count, 72);
  ::testing::Test::RecordProperty("matrix_eps",
                                  std::to_string(worst_matrix.value() / epsilon<double>()));
  ::testing::Test::RecordProperty("quaternion_eps",
                                  std::to_string(worst_quaternion.value() / epsilon<double>()));
  ::testing::Test::RecordProperty("angle_eps",
                                  std::to_string(worst_angle.value() / epsilon<double>()));
  // Two roundings of the same formulas: measured 2.0, 0.7 and 3.6 eps.
  EXPECT_LE(worst_matrix.value(), 8 * epsilon<double>());
  EXPECT_LE(worst_quaternion.value(), 8 * epsilon<double>());
  EXPECT_LE(worst_angle.value(), 16 * epsilon<double>());
}

TEST(Euler, RollPitchYawIsExtrinsicXyz) {
  const double roll = 0.3, pitch = -0.8, yaw = 2.1;
  const Matrix3<double> R = rpy_to_matrix(roll, pitch, yaw);
  EXPECT_EQ(R, euler_to_matrix(EulerSequence("xyz"), Vector3<double>(roll, pitch, yaw)));
  EXPECT_EQ(R, euler_to_matrix(EulerSequence("ZYX"), Vector3<double>(yaw, pitch, roll)));
  const auto [rpy, lock] = matrix_to_rpy(R);
  EXPECT_LE((rpy - Vector3<double>(roll, pitch, yaw)).norm(), 8 * epsilon<double>());
  EXPECT_NEAR(lock.measure, std::cos(pitch), 2 * epsilon<double>());
  // At pitch 90 degrees only roll - yaw is determined: yaw is 0, roll has the whole difference.
  const auto up = matrix_to_rpy(rpy_to_matrix(0.5, kPi / 2, 0.2));
  EXPECT_TRUE(up.lock.locked);
  EXPECT_EQ(up.angles[2], 0);
  EXPECT_NEAR(up.angles[0], 0.3, 4 * epsilon<double>());
}

TEST(Euler, IdentityIsExactlyZero) {
  for (const EulerSequence& s : kEulerSequences) {
    const auto [t, lock] = euler_from_matrix<double>(s, Matrix3<double>::Identity());
    EXPECT_EQ(t, Vector3<double>::Zero()) << s;
    EXPECT_EQ(lock.locked, s.is_proper()) << s;
  }
}

TEST(EulerErrors, NameCallArgumentFoundExpected) {
  const EulerSequence s("ZYX");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message([&] {
              euler_to_matrix<double>(s, {0, nan, 1});
            }),
            "euler_to_matrix: angles is [0, nan, 1], expected finite numbers");
  EXPECT_EQ(message([&] {
              euler_to_quaternion<double>(s, {inf, 0, 1});
            }),
            "euler_to_quaternion: angles is [inf, 0, 1], expected finite numbers");
  EXPECT_EQ(message([&] { rpy_to_matrix(0.0, nan, 1.0); }),
            "rpy_to_matrix: (roll, pitch, yaw) is [0, nan, 1], expected finite numbers");
  EXPECT_EQ(message([&] { euler_from_quaternion(s, quat_wxyz(2.0, 0.0, 0.0, 0.0)); }),
            "euler_from_quaternion: q_AB is [0, 0, 0, 2] of length 2, expected length 1 (normalise "
            "it first)");
  EXPECT_EQ(message([&] { euler_from_quaternion(s, quat_wxyz(0.0, 0.0, 0.0, 0.0)); }),
            "euler_from_quaternion: q_AB is [0, 0, 0, 0] of length 0, expected length 1 (a zero "
            "vector has no direction)");
  EXPECT_EQ(message([&] { euler_from_quaternion(s, quat_wxyz(1.0, nan, 0.0, 0.0)); }),
            "euler_from_quaternion: q_AB is [nan, 0, 0, 1], expected finite numbers");
}

TEST(EulerErrors, RejectNonRotations) {
  const EulerSequence s("zxz");
  const Matrix3<double> stretched = Vector3<double>(1, 1, 1.5).asDiagonal();
  EXPECT_EQ(message([&] { euler_from_matrix(s, stretched); }),
            "euler_from_matrix: R_AB is [1, 0, 0, 0, 1, 0, 0, 0, 1.5] with |R^T R - 1| = 1.25 and "
            "det = 1.5, expected a rotation matrix (nearest_rotation() repairs drift)");
  const Matrix3<double> mirror = Vector3<double>(1, 1, -1).asDiagonal();
  EXPECT_EQ(message([&] { matrix_to_rpy(mirror); }),
            "matrix_to_rpy: R_AB is [1, 0, 0, 0, 1, 0, 0, 0, -1] with |R^T R - 1| = 0 and det = "
            "-1, expected a rotation matrix (it is a reflection: an axis is flipped)");
  Matrix3<double> with_nan = Matrix3<double>::Identity();
  with_nan(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([&] { euler_from_matrix(s, with_nan); }),
            "euler_from_matrix: R_AB is [1, 0, 0, 0, 1, nan, 0, 0, 1], expected finite numbers");
}

TEST(EulerSequence, TextForms) {
  static_assert(EulerSequence("ZYX").is_intrinsic() && !EulerSequence("ZYX").is_proper());
  static_assert(EulerSequence("zxz").convention() == EulerConvention::extrinsic);
  static_assert(EulerSequence("zxz").is_proper() && EulerSequence("zxz").axis(1) == 0);
  static_assert(EulerSequence("ZYX").reversed() == EulerSequence("xyz"));
  static_assert(EulerSequence("ZYX") != EulerSequence("zyx"));
  int proper = 0, intrinsic = 0;
  for (const EulerSequence& s : kEulerSequences) {
    EXPECT_EQ(EulerSequence(to_text(s)), s);
    EXPECT_EQ(s.reversed().reversed(), s);
    EXPECT_EQ(std::count(kEulerSequences.begin(), kEulerSequences.end(), s), 1) << s;
    proper += s.is_proper();
    intrinsic += s.is_intrinsic();
  }
  EXPECT_EQ(proper, 12);
  EXPECT_EQ(intrinsic, 12);
  std::ostringstream out;
  out << EulerSequence("YZX") << " " << EulerSequence("zyz");
  EXPECT_EQ(out.str(), "YZX zyz");
}

TEST(EulerSequence, RejectsOtherTexts) {
  const auto text_of = [](std::string_view text) {
    return message([&] { EulerSequence sequence(text); });
  };
  const std::string start = "EulerSequence: text is ", expected =
                                                           ", expected a sequence such as \"ZYX\" "
                                                           "or \"xyz\" (";
  const std::string length = "it must have three letters)";
  const std::string letters = "only x, y, z name an axis)";
  const std::string mixed = "upper case is intrinsic, lower case extrinsic; do not mix them)";
  const std::string repeated =
      "two consecutive rotations about the same axis are a single rotation)";
  EXPECT_EQ(text_of(""), start + "\"\"" + expected + length);
  EXPECT_EQ(text_of("ZY"), start + "\"ZY\"" + expected + length);
  EXPECT_EQ(text_of("xyzx"), start + "\"xyzx\"" + expected + length);
  EXPECT_EQ(text_of("abc"), start + "\"abc\"" + expected + letters);
  EXPECT_EQ(text_of("XY["), start + "\"XY[\"" + expected + letters);
  EXPECT_EQ(text_of("ZyX"), start + "\"ZyX\"" + expected + mixed);
  EXPECT_EQ(text_of("zZx"), start + "\"zZx\"" + expected + mixed);
  EXPECT_EQ(text_of("xxy"), start + "\"xxy\"" + expected + repeated);
  EXPECT_EQ(text_of("XYY"), start + "\"XYY\"" + expected + repeated);
}

}  // namespace
}  // namespace limb
