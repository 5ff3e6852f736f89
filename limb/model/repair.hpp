#pragma once

#include <string>

#include "limb/model/edit.hpp"
#include "limb/model/read_options.hpp"

/// Mends what the linter can mend without asking: every change is one that leaves a robot closer to
/// what its author meant under the only explanation of the fault. Nothing else is touched.
namespace limb {

/// The edits of all findings of the robot as it stands; at most one a field.
std::vector<Edit> propose_edits(const Description<double>& robot);

/// @throws Error if an edit names a link, joint or limit that is not there.
void apply_edits(Description<double>& robot, const std::vector<Edit>& edits);

struct Repair {
  Description<double> robot;  ///< mended
  std::vector<Edit> edits;    ///< what changed, one a field, from the first value to the last
  Diagnostics remaining;      ///< what check() says of the mended robot
};

/// Proposes and applies until nothing is left to mend: a unit put right may uncover a tensor about
/// the wrong point. Repairing the result changes nothing.
Repair repair(const Description<double>& robot);

/// The text of a URDF file with the edits written into it. Only the numbers that change are
/// replaced (or added, where an attribute that had its default is missing); every other byte stays.
/// @param file  for messages.
/// @throws Error "repair_urdf: file:line: ..." if the place of an edit is not found in the text.
std::string repair_urdf(const std::string& text, const std::string& file,
                        const std::vector<Edit>& edits);

struct UrdfRepair {
  std::string text;         ///< of the mended file
  std::vector<Edit> edits;  ///< what changed
  Diagnostics remaining;    ///< what the reader and check() say of the mended text
};

/// Reads, repairs and writes in one: repair() and what the reader puts right on its way, such as
/// the length of an axis. @throws Error if the text cannot be read at all.
UrdfRepair repair_urdf_text(const std::string& text, const std::string& file,
                            const ReadOptions& options = {});

}  // namespace limb
