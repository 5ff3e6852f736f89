#pragma once

#include <fmt/format.h>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/factor/factor_report.hpp"
#include "limb/sim/integrate/step_end.hpp"

namespace limb {

/// @throws Error (computation failed, with the time) if the mass matrix is singular.
inline void check_mass(const Model<double>& model, const FactorReport& report, double t) {
  if (report.ok()) return;
  fail_step("simulate", t,
            fmt::format("the mass matrix is singular: no inertia opposes {} (give its link a mass "
                        "and a tensor, or the joint an armature)",
                        velocity_text(model, report.velocity)));
}

}  // namespace limb
