#pragma once

#include "limb/codegen/code.hpp"

namespace limb::codegen {

/// What the order of instructions is chosen for.
struct ScheduleOptions {
  int window = 32;    ///< an instruction overtakes at most so many others
  int per_cycle = 1;  ///< products that begin in a cycle, and as many sums
};

/// The same instructions in an order in which fewer wait for their operands: each in turn is the
/// first, in the order that was, whose operands are ready when it begins. The window keeps the
/// order near the old one, in which few values are alive at a time. Values do not change.
Code schedule(const Code& code, const ScheduleOptions& options);

}  // namespace limb::codegen
