#include "limb/legged/terrain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;

TEST(Terrain, BlocksAreWithinTheirHeightsAndReproducible) {
  const BlockField field;
  const Ground a = block_ground(field, 3), b = block_ground(field, 3), c = block_ground(field, 4);
  double highest = -1, lowest = 1, other = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = -1 + 0.0071 * i, y = std::sin(i);
    const double h = ground_height(a, x, y);
    EXPECT_EQ(h, ground_height(b, x, y));
    const bool outside = x < field.begin - 0.01 || x > field.begin + field.length + 0.01;
    EXPECT_TRUE(!outside || h == 0);
    highest = std::max(highest, h);
    lowest = std::min(lowest, h);
    other = std::max(other, std::abs(h - ground_height(c, x, y)));
  }
  EXPECT_LE(highest, field.height);
  EXPECT_GT(highest, 0.9 * field.height);
  EXPECT_GE(lowest, -field.height);
  EXPECT_LT(lowest, -0.9 * field.height);
  EXPECT_GT(other, field.height);
  EXPECT_NE(message([] { block_ground({.size = 1e-3}, 1); }).find("at most 100 000 blocks"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
