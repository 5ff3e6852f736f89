#pragma once

#include <string>

#include "limb/model/model.hpp"
#include "limb/model/read_options.hpp"

/// Any robot, whatever its format: a .urdf file, an MJCF .xml file, a .toml recipe, or
/// builtin:NAME.
namespace limb {

enum class RobotFormat { urdf, mjcf, recipe };

/// By the ending and, for XML, the outermost element. @throws Error that lists what limb reads.
RobotFormat robot_format(const std::string& path, const std::string& text);

/// Reads as far as it can; what is wrong is in `diagnostics`.
/// @throws Error if the file is not there or is not well-formed at all.
Description<double> parse_robot(const std::string& path, const ReadOptions& options,
                                Diagnostics& diagnostics);

/// @throws Error "load: file:line: ..." for the first error.
Description<double> load_description(const std::string& path, const ReadOptions& options = {});

/// load_description() and build_model().
Model<double> load_model(const std::string& path, Base base = Base::described,
                         const ReadOptions& options = {});

}  // namespace limb
