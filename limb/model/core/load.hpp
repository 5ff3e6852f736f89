#pragma once

#include <string>

#include "limb/model/core/model.hpp"
#include "limb/model/core/read_options.hpp"

/// Loads a robot of any supported format: a .urdf file, an MJCF .xml file, a .toml recipe, or
/// builtin:NAME.
namespace limb {

enum class RobotFormat { urdf, mjcf, recipe };

/// Determined by the file extension and, for XML, the root element.
/// @throws Error that lists the supported formats.
RobotFormat robot_format(const std::string& path, const std::string& text);

/// Reads as much as possible; errors and warnings go to `diagnostics`.
/// @throws Error if the file does not exist or is not well-formed.
Description<double> parse_robot(const std::string& path, const ReadOptions& options,
                                Diagnostics& diagnostics);

/// @throws Error "load: file:line: ..." for the first error.
Description<double> load_description(const std::string& path, const ReadOptions& options = {});

/// load_description() and build_model().
Model<double> load_model(const std::string& path, Base base = Base::described,
                         const ReadOptions& options = {});

}  // namespace limb
