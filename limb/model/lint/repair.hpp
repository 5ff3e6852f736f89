#pragma once

#include <string>

#include "limb/model/core/read_options.hpp"
#include "limb/model/lint/edit.hpp"
#include "limb/model/mesh/mesh_boxes.hpp"

/// Automatic repair of findings of the linter: only findings with a single plausible explanation
/// are repaired, and nothing else is changed. `meshes` as in check.hpp.
namespace limb {

/// The edits of all findings of the robot; at most one per field.
std::vector<FileEdit> propose_edits(const Description<double>& robot, const MeshBoxes& meshes = {});

/// @throws Error if an edit names a link, joint or limit that does not exist.
void apply_edits(Description<double>& robot, const std::vector<FileEdit>& edits);

struct RepairedRobot {
  Description<double> robot;    ///< the repaired robot
  std::vector<FileEdit> edits;  ///< changes, one per field, from the original to the final value
  Diagnostics remaining;        ///< findings of check_robot() in the repaired robot
};

/// Proposes and applies edits until none is left: a corrected unit may reveal a tensor about the
/// wrong point. Idempotent.
RepairedRobot repair_robot(const Description<double>& robot, const MeshBoxes& meshes = {});

/// Applies the edits to the text of a URDF file. Only the numbers that change are replaced (or
/// added, if an attribute with a default is missing); all other bytes are kept.
/// @param file  for messages.
/// @throws Error "repair_urdf: file:line: ..." if the element of an edit is not in the text.
std::string repair_urdf(const std::string& text, const std::string& file,
                        const std::vector<FileEdit>& edits);

struct RepairedUrdf {
  std::string text;             ///< the repaired file
  std::vector<FileEdit> edits;  ///< the changes
  Diagnostics remaining;  ///< findings of the reader and of check_robot() in the repaired text
};

/// Reads, repairs and writes in one call: repair_robot() and what the reader corrects, such as the
/// length of an axis. @throws Error if the text cannot be read.
RepairedUrdf repair_urdf_text(const std::string& text, const std::string& file,
                              const ReadOptions& options = {}, const MeshBoxes& meshes = {});

struct RepairedMjcf {
  std::string text;             ///< the repaired file
  std::vector<FileEdit> edits;  ///< the changes
  Diagnostics lost;             ///< edits that this file cannot have, with the reason
};

/// The same for MJCF: numbers of <inertial> and <joint> that the element itself has. Those of
/// default classes, of geoms and of included files are not changed. @throws Error if the text
/// cannot be read.
RepairedMjcf repair_mjcf_text(const std::string& text, const std::string& file,
                              const ReadOptions& options = {}, const MeshBoxes& meshes = {});

}  // namespace limb
