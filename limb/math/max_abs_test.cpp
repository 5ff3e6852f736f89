#include "limb/math/testing/max_abs.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>

namespace limb {
namespace {

TEST(MaxAbs, IsTheLargestAbsoluteEntry) {
  Eigen::Matrix<double, 2, 3> m;
  m << 1, -7, 2, 3, 4, -5;
  EXPECT_EQ(max_abs(m), 7);
  EXPECT_EQ(max_abs(2 * m), 14);
  EXPECT_EQ(max_abs(m * m.transpose()), 54);  // 1 + 49 + 4
  EXPECT_EQ(max_abs(Eigen::VectorXd()), 0);
}

TEST(MaxAbs, KeepsNanInEveryEntryUnlikeEigen) {
  for (int at = 0; at < 6; ++at) {
    Eigen::Matrix<double, 6, 1> x = Eigen::Matrix<double, 6, 1>::LinSpaced(1, 6);
    x[at] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(max_abs(x))) << at;
    EXPECT_TRUE(std::isnan(max_abs(x.transpose().replicate(2, 1)))) << at;
  }
}

}  // namespace
}  // namespace limb
