#pragma once

#include "cli/demo_quadruped.hpp"
#include "limb/legged/legged_run.hpp"
#include "limb/legged/walk_scale.hpp"

/// Robot and walk of `limb demo`, from the options of the user.
namespace limb::cli {

constexpr double kTrotStart = 1.5;  ///< s of standing before the trot
constexpr double kStopping = 1.0;   ///< s of trotting in place after it

/// @throws Error as make_quadruped, and for a posture that is not a list of joint=angle.
LeggedRobot read_quadruped(const QuadrupedDemo& demo);

/// The walk that is simulated: options of the user, and the rest by the size of the robot.
struct WalkPlan {
  WalkScale scale;
  double speed, push;
};
WalkPlan plan_walk(const QuadrupedDemo& demo, const LeggedRobot& robot);
LeggedRunOptions walk_options(const QuadrupedDemo& demo, const WalkPlan& walk);
/// "13.5 s: stand, trot at 0.5 m/s over blocks of +-2 cm, push of 4 N s, stop"
std::string describe(const QuadrupedDemo& demo, const WalkPlan& walk, double seconds);

}  // namespace limb::cli
