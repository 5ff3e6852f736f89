#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

/// Elements that refer to bodies, joints and sites by name: equalities and actuators. Read after
/// all bodies.
namespace limb::mjcf {

/// <equality>: connect and weld become loops, joint becomes a coupling.
void read_equality(const Node& section, ReadContext& context);

/// <actuator>: those that drive a joint. Their armature and damping, multiplied by the gear
/// squared, are added to the joint's.
void read_actuators(const Node& section, ReadContext& context);

}  // namespace limb::mjcf
