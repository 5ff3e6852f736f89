#include "limb/math/sincos.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "limb/base/testing/worst.hpp"

namespace limb {
namespace {

/// Error in units in the last place of the exact value.
double ulps(double found, long double exact) {
  const double near = static_cast<double>(exact);
  const double gap = std::nextafter(std::abs(near), 2.0) - std::abs(near);
  return static_cast<double>(std::abs(static_cast<long double>(found) - exact)) / gap;
}

struct Errors {
  Worst sine, cosine;
};

Errors worst_of(const std::vector<double>& angles) {
  const std::size_t size_4 = (angles.size() + 3) / 4 * 4;
  std::vector<double> x(angles), s(size_4), c(size_4);
  x.resize(size_4);
  sincos(x.data(), s.data(), c.data(), angles.size());
  Errors worst;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const long double exact = angles[i];
    worst.sine.add(ulps(s[i], std::sin(exact)));
    worst.cosine.add(ulps(c[i], std::cos(exact)));
  }
  return worst;
}

// The oracle is the 80-bit sine of the C library.
TEST(Sincos, IsWithinOneUnitInTheLastPlace) {
  std::mt19937_64 engine(7);
  for (const double size : {1e-8, 1e-3, 0.8, 3.2, 100.0, 1e4, 1e6}) {
    std::uniform_real_distribution<double> uniform(-size, size);
    std::vector<double> angles;
    for (int i = 0; i < 100001; ++i) angles.push_back(uniform(engine));
    const Errors worst = worst_of(angles);
    EXPECT_LT(worst.sine.value(), 1) << size;
    EXPECT_LT(worst.cosine.value(), 1) << size;
  }
}

// Around multiples of a quarter turn one of the two is nearly 0 and most digits cancel.
TEST(Sincos, KeepsRelativeAccuracyNextToQuarterTurns) {
  std::vector<double> angles;
  for (int n = -4000; n <= 4000; ++n) {
    const double x = n * (std::numbers::pi / 2);
    for (const double y : {x, std::nextafter(x, 1e9), std::nextafter(x, -1e9), x + 1e-9}) {
      angles.push_back(y);
    }
  }
  const Errors worst = worst_of(angles);
  EXPECT_LT(worst.sine.value(), 1);
  EXPECT_LT(worst.cosine.value(), 1);
}

TEST(Sincos, LargeAndNonFiniteAnglesUseTheCLibrary) {
  const double inf = std::numeric_limits<double>::infinity();
  const double x[8] = {1e7, -3e12, 1e300, 0.5, inf, -inf, std::nan(""), -0.0};
  double s[8], c[8];
  sincos(x, s, c, 8);
  for (const int i : {0, 1, 2}) {
    EXPECT_EQ(s[i], std::sin(x[i]));
    EXPECT_EQ(c[i], std::cos(x[i]));
  }
  for (const int i : {4, 5, 6}) {
    EXPECT_TRUE(std::isnan(s[i]));
    EXPECT_TRUE(std::isnan(c[i]));
  }
  EXPECT_EQ(s[7], 0.0);
  EXPECT_EQ(c[7], 1.0);
}

TEST(Sincos, FloatUsesTheCLibrary) {
  const float x[4] = {0.1f, -2.0f, 30.0f, 0.0f};
  float s[4], c[4];
  sincos(x, s, c, 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(s[i], std::sin(x[i]));
    EXPECT_EQ(c[i], std::cos(x[i]));
  }
}

}  // namespace
}  // namespace limb
