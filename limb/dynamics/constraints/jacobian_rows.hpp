#pragma once

#include <string>
#include <vector>

namespace limb {

/// Rows of the Jacobian of a frame, by name: vx vy vz wx wy wz.
const std::vector<std::string>& jacobian_row_names();

/// Their indices, 0 to 5, in the given order; no names: all six.
/// @throws Error that begins with `call` for an unknown or a repeated name.
std::vector<int> jacobian_rows(const std::string& call, const std::vector<std::string>& names);

}  // namespace limb
