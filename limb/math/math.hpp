#pragma once

/// Front header of the module: every public header, and nothing else. A file that needs one type
/// compiles faster with the header of that type.
#include "limb/math/angle_series.hpp"
#include "limb/math/complex_step.hpp"
#include "limb/math/dual.hpp"
#include "limb/math/euler.hpp"
#include "limb/math/euler_rates.hpp"
#include "limb/math/inertia.hpp"
#include "limb/math/inertia_consistency.hpp"
#include "limb/math/inertia_mesh.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/math/inertial_parameters.hpp"
#include "limb/math/log_cholesky.hpp"
#include "limb/math/noise_generator.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/scalar.hpp"
#include "limb/math/se3.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/spatial.hpp"
