#pragma once

#include <span>

#include "limb/codegen/trace.hpp"
#include "limb/dynamics/arguments.hpp"
#include "limb/dynamics/wrench_port.hpp"

namespace limb::codegen {

/// Forward dynamics under wrenches from outside, recorded: q, v, tau and F (6 x ports: force and
/// moment at the frame's origin, in the port's axes; not an argument if there are none) -> a. Of
/// the tree alone: loops stay open.
Trace trace_with_wrenches(const Model<double>& model, std::span<const WrenchPort> ports,
                          const JointEffects& effects);

}  // namespace limb::codegen
