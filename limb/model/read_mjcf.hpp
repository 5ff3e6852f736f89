#pragma once

#include <filesystem>
#include <string>

#include "limb/base/diagnostic.hpp"
#include "limb/model/description.hpp"
#include "limb/model/read_options.hpp"

/// Robots in MuJoCo's MJCF. [MuJoCo 2024, XML Reference]
///
/// What MJCF nests, limb names:
///
///   body              link of the same name; its children hang on it by joints. A body without a
///                     name is body#N, N its number in the file, depth first, the first being 1
///   body, no joint    fixed joint BODY/fixed
///   body, one joint   that joint; without a name BODY/joint
///   body, n joints    n joints one after another, the first nearest to the parent, by way of the
///                     links BODY/JOINT without mass; without names BODY/joint, BODY/joint2, ...
///   hinge             revolute, or continuous where it has no range; slide: prismatic;
///                     ball: spherical; free: free
///   site              frame of the same name, or site#N
///
/// Coordinates: q of a hinge or slide is MuJoCo's qpos: at q = ref the body has the pose that the
/// file gives it. The anchor `pos` of a joint is kept exactly, by X_PJ and X_JC. The ball's
/// velocity is in axes of the child in both. The pose of a body with a free joint is its start in
/// MuJoCo and does not count here: q says where it is. Angles are radians here, whatever the
/// compiler setting says.
///
/// Mass: <inertial>, or the sum of the primitive geoms by the rules of inertiafromgeom, then
/// boundmass, boundinertia, balanceinertia and settotalmass. A mesh has a mass that only its file
/// knows: where it counts, a warning says so. Geoms of the world are not kept.
///
/// An equality of one joint (polycoef without joint2) is a coupling without terms: q = offset.
/// <tendon>, <deformable>, <attach>, <replicate>, <composite>, <flexcomp> are not read, with a
/// warning; joint springs, gravity compensation and mocap with a note.
///
/// Bodies nest as deep as the XML parser allows (100 to 500 elements by its version); includes can
/// add up to 500.
namespace limb {

/// Reads MJCF text. What is wrong becomes a diagnostic, and reading goes on.
/// @param file  name for messages; its folder is where includes and meshes are looked for.
/// @throws Error only if the text is no well-formed XML.
Description<double> parse_mjcf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics);

/// Reads an MJCF file. @throws Error "read_mjcf: file:line: message" at the first error.
Description<double> read_mjcf(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace limb
