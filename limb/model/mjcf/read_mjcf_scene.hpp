#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

/// What MJCF says about simulations: SceneDescription, and gravity.
namespace limb::mjcf {

/// <option>: gravity and the time step.
void read_option(const Node& node, ReadContext& context);

/// <contact>: bodies that never touch, and pairs of geoms that do.
void read_contact(const Node& section, ReadContext& context);

/// <keyframe>: states, of which each number that is not given is that of the file's pose. Read
/// after bodies and actuators, with those of attached models.
void read_keyframes(const Node& section, ReadContext& context);

/// Geoms of the world become fixed shapes of the scene.
void add_world_geoms(ReadContext& context);

}  // namespace limb::mjcf
