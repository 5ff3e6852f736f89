#pragma once

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// The processor model of schedule().
struct ScheduleOptions {
  int window = 32;    ///< an instruction is moved ahead of at most this many others
  int per_cycle = 1;  ///< products that start per cycle, and as many sums
};

/// List scheduling: reorders instructions so that fewer wait for their operands. Each next one is
/// the first, in the old order, whose operands are ready. The window keeps the order near the old
/// one, in which few values are live at a time. Values do not change.
Code schedule(const Code& code, const ScheduleOptions& options);

}  // namespace limb::codegen
