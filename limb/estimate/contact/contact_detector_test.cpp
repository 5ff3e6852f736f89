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

// Bounds belong to contact: made at exactly make_force, kept at exactly break_force; times count
// from the first sample beyond the bound, and are over at exactly their length.
TEST(ContactDetector, BoundsAreThoseDocumented) {
  ContactDetector foot({.make_force = 30, .break_force = 10, .make_time = 0.25, .break_time = 0.5});
  EXPECT_FALSE(foot.update(0, std::nextafter(30, 0)));
  EXPECT_FALSE(foot.update(1, 30));
  EXPECT_FALSE(foot.update(1.125, 30));
  EXPECT_TRUE(foot.update(1.25, 30));
  EXPECT_TRUE(foot.stands());
  // The time for making is not that for breaking: a new wait.
  EXPECT_TRUE(foot.update(2, std::nextafter(10, 0)));
  EXPECT_TRUE(foot.update(2.25, 0));
  EXPECT_TRUE(foot.update(2.375, 10));
  EXPECT_TRUE(foot.update(2.5, 0));
  EXPECT_TRUE(foot.update(2.875, 0));
  EXPECT_FALSE(foot.update(3, 0));
  // And again for making: not the wait of the first contact.
  EXPECT_FALSE(foot.update(4, 50));
  EXPECT_TRUE(foot.update(4.25, 50));
  EXPECT_TRUE(foot.update(std::nan(""), 0));
  // A reset forgets contact and wait.
  EXPECT_TRUE(foot.update(5, 0));
  foot.reset();
  EXPECT_FALSE(foot.stands());
  EXPECT_FALSE(foot.update(6, 50));
  foot.reset();
  EXPECT_FALSE(foot.update(6.25, 50));
  EXPECT_TRUE(foot.update(6.5, 50));
}

// A switch is a force of make_force or nothing, also if the forces are small numbers.
TEST(ContactDetector, SwitchesMakeAndBreakContact) {
  for (const double force : {0.5, 30.0}) {
    ContactDetector foot({.make_force = force, .break_force = force / 2});
    EXPECT_FALSE(foot.update_switch(0, false));
    foot.update_switch(1, true);
    EXPECT_TRUE(foot.update_switch(2, true));
    foot.update_switch(3, false);
    EXPECT_FALSE(foot.update_switch(4, false));
  }
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
  EXPECT_THROW(ContactDetector({.break_time = -1}), Error);
  EXPECT_THROW(ContactDetector({.make_force = 0, .break_force = 0}), Error);
  EXPECT_THROW(ContactDetector({.break_force = -1}), Error);
  EXPECT_NO_THROW(ContactDetector({.make_force = 10, .break_force = 10}));
}

}  // namespace
}  // namespace limb
