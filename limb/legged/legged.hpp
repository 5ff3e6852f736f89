#pragma once

/// Front header of the module: every public header, and nothing else.
#include "limb/legged/find_feet.hpp"
#include "limb/legged/legged_controller.hpp"
#include "limb/legged/legged_robot.hpp"
#include "limb/legged/legged_run.hpp"
#include "limb/legged/legged_sensors.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/legged/standing_hold.hpp"
#include "limb/legged/standing_posture.hpp"
#include "limb/legged/terrain.hpp"
#include "limb/legged/walk_scale.hpp"
