#include "limb/control/locomotion/foothold.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

// At rest under the hip; at the desired velocity ahead by half of the stance motion; bounded.
TEST(Foothold, FollowsRaibertsRule) {
  FootholdInput in;
  in.p_WC = {3, 4, 0.3};
  in.v_WC = in.v_desired = Vector3<double>::Zero();
  in.p_CF = {0.2, 0.1, -0.3};
  in.stance_time = 0.3;
  in.height = 0.3;
  in.ground = 0.05;
  EXPECT_LT((foothold(in) - Vector3<double>(3.2, 4.1, 0.05)).norm(), 1e-15);
  in.yaw = M_PI / 2;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), 1e-15);
  in.v_WC = in.v_desired = {0.4, 0, 0};
  in.left = 0.1;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9 + 0.04 + 0.06, 4.2, 0.05)).norm(), 1e-15);
  in.v_desired.setZero();  // too fast: further ahead, by 0.3 sqrt(h / g) of the excess
  EXPECT_NEAR(foothold(in).x(), 3 + 0.3 * std::sqrt(0.3 / 9.81) * 0.4, 1e-15);
  in.v_WC = {100, 0, 0};
  in.left = 0;
  EXPECT_NEAR((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), in.farthest, 1e-12);
}

FootholdInput random_input(testing::Random& random) {
  FootholdInput in;
  in.p_WC = random.vector<double>(2);
  in.v_WC = random.vector<double>(0.5);
  in.v_desired = random.vector<double>(0.5);
  in.yaw = random.uniform(-3, 3);
  in.yaw_rate = random.uniform(-2, 2);
  in.p_CF = random.vector<double>(0.4);
  in.left = random.uniform(0, 0.4);
  in.stance_time = random.uniform(0.1, 0.6);
  in.height = random.uniform(0.2, 0.8);
  in.ground = random.uniform(-0.2, 0.2);
  in.gravity = random.uniform(1, 12);
  in.gain = random.uniform(0, 1);
  in.farthest = 10;
  return in;
}

constexpr double kEps = std::numeric_limits<double>::epsilon();

// While turning: the hip turns by the yaw rate up to the middle of the stance, where the foot then
// has its place below the turned body. In the plane, as complex numbers.
TEST(Foothold, HipsTurnUpToTheMiddleOfTheStance) {
  testing::Random random(5);
  const auto plane = [](const Vector3<double>& p) { return std::complex(p.x(), p.y()); };
  Worst worst;
  for (int trial = 0; trial < 200; ++trial) {
    const FootholdInput in = random_input(random);
    const Vector3<double> p = foothold(in);
    const double middle = in.left + in.stance_time / 2;
    const std::complex<double> hip =
        std::polar(1.0, in.yaw + in.yaw_rate * middle) * plane(in.p_CF);
    const std::complex<double> correction =
        in.gain * std::sqrt(in.height / in.gravity) * plane(in.v_WC - in.v_desired);
    const std::complex<double> body = plane(in.p_WC) + middle * plane(in.v_WC);
    worst.add(std::abs(plane(p) - body - hip - correction));
    EXPECT_EQ(p.z(), in.ground);
  }
  EXPECT_LT(worst.value(), 16 * kEps);  // sums of numbers up to 3
}

// The bound acts on the step from the point below the hip, not on the hip; its direction is kept.
TEST(Foothold, LongStepsKeepTheirDirection) {
  testing::Random random(6);
  Worst worst;
  for (int trial = 0; trial < 200; ++trial) {
    FootholdInput in = random_input(random);
    const Vector3<double> far = foothold(in);
    FootholdInput still = in;  // the point below the hip: no step
    still.v_WC.setZero();
    still.v_desired.setZero();
    const Vector3<double> hip = foothold(still) + in.left * in.v_WC;
    Vector3<double> step = far - hip;
    step.z() = 0;
    in.farthest = 0.5 * step.norm();
    const Vector3<double> half = foothold(in);
    worst.add((half - hip - step / 2).head<2>().norm());
    in.farthest = 2 * step.norm();
    worst.add((foothold(in) - far).norm());
  }
  EXPECT_LT(worst.value(), 16 * kEps);
}

// A body below the ground has no capture time.
TEST(Foothold, NegativeHeightsDoNotCorrect) {
  testing::Random random(7);
  FootholdInput in = random_input(random), other = in;
  in.height = -0.3;
  other.gain = 0;
  EXPECT_EQ(foothold(in), foothold(other));
}

}  // namespace
}  // namespace limb
