#pragma once

/// The templates of this room for any scalar. The library holds them for double; a file that
/// includes this may call them for every type that limb/math/scalar.hpp describes:
///
///   using S = Dual<double, 4>;
///   const Model<S> model = robot.cast<S>();       // robot: Model<double>
///   Workspace<S> work(model);
///   rnea(model, work, q, v, a, tau);               // vectors of S
///
/// Such a file compiles as long as what it calls takes to compile: some seconds an algorithm. Keep
/// it apart from the rest of a program, and define LIMB_INLINE as inline before the first include
/// where building fast matters more than running fast. Free functions for double are then made here
/// once more, with the flags of this file; results are the same.
///
/// Not for any scalar: inverse_kinematics, underactuation, random (they search), base_parameters.
#include "limb/dynamics/aba_derivatives_impl.hpp"
#include "limb/dynamics/aba_impl.hpp"
#include "limb/dynamics/base_velocity_impl.hpp"
#include "limb/dynamics/center_of_mass_impl.hpp"
#include "limb/dynamics/constrained_impl.hpp"
#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/energy_impl.hpp"
#include "limb/dynamics/frames_impl.hpp"
#include "limb/dynamics/jacobian_impl.hpp"
#include "limb/dynamics/kinematics_impl.hpp"
#include "limb/dynamics/lagrange_impl.hpp"
#include "limb/dynamics/legged_impl.hpp"
#include "limb/dynamics/log_cholesky_regressor_impl.hpp"
#include "limb/dynamics/manifold_impl.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"
#include "limb/dynamics/momentum_impl.hpp"
#include "limb/dynamics/operational_space_impl.hpp"
#include "limb/dynamics/regressor_impl.hpp"
#include "limb/dynamics/rnea_derivatives_impl.hpp"
#include "limb/dynamics/rnea_gradient_impl.hpp"
#include "limb/dynamics/rnea_impl.hpp"
#include "limb/dynamics/second_derivatives_impl.hpp"
#include "limb/dynamics/seeds.hpp"
#include "limb/dynamics/torque_budget_impl.hpp"
#include "limb/dynamics/workspace_impl.hpp"
#include "limb/model/model_impl.hpp"
