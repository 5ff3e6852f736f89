#include "limb/control/locomotion/foothold.hpp"

#include <gtest/gtest.h>

namespace limb {
namespace {

// At rest under the hip; at the desired velocity ahead by half of the stance motion; bounded.
TEST(Foothold, FollowsRaibertsRule) {
  FootholdInput in;
  in.p_WC = {3, 4, 0.3};
  in.v_WC = in.v_desired = Vector3<double>::Zero();
  in.p_CF = {0.2, 0.1, -0.3};
  in.stance_time = 0.3;
  in.height = 0.3;
  in.ground = 0.05;
  EXPECT_LT((foothold(in) - Vector3<double>(3.2, 4.1, 0.05)).norm(), 1e-15);
  in.yaw = M_PI / 2;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), 1e-15);
  in.v_WC = in.v_desired = {0.4, 0, 0};
  in.left = 0.1;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9 + 0.04 + 0.06, 4.2, 0.05)).norm(), 1e-15);
  in.v_desired.setZero();  // too fast: further ahead
  EXPECT_GT(foothold(in).x(), 3.01);
  in.v_WC = {100, 0, 0};
  in.left = 0;
  EXPECT_NEAR((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), in.farthest, 1e-12);
}

}  // namespace
}  // namespace limb
