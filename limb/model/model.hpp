#pragma once

/// Front header of the module: every public header, and nothing else. The class Model itself is in
/// limb/model/core/model.hpp.
#include "limb/model/convert/base_velocity_convention.hpp"
#include "limb/model/convert/convert_drake.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/convert/convert_rbdl.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/core/model.hpp"
#include "limb/model/core/operations.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/recipe/write_recipe.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/write_urdf.hpp"
