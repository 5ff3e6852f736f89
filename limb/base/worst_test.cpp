#include "limb/base/testing/worst.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace limb {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double worst_of(const std::vector<double>& values) {
  Worst worst;
  for (const double value : values) worst.add(value);
  EXPECT_EQ(worst.count(), static_cast<int>(values.size()));
  return worst.value();
}

double least_of(const std::vector<double>& values) {
  Least least;
  for (const double value : values) least.add(value);
  EXPECT_EQ(least.count(), static_cast<int>(values.size()));
  return least.value();
}

TEST(Worst, IsTheLargestInEveryOrder) {
  EXPECT_EQ(worst_of({1, 2, 3}), 3);
  EXPECT_EQ(worst_of({3, 1, 2}), 3);
  EXPECT_EQ(worst_of({1, 3, 2}), 3);
  EXPECT_EQ(worst_of({1, kInfinity, 2}), kInfinity);
  EXPECT_EQ(worst_of({0}), 0);
}

TEST(Worst, OfNegativeValuesIsNegative) {
  EXPECT_EQ(worst_of({-3, -1, -2}), -1);
  EXPECT_EQ(worst_of({-kInfinity}), -kInfinity);
  EXPECT_EQ(worst_of({-kInfinity, -5}), -5);
}

TEST(Worst, KeepsNanWhereverItWasAdded) {
  for (std::size_t at = 0; at < 4; ++at) {
    for (const double other : {0.0, -1.0, 1.0, kInfinity, -kInfinity}) {
      std::vector<double> values(4, other);
      values[at] = kNan;
      EXPECT_TRUE(std::isnan(worst_of(values))) << at << " " << other;
      EXPECT_TRUE(std::isnan(least_of(values))) << at << " " << other;
    }
  }
}

TEST(Worst, MeetsNoBoundWhenNothingWasAdded) {
  EXPECT_TRUE(std::isnan(Worst().value()));
  EXPECT_TRUE(std::isnan(Least().value()));
  EXPECT_EQ(Worst().count(), 0);
}

TEST(Worst, AddsAllItsArguments) {
  Worst worst;
  worst.add(1.0, 4.0L, 2.0f);
  EXPECT_EQ(worst.value(), 4);
  EXPECT_EQ(worst.count(), 3);
  worst.add(5.0, kNan, 6.0);
  EXPECT_TRUE(std::isnan(worst.value()));
}

TEST(Worst, WorseIsTheLargerOneOrNan) {
  EXPECT_EQ(worse(1, 2), 2);
  EXPECT_EQ(worse(2, 1), 2);
  EXPECT_TRUE(std::isnan(worse(kNan, 1)));
  EXPECT_TRUE(std::isnan(worse(1, kNan)));
}

TEST(Least, IsTheSmallestInEveryOrder) {
  EXPECT_EQ(least_of({1, 2, 3}), 1);
  EXPECT_EQ(least_of({3, 1, 2}), 1);
  EXPECT_EQ(least_of({3, -2, 1}), -2);
  EXPECT_EQ(least_of({kInfinity}), kInfinity);
}

}  // namespace
}  // namespace limb
