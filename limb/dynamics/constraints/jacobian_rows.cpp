#include "limb/dynamics/constraints/jacobian_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "limb/base/error.hpp"

namespace limb {

const std::vector<std::string>& jacobian_row_names() {
  static const std::vector<std::string> names = {"vx", "vy", "vz", "wx", "wy", "wz"};
  return names;
}

std::vector<int> jacobian_rows(const std::string& call, const std::vector<std::string>& names) {
  const auto& known = jacobian_row_names();
  std::vector<int> rows(names.empty() ? known.size() : 0);
  std::iota(rows.begin(), rows.end(), 0);
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw Error(fmt::format("{}: row '{}' is not one of: {}", call, name, fmt::join(known, " ")));
    }
    const int row = static_cast<int>(found - known.begin());
    if (std::find(rows.begin(), rows.end(), row) != rows.end()) {
      throw Error(fmt::format("{}: row '{}' is given twice", call, name));
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace limb
