#include "limb/control/locomotion/gait.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limb/base/error.hpp"

namespace limb {
namespace {

TEST(Gait, StanceFractionIsTheDutyFactor) {
  for (const Gait& gait : {Gait::trot(), Gait::walk(), Gait::trot(0.4, 0.5)}) {
    gait.check("test", 4);
    for (int foot = 0; foot < 4; ++foot) {
      int standing = 0;
      constexpr int kSamples = 10000;
      for (int k = 0; k < kSamples; ++k) {
        const double t = 3 * gait.period * (k + 0.5) / kSamples;
        const Gait::Phase phase = gait.phase(foot, t);
        standing += phase.stands ? 1 : 0;
        // The change comes at the predicted time.
        EXPECT_NE(gait.phase(foot, t + phase.left + 1e-9).stands, phase.stands);
        EXPECT_EQ(gait.phase(foot, t + 0.999 * phase.left).stands, phase.stands);
      }
      EXPECT_NEAR(standing / double(kSamples), gait.duty, 1e-3);
    }
  }
}

TEST(Gait, TrotMovesDiagonalsAndWalkOneFootAtATime) {
  const Gait trot = Gait::trot(), walk = Gait::walk();
  for (double t = 0.001; t < 2; t += 0.007) {
    EXPECT_EQ(trot.phase(0, t).stands, trot.phase(3, t).stands);
    EXPECT_EQ(trot.phase(1, t).stands, trot.phase(2, t).stands);
    EXPECT_TRUE(trot.phase(0, t).stands || trot.phase(1, t).stands);
    int up = 0;
    for (int i = 0; i < 4; ++i) up += walk.phase(i, t).stands ? 0 : 1;
    EXPECT_LE(up, 1);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Gait::stand(2).phase(i, t).stands);
  }
  EXPECT_THROW(Gait::trot().check("test", 2), Error);
  EXPECT_THROW(Gait::trot(0, 0.5).check("test", 4), Error);
  EXPECT_THROW(Gait::trot(1, 0).check("test", 4), Error);
}

// progress and left are the parts of the present stance or swing.
TEST(Gait, ProgressIsTheElapsedPart) {
  for (const Gait& gait : {Gait::trot(), Gait::walk(), Gait::trot(0.4, 0.35)}) {
    for (int foot = 0; foot < 4; ++foot) {
      for (int k = 0; k < 500; ++k) {
        const double t = 0.00731 * k;
        const Gait::Phase phase = gait.phase(foot, t);
        const double whole = phase.stands ? gait.stance_time() : gait.swing_time();
        EXPECT_NEAR(phase.progress * whole + phase.left, whole, 1e-14);
        // Touch-down was, or is, at offset + n periods.
        const double since = phase.stands ? phase.progress * whole : -phase.left;
        const double cycles =
            (t - since) / gait.period - gait.offsets[static_cast<std::size_t>(foot)];
        EXPECT_NEAR(cycles, std::round(cycles), 1e-12);
      }
    }
  }
  const Gait::Phase stand = Gait::stand(4).phase(2, 7.3);
  EXPECT_EQ(stand.progress, 0);
  EXPECT_EQ(stand.left, std::numeric_limits<double>::infinity());
}

// Touch-downs of a walk: rear left, front left, rear right, front right.
TEST(Gait, WalkIsALateralSequence) {
  const Gait walk = Gait::walk(2.0, 0.8);
  std::vector<int> order;
  bool stood[4];
  for (int i = 0; i < 4; ++i) stood[i] = walk.phase(i, -0.01).stands;
  for (double t = 0.01; t < 2; t += 0.02) {
    for (int i = 0; i < 4; ++i) {
      const bool stands = walk.phase(i, t).stands;
      if (stands && !stood[i]) order.push_back(i);
      stood[i] = stands;
    }
  }
  EXPECT_EQ(order, (std::vector<int>{2, 0, 3, 1}));
}

TEST(Gait, RejectsValuesOutOfRange) {
  const auto rejects = [](double period, double duty, double offset) {
    try {
      Gait{"g", period, duty, {0, offset}}.check("test", 2);
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(rejects(1, 0.5, 0.99));
  EXPECT_FALSE(rejects(1, 1, 0));
  EXPECT_TRUE(rejects(1, 0.5, 1));
  EXPECT_TRUE(rejects(1, 0.5, -0.01));
  EXPECT_TRUE(rejects(1, 1.01, 0));
  EXPECT_TRUE(rejects(1, 0, 0));
  EXPECT_TRUE(rejects(-1, 0.5, 0));
}

}  // namespace
}  // namespace limb
