#pragma once

/// Front header of the module: every public header, and nothing else. Constructing a controller may
/// allocate and throw; its steps do neither. The module does not depend on the simulation.
#include "limb/control/controlled_robot.hpp"
#include "limb/control/joint/joint_control.hpp"
#include "limb/control/joint/joint_pid.hpp"
#include "limb/control/joint/joint_reference.hpp"
#include "limb/control/joint/reference_path.hpp"
#include "limb/control/locomotion/foothold.hpp"
#include "limb/control/locomotion/gait.hpp"
#include "limb/control/locomotion/locomotion.hpp"
#include "limb/control/locomotion/single_body_mpc.hpp"
#include "limb/control/locomotion/swing.hpp"
#include "limb/control/lqr/lqr.hpp"
#include "limb/control/lqr/riccati.hpp"
#include "limb/control/qp/qp.hpp"
#include "limb/control/step_report.hpp"
#include "limb/control/task/frame_task.hpp"
#include "limb/control/task/hybrid_force_control.hpp"
#include "limb/control/task/task_control.hpp"
#include "limb/control/whole_body/balance.hpp"
#include "limb/control/whole_body/whole_body.hpp"
