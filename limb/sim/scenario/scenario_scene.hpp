#pragma once

#include "limb/sim/scenario/scenario.hpp"

/// What a model file says about its simulation (SceneDescription), as parts of a scenario.
namespace limb {

/// Initial state, time step, springs, servos, tendons, gravity compensation, and contact with the
/// fixed shapes of the file. What limb cannot use is named in Scenario::remarks.
void apply_scene(Scenario& scenario);

/// Starts in a state that the file names, with its controls. An empty name is that of the first
/// keyframe without a name.
/// @throws Error "call: keyframe is 'x', expected one of ..."
void set_keyframe(const std::string& call, const std::string& name, Scenario& scenario);

}  // namespace limb
