#pragma once

#include "limb/sim/scenario/scenario_values.hpp"

/// The table [controller] and the tables [[wall]] of a scenario.
namespace limb {

/// Names of ControllerSetup::Kind, in its order.
const RecipeFields::Keys& controller_names();
/// Keys of the table [controller].
const RecipeFields::Keys& controller_keys();

/// Reads the keys of controllers with feedback, besides target and gains.
void read_feedback(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);
void read_wall(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);

/// Default costs of lqr and gains of pid.
void set_controller_defaults(Scenario& s);

}  // namespace limb
