// Period, gaps and queues of time stamps, against stamps made by the same rules.
#include "limb/estimate/estimator/sample_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace limb {
namespace {

TEST(SampleClock, PeriodIsTheMedian) {
  SampleClock clock;
  clock.reset();
  EXPECT_TRUE(std::isnan(clock.period()));
  for (int i = 0; i < 200; ++i) clock.add(i % 10 == 0 ? 0.1 : 0.01 + 1e-4 * (i % 3 - 1));
  EXPECT_NEAR(clock.period(), 0.01, 1e-4);
  EXPECT_FALSE(clock.is_gap(0.025, 0.01));  // fewer than three periods
  EXPECT_TRUE(clock.is_gap(0.035, 0.03));
  EXPECT_FALSE(clock.is_gap(0.035, 0.05));  // shorter than allowed
}

TEST(SampleClock, LostSamplesAreNotLate) {
  SampleClock clock;
  clock.reset();
  for (int i = 0; i < 50; ++i) clock.add(0.01);
  clock.add(0.16);
  EXPECT_NEAR(clock.delay(), 0.15, 1e-12);  // it may be
  clock.add(0.01);
  EXPECT_EQ(clock.delay(), 0);  // but was not
}

TEST(SampleClock, AQueueEmptiesAtItsOwnRate) {
  SampleClock clock;
  clock.reset();
  for (int i = 0; i < 50; ++i) clock.add(0.01);
  clock.add(0.16);
  // 15 samples waited; each is 10 ms younger than the one before, and 0.3 ms pass.
  for (int i = 1; i <= 15; ++i) {
    clock.add(3e-4);
    EXPECT_NEAR(clock.delay(), std::max(0.0, 0.15 - i * (0.01 - 3e-4)), 1e-12) << i;
  }
  clock.add(0.01);
  EXPECT_EQ(clock.delay(), 0);
}

}  // namespace
}  // namespace limb
