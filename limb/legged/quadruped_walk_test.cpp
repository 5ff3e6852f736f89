// Quadrupeds of different size and format walk with the defaults for their size.
#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/left_out.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/legged/testing/table_robot.hpp"
#include "limb/legged/walk_scale.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using testing::TableRobot;

constexpr double kStart = 1.5;  // s, start of the trot

class QuadrupedWalk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }

  /// Trots for three seconds over blocks, with a push.
  static std::unique_ptr<LeggedRun> walk(const LeggedRobot& robot) {
    const WalkScale scale = walk_scale(robot);
    LeggedRunOptions options;
    options.plan = {{kStart, scale.trot, {scale.speed, 0, 0}}};
    options.pushes = {{kStart + 1.5, {0, scale.push, 0}}};
    BlockField field;
    field.size = scale.block_size;
    field.height = scale.block_height;
    field.length = 4;
    options.ground = block_ground(field, 1);
    auto run = std::make_unique<LeggedRun>(robot, options);
    run->run_until(kStart + 3);
    EXPECT_FALSE(run->fell()) << "at " << run->time() << " s";
    const LeggedSummary r = summarize(*run, kStart + 1);
    // Within a fifth over two seconds, of which one is after a push.
    EXPECT_NEAR(r.mean_velocity.x(), scale.speed, 0.2 * scale.speed);
    EXPECT_LT(r.largest_tilt, 0.25);
    return run;
  }
};

TEST_F(QuadrupedWalk, FromTwoToSixtyKilograms) {
  for (const auto& [mass, size] : {std::pair{2.0, 0.6}, {60.0, 1.9}}) {
    SCOPED_TRACE(mass);
    TableRobot table;
    table.mass = mass;
    table.size = size;
    table.turned = true;
    walk(make_quadruped(table.description()));
  }
}

TEST_F(QuadrupedWalk, HoldsItsArm) {
  TableRobot table;
  table.arm = true;
  const LeggedRobot robot = make_quadruped(table.description());
  const auto run = walk(robot);
  for (const int i : robot.held_velocities()) {
    // One coordinate more than velocities: the quaternion of the base.
    const double moved = run->steps().back().q[i + 1] - robot.q[i + 1];
    EXPECT_LT(std::abs(moved), 0.2) << robot.model.bodies()[static_cast<std::size_t>(i - 4)].name;
  }
}

// Feet that no frame names, axes and zero poses of several makers.
TEST_F(QuadrupedWalk, RobotsOfSeveralMakers) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  int walked = 0;
  for (const char* file :
       {"street/anybotics_anymal_b/anymal_b.xml", "street/anybotics_anymal_c/anymal_c.xml",
        "street/boston_dynamics_spot/spot.xml", "street/unitree_go1/go1.xml", "street/a1.urdf",
        "robots/mjcf/go2.xml"}) {
    SCOPED_TRACE(file);
    if (!std::filesystem::exists(shared / file)) {
      testing::leave_out("no file " + (shared / file).string());
      continue;
    }
    walk(load_quadruped((shared / file).string()));
    ++walked;
  }
  if (walked == 0) GTEST_SKIP() << "no robots in " << (shared / "street").string();
}

}  // namespace
}  // namespace limb
