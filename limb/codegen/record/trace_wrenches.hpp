#pragma once

#include <span>

#include "limb/codegen/record/trace.hpp"
#include "limb/dynamics/arguments.hpp"
#include "limb/dynamics/recursive/wrench_port.hpp"

namespace limb::codegen {

/// Records forward dynamics with external wrenches: q, v, tau and F (6 x ports: force and moment at
/// the frame's origin, in the port's axes; not an argument without ports) -> a. Loops of the robot
/// stay open.
Trace trace_with_wrenches(const Model<double>& model, std::span<const WrenchPort> ports,
                          const JointEffects& effects);

}  // namespace limb::codegen
