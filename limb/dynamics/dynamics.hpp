#pragma once

/// The door of the room: every public header, and nothing else. A file that needs one function
/// compiles faster with that function's own header.
#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/base_parameters.hpp"
#include "limb/dynamics/base_velocity.hpp"
#include "limb/dynamics/center_of_mass.hpp"
#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/energy.hpp"
#include "limb/dynamics/inverse_kinematics.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/legged.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/dynamics/mass_factor.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/dynamics/operational_space.hpp"
#include "limb/dynamics/proof.hpp"
#include "limb/dynamics/regressor.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/rnea_derivatives.hpp"
#include "limb/dynamics/robot.hpp"
