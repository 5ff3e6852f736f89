#include "limb/estimate/contact/contact_detector.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/error.hpp"
#include "limb/math/noise_generator.hpp"

namespace limb {
namespace {

TEST(ContactDetector, HasHysteresis) {
  ContactDetector foot({.make_force = 30, .break_force = 10});
  double t = 0;
  for (const auto& [force, stands] : {std::pair{0.0, false},
                                      {29.0, false},
                                      {30.0, true},
                                      {12.0, true},
                                      {29.0, true},
                                      {9.0, false},
                                      {25.0, false}}) {
    EXPECT_EQ(foot.update(t += 0.01, force), stands) << force;
  }
  EXPECT_TRUE(foot.update_switch(t += 0.01, true));
  EXPECT_FALSE(foot.update_switch(t += 0.01, false));
}

TEST(ContactDetector, ChangesOnlyAfterTheMinimumTime) {
  ContactDetector foot(
      {.make_force = 30, .break_force = 10, .make_time = 0.02, .break_time = 0.01});
  EXPECT_FALSE(foot.update(0, 50));
  EXPECT_FALSE(foot.update(0.01, 50));
  EXPECT_FALSE(foot.update(0.015, 20));  // in between: the wait restarts
  EXPECT_FALSE(foot.update(0.02, 50));
  EXPECT_FALSE(foot.update(0.039, 50));
  EXPECT_TRUE(foot.update(0.041, 50));
  EXPECT_TRUE(foot.update(0.05, 0));
  EXPECT_TRUE(foot.update(0.055, std::nan("")));
  EXPECT_FALSE(foot.update(0.061, 0));
}

TEST(ContactDetector, IgnoresNoiseBetweenTheThresholds) {
  ContactDetector foot({.make_force = 30, .break_force = 10});
  NoiseGenerator noise(1);
  foot.update(0, 40);
  for (int k = 1; k < 1000; ++k) EXPECT_TRUE(foot.update(k * 1e-3, 20 + 9 * noise.uniform()));
}

TEST(ContactDetector, RejectsInvalidOptions) {
  try {
    ContactDetector foot({.make_force = 10, .break_force = 20});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "ContactDetector: break_force is 20 N, expected at most make_force, 10 N");
  }
  EXPECT_THROW(ContactDetector({.make_time = -1}), Error);
}

}  // namespace
}  // namespace limb
