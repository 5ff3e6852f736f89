#pragma once

#include "cli/chart.hpp"
#include "cli/log_scene.hpp"

namespace limb::cli {

/// Whether the log has contact forces.
bool has_contact(const LogData& log);

/// Adds two charts: the contact forces in their friction cone, and from above the path of the
/// centre of pressure with the soles and the support polygon at the end.
/// @param scene  robot and solids of the log; null: feet are points.
void add_contact_charts(Figure& figure, const LogData& log, const LogScene* scene);

}  // namespace limb::cli
