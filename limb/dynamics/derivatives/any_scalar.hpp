#pragma once

/// The templates of this module for any scalar. The library instantiates them for double; a file
/// that includes this may call them for every type that limb/math/scalar.hpp describes:
///
///   using S = Dual<double, 4>;
///   const Model<S> model = robot.cast<S>();       // robot: Model<double>
///   Workspace<S> work(model);
///   rnea(model, work, q, v, a, tau);               // vectors of S
///
/// Such a file takes several seconds to compile per algorithm that it calls. Keep it apart from the
/// rest of a program, and define LIMB_INLINE as inline before the first include where build time
/// matters more than run time. Free functions for double are then instantiated again here, with the
/// flags of this file; results are the same.
///
/// Not for any scalar: inverse_kinematics, underactuation, random_configuration (they search),
/// base_parameters.
#include "limb/dynamics/constraints/actuation_impl.hpp"
#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/constraints/operational_space_impl.hpp"
#include "limb/dynamics/derivatives/aba_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/rnea_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/rnea_gradient_impl.hpp"
#include "limb/dynamics/derivatives/second_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/seeds.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/identify/log_cholesky_regressor_impl.hpp"
#include "limb/dynamics/identify/regressor_impl.hpp"
#include "limb/dynamics/kinematics/base_velocity_impl.hpp"
#include "limb/dynamics/kinematics/center_of_mass_impl.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"
#include "limb/dynamics/kinematics/energy_impl.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"
#include "limb/dynamics/kinematics/manifold_impl.hpp"
#include "limb/dynamics/lagrange/christoffel_impl.hpp"
#include "limb/dynamics/lagrange/torque_budget_impl.hpp"
#include "limb/dynamics/recursive/aba_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"
#include "limb/dynamics/recursive/workspace_impl.hpp"
#include "limb/model/core/model_impl.hpp"
