#pragma once

/// The door of the room: every public header, and nothing else. Controllers are made once, which
/// may allocate and throw; their steps do neither. None of them knows the simulation.
#include "limb/control/joint_control.hpp"
#include "limb/control/joint_pid.hpp"
#include "limb/control/lqr.hpp"
#include "limb/control/reference_path.hpp"
#include "limb/control/riccati.hpp"
#include "limb/control/task_control.hpp"
