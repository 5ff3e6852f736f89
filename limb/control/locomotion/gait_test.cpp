#include "limb/control/locomotion/gait.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace limb
