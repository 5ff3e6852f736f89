#include "limb/legged/terrain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;

TEST(Terrain, BlocksAreWithinTheirHeightsAndReproducible) {
  const BlockField field;
  const Ground a = block_ground(field, 3), b = block_ground(field, 3), c = block_ground(field, 4);
  Worst other;
  Least lowest;
  Worst highest;
  for (int i = 0; i < 2000; ++i) {
    const double x = -1 + 0.0071 * i, y = std::sin(i);
    const double h = ground_height(a, x, y);
    EXPECT_EQ(h, ground_height(b, x, y));
    const bool outside = x < field.begin - 0.01 || x > field.begin + field.length + 0.01;
    EXPECT_TRUE(!outside || h == 0);
    highest.add(h);
    lowest.add(h);
    other.add(std::abs(h - ground_height(c, x, y)));
  }
  EXPECT_LE(highest.value(), field.height);
  EXPECT_GT(highest.value(), 0.9 * field.height);
  EXPECT_GE(lowest.value(), -field.height);
  EXPECT_LT(lowest.value(), -0.9 * field.height);
  EXPECT_GT(other.value(), field.height);
  EXPECT_NE(message([] { block_ground({.size = 1e-3}, 1); }).find("at most 100 000 blocks"),
            std::string::npos);
}

// The tops of the blocks: one height over each square, rows from `begin`, columns about y = 0;
// level ground around them; the floor below.
TEST(Terrain, BlocksAreSquaresInRowsAndColumns) {
  const BlockField field{.size = 0.3, .height = 0.05, .begin = 0.7, .length = 2, .width = 1};
  const Ground ground = block_ground(field, 5);
  // ceil(2 / 0.3) = 7 rows of ceil(1 / 0.3) = 4 columns; four boxes around.
  EXPECT_EQ(ground.boxes().size(), 7u * 4 + 4);
  std::vector<double> heights;
  for (int i = 0; i < 7; ++i) {
    for (int k = 0; k < 4; ++k) {
      const double x = 0.7 + 0.3 * i, y = 0.3 * k - 0.6;
      const double middle = ground_height(ground, x + 0.15, y + 0.15);
      heights.push_back(middle);
      // Blocks overlap by 5 mm: 6 mm inside its edge only the block itself counts.
      for (const double dx : {0.006, 0.294}) {
        for (const double dy : {0.006, 0.294}) {
          EXPECT_EQ(ground_height(ground, x + dx, y + dy), middle) << i << " " << k;
        }
      }
    }
  }
  std::sort(heights.begin(), heights.end());
  EXPECT_EQ(std::unique(heights.begin(), heights.end()), heights.end());  // all different
  for (const auto& [x, y] : {std::pair{0.69, 0.0}, {2.81, 0.0}, {1.5, 0.61}, {1.5, -0.61}}) {
    EXPECT_NEAR(ground_height(ground, x, y), 0, 1e-16);
  }
  EXPECT_EQ(ground.half_spaces().at(0).level, -0.1);
  for (const auto& box : ground.boxes()) {
    EXPECT_NEAR(box.X_WG.p.z() - box.half.z(), -0.1, 1e-15);  // no gap below a block
  }
  // Uniform heights: mean 0, mean square h^2 / 3.
  const Ground wide = block_ground({.size = 0.1, .length = 10, .width = 10}, 8);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 100; ++k) {
      const double h = ground_height(wide, 0.45 + 0.1 * i, -4.95 + 0.1 * k) / 0.02;
      sum += h / 1e4;
      squares += h * h / 1e4;
    }
  }
  EXPECT_NEAR(sum, 0, 0.02);            // deviation 0.006
  EXPECT_NEAR(squares, 1.0 / 3, 0.01);  // deviation 0.003
}

TEST(Terrain, HeightsOfPlanesBoxesAndFields) {
  // Descends along +x: z = -tan(angle) x.
  const Ground slope = Ground::slope(0.3);
  EXPECT_NEAR(ground_height(slope, 2, 5), -2 * std::tan(0.3), 1e-15);
  const Ground sideways = Ground::slope(0.3, {}, {0, 1});
  EXPECT_NEAR(ground_height(sideways, 2, 5), -5 * std::tan(0.3), 1e-15);
  Ground ground = Ground::plane({}, -0.5);
  EXPECT_EQ(ground_height(ground, 1, 1), -0.5);
  ground.add_half_space({0, 0, -1}, 3);  // a ceiling does not count
  ground.add_half_space({1, 0, 0}, 3);   // nor does a wall
  EXPECT_EQ(ground_height(ground, 1, 1), -0.5);
  ground.add_box({Matrix3<double>::Identity(), {2, 3, 0.5}}, {1, 0.5, 0.4});
  EXPECT_DOUBLE_EQ(ground_height(ground, 2.49, 3.24), 0.7);
  EXPECT_DOUBLE_EQ(ground_height(ground, 2.5, 3.25), 0.7);  // the edges belong to the box
  EXPECT_DOUBLE_EQ(ground_height(ground, 1.5, 2.75), 0.7);
  EXPECT_EQ(ground_height(ground, 2.51, 3), -0.5);
  EXPECT_EQ(ground_height(ground, 2, 3.26), -0.5);
  EXPECT_EQ(ground_height(ground, 1.49, 3), -0.5);
  MatrixX<double> heights(2, 2);
  heights << 1, 1, 2, 2;  // rises along x
  ground.add_height_field({10, 10}, {1, 1}, heights);
  EXPECT_DOUBLE_EQ(ground_height(ground, 10.25, 10.5), 1.25);
}

TEST(Terrain, RejectsFieldsThatAreNone) {
  Ground ground;
  MatrixX<double> flat = MatrixX<double>::Zero(2, 2);
  const double nan = std::nan("");
  EXPECT_THROW(ground.add_height_field({nan, 0}, {1, 1}, flat), Error);
  EXPECT_THROW(ground.add_height_field({0, 0}, {0, 1}, flat), Error);
  EXPECT_THROW(ground.add_height_field({0, 0}, {1, 0}, flat), Error);
  EXPECT_THROW(ground.add_height_field({0, 0}, {1, -1}, flat), Error);
  EXPECT_THROW(ground.add_height_field({0, 0}, {1, 1}, flat.row(0)), Error);
  EXPECT_THROW(ground.add_height_field({0, 0}, {1, 1}, flat.col(0)), Error);
  EXPECT_TRUE(ground.height_fields().empty());
  ground.add_height_field({0, 0}, {1, 1}, flat);
  flat(1, 1) = nan;
  EXPECT_THROW(ground.add_height_field({0, 0}, {1, 1}, flat), Error);
  EXPECT_EQ(ground.height_fields().size(), 1u);
}

}  // namespace
}  // namespace limb
