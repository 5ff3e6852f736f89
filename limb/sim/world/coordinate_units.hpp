#pragma once

#include <string>
#include <vector>

#include "limb/model/core/model.hpp"

/// Units of the coordinates of a robot, in the order of position_names() and velocity_names().
namespace limb {

/// "rad", "m", or "1" for the components of quaternions.
std::vector<std::string> position_units(const Model<double>& model);
/// "rad" or "m" per velocity, followed by `suffix`: "/s" for velocities, "/s^2" for accelerations.
std::vector<std::string> velocity_units(const Model<double>& model,
                                        const std::string& suffix = "/s");
/// "N m" or "N" per velocity.
std::vector<std::string> force_units(const Model<double>& model);

}  // namespace limb
