#pragma once

#include <filesystem>
#include <string>

#include "limb/model/core/description.hpp"
#include "limb/model/core/read_options.hpp"

/// URDF robots. What is read, besides the plain format:
///
/// - `floating` becomes the joint type free; `spherical`, `universal`, `cylindrical`, `helical` and
///   `translation` are extensions of limb, see write_urdf.hpp.
/// - The defaults are those of URDF: axis 1 0 0, identity origin, mimic multiplier 1, offset 0,
///   limits lower and upper 0 if <limit> does not give them. The axis is normalized; angles are
///   used as written, a rounded quarter turn stays rounded.
/// - <transmission> gives the actuated joints, <mechanicalReduction> their gear.
/// - The capsule and quat_xyzw of URDF 1.2 are supported.
/// - <material>, <gazebo>, <calibration>, <safety_controller>, <ros2_control> and similar elements
///   are ignored silently; any other unknown element or attribute gives a note with the nearest
///   known name.
///
/// Rules of the diagnostics (names are stable):
///
///   error    attribute-missing, attribute-not-a-number, element-missing, joint-type-unknown,
///            geometry-unknown, limit-missing, axis-zero, origin-ambiguous, dof-unknown
///   warning  axis-not-unit, element-repeated, limit-incomplete, mesh-outside-root,
///            robot-name-missing, reduction-not-a-number, coupling-unknown-joint and
///            actuator-unknown-joint (the <mimic> or <transmission> is ignored)
///   note     element-unknown, attribute-unknown, limit-ignored, mesh-not-found
///
/// The structure (duplicate names, unknown parents, cycles) is checked later, on the Description.
namespace limb {

/// From text; `file` is its name in messages, and its folder is searched for meshes after the roots
/// of the options. Problems go to `diagnostics` and reading continues.
/// @throws Error "read_urdf: file:line: ..." if the text is not XML, or is xacro, SDF, MJCF or
/// another format: the message names the format and what to do.
Description<double> parse_urdf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics);

/// From a file. @throws Error "read_urdf: file:line: message" for the first error.
Description<double> read_urdf(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace limb
