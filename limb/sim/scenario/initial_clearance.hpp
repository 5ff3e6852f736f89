#pragma once

#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Whether a tree of the robot is connected to the world by a free joint.
bool has_free_base(const Model<double>& model);

/// Moves each free base of the initial state against gravity, up or down, so that the lowest shape
/// of its tree is `clearance` above the ground. Above boxes and height fields, and with loops of
/// the robot that are not closed yet, it may be more.
/// @throws Error "call: ..." without a ground, without a free base, or for a negative clearance.
void set_clearance(const std::string& call, double clearance, Scenario& scenario);

}  // namespace limb
