#pragma once

#include "limb/sim/scenario_values.hpp"

/// The table [controller] and the tables [[wall]] of a scenario.
namespace limb {

/// Names of ControllerSetup::Kind, in its order.
const RecipeFields::Keys& controller_names();
/// Keys of the table [controller].
const RecipeFields::Keys& controller_keys();

/// What controllers with feedback read besides target and gains.
void read_feedback(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);
void read_wall(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);

/// Costs of lqr and gains of pid where nothing is given.
void set_controller_defaults(Scenario& s);

}  // namespace limb
