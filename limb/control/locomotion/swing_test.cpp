#include "limb/control/locomotion/swing.hpp"

#include <gtest/gtest.h>

namespace limb {
namespace {

TEST(Swing, IsSmoothAndClearsTheGround) {
  const Vector3<double> from(1, 2, 0.1), to(1.3, 1.9, 0.2);
  constexpr double kTime = 0.3, kClearance = 0.08, kStep = 1e-5;
  const auto at = [&](double s) { return swing_point(from, to, kClearance, kTime, s, 0.5); };
  for (const double end : {0.0, 1.0}) {
    EXPECT_LT((at(end).p - (end == 0 ? from : to)).norm(), 1e-15);
    EXPECT_LT(at(end).v.norm(), 1e-15);
    EXPECT_LT(at(end).a.norm(), 1e-12);
  }
  EXPECT_NEAR(at(0.5).p.z(), 0.15 + kClearance, 1e-15);
  for (double s = 0.01; s < 0.995; s += 0.01) {
    // Central differences: error of order kStep^2 times the fifth derivative, and rounding.
    const Vector3<double> v = (at(s + kStep).p - at(s - kStep).p) / (2 * kStep * kTime);
    const Vector3<double> a = (at(s + kStep).v - at(s - kStep).v) / (2 * kStep * kTime);
    EXPECT_LT((v - at(s).v).norm(), 1e-7);
    EXPECT_LT((a - at(s).a).norm(), 1e-5);
    EXPECT_GE(at(s).p.z(), 0.1);
  }
  EXPECT_NEAR(at(1.5).p.z(), to.z() - 0.5 * 0.5 * kTime, 1e-15);  // searches for the ground
}

// Closed form in the middle: the foot is halfway, at the peak of both parts of the velocity.
// b' = 30/16 over the span of 3/4, b'' = 0; c' = 0, c'' = -24 [64 s^3 (1 - s)^3 at s = 1/2].
TEST(Swing, MiddleOfTheStep) {
  const Vector3<double> from(1, 2, 0.1), to(1.3, 1.9, 0.2);
  constexpr double kTime = 0.3, kClearance = 0.08;
  const SwingPoint middle = swing_point(from, to, kClearance, kTime, 0.5, 0.5);
  const Vector3<double> step = to - from;
  EXPECT_LT((middle.p - (from + to) / 2 - Vector3<double>(0, 0, kClearance)).norm(), 1e-15);
  EXPECT_LT((middle.v - 30.0 / 16 / 0.75 / kTime * step).norm(), 1e-14);
  EXPECT_LT((middle.a - Vector3<double>(0, 0, -24 * kClearance / (kTime * kTime))).norm(), 1e-13);
  // The foot lifts before it moves ahead, and comes straight down.
  for (const double s : {0.05, 0.12}) {
    const SwingPoint up = swing_point(from, to, kClearance, kTime, s, 0.5);
    EXPECT_EQ(up.p.head<2>(), from.head<2>());
    EXPECT_GT(up.v.z(), 0);
    const SwingPoint down = swing_point(from, to, kClearance, kTime, 1 - s, 0.5);
    EXPECT_LT((down.p - to).head<2>().norm(), 1e-15);
    EXPECT_LT(down.v.z(), 0);
  }
  const SwingPoint late = swing_point(from, to, kClearance, kTime, 1.2, 0.5);
  EXPECT_EQ(late.v, Vector3<double>(0, 0, -0.5));
  EXPECT_LT(late.a.norm(), 1e-12);
  EXPECT_LT((late.p - to - Vector3<double>(0, 0, -0.5 * 0.2 * kTime)).norm(), 1e-15);
}

}  // namespace
}  // namespace limb
