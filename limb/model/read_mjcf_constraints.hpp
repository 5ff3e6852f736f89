#pragma once

#include "limb/model/read_mjcf_body.hpp"

/// What refers to bodies, joints and sites by name: equalities and actuators. Read after all
/// bodies.
namespace limb::mjcf {

/// <equality>: connect and weld become loops, joint becomes a coupling.
void read_equality(const Node& section, Reading& reading);

/// <actuator>: those that drive a joint. Their own armature and damping, which act behind the gear,
/// are added to the joint's.
void read_actuators(const Node& section, Reading& reading);

}  // namespace limb::mjcf
