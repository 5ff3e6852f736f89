#pragma once

#include <filesystem>
#include <string>

#include "limb/base/diagnostic.hpp"
#include "limb/model/core/description.hpp"
#include "limb/model/core/read_options.hpp"

/// Robots in MuJoCo's MJCF. [MuJoCo 2024, XML Reference]
///
/// Names of links and joints for nested MJCF elements:
///
///   body              link of the same name. A body without a name is body#N, where N is its
///                     number in the file, depth first, starting at 1
///   body, no joint    fixed joint BODY/fixed
///   body, one joint   that joint; without a name BODY/joint
///   body, n joints    n joints in series, the first at the parent, with massless links BODY/JOINT
///                     between them; without names BODY/joint, BODY/joint2, ...
///   hinge             revolute, or continuous if it has no range; slide: prismatic;
///                     ball: spherical; free: free
///   site              frame of the same name, or site#N
///
/// Coordinates: q of a hinge or slide is MuJoCo's qpos: at q = ref the body has the pose that the
/// file gives it. The anchor `pos` of a joint is kept exactly, by X_PJ and X_JC. The ball's
/// velocity is in axes of the child in both. The pose of a body with a free joint is its initial
/// one (SceneDescription::initial): q is the pose. Angles are in radians, independent of the
/// compiler setting.
///
/// Mass: <inertial>, or the sum of the geoms by the rules of inertiafromgeom, then boundmass,
/// boundinertia, balanceinertia and settotalmass. Mesh files (STL, OBJ, MSH) are read only if the
/// mass of a body depends on them; one that is missing or cannot be used is an error or, by
/// ReadOptions::missing_meshes, a warning. Not computed, with the same error: meshes that MuJoCo
/// makes itself (builtin, plugins) and hulls with fewer vertices than they need (maxhullvert).
///
/// An equality of one joint (polycoef without joint2) is a coupling without terms: q = offset.
/// <attach> and <replicate> are expanded; names as in MuJoCo. Errors: what would change the motion
/// and is not supported (docs/model.md).
///
/// The nesting depth of bodies is limited by the XML parser (100 to 500 elements, depending on its
/// version); with includes it is at most 500.
namespace limb {

/// Reads MJCF text. Mistakes become diagnostics, and reading continues.
/// @param file  name for messages; includes and meshes are searched in its folder.
/// @throws Error only if the text is not well-formed XML.
Description<double> parse_mjcf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics);

/// Reads an MJCF file. @throws Error "read_mjcf: file:line: message" at the first error.
Description<double> read_mjcf(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace limb
