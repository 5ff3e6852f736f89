#pragma once

#include "limb/model/edit.hpp"
#include "limb/model/link_tree.hpp"

/// The linter's rules on values: masses, tensors, axes, limits, symmetry. Each finding carries file
/// and line, a reason and a fix with numbers; those that are safe to mend also carry edits.
/// The rules, their tolerances and examples stand in docs/check.md.
namespace limb {

/// Appends everything that check_structure() does not look at. A structure that is broken is no
/// obstacle: what cannot be judged is passed over. A reader that has told of meshes is believed.
void check_values(const Description<double>& robot, Diagnostics& diagnostics);

/// check_structure() and then check_values().
Diagnostics check(const Description<double>& robot);

/// The same findings with their edits, in order of the rules below.
Findings find_values(const Description<double>& robot);

/// Rules by subject; all numbers of the robot must be finite, which find_not_finite() decides.
void find_not_finite(const Description<double>& robot, Findings& findings);
void find_mass(const Description<double>& robot, const LinkTree& tree, Findings& findings);
void find_inertia(const Description<double>& robot, const LinkTree& tree, Findings& findings);
void find_joints(const Description<double>& robot, Findings& findings);
void find_asymmetry(const Description<double>& robot, const LinkTree& tree, Findings& findings);
void find_meshes(const Description<double>& robot, Findings& findings);

}  // namespace limb
