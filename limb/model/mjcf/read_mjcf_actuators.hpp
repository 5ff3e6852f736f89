#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

namespace limb::mjcf {

/// <actuator>: those that drive a joint, or joints through a tendon with fixed ratios. Their
/// armature and damping, multiplied by the gear squared, are added to the joint's; gains and ranges
/// become a ServoDescription.
void read_actuators(const Node& section, ReadContext& context);

}  // namespace limb::mjcf
