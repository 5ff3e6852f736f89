#pragma once

#include "limb/model/core/link_tree.hpp"
#include "limb/model/lint/edit.hpp"
#include "limb/model/mesh/mesh_boxes.hpp"

/// The linter's rules on values: masses, tensors, axes, limits, symmetry. Each finding has file and
/// line, a reason and a fix with numbers; those that are safe to repair also have edits.
/// The rules, their tolerances and examples are in docs/check.md.
///
/// `meshes` are the sizes of mesh files, see read_mesh_boxes(); a mesh that is not in it has an
/// unknown size, and a link with such a mesh is compared with the size of the whole robot only.
namespace limb {

/// Appends the findings of all rules except those of check_structure(). The structure may be
/// broken: elements that cannot be checked are skipped. Missing meshes are not reported if
/// `diagnostics` already has findings about meshes from a reader.
void check_values(const Description<double>& robot, Diagnostics& diagnostics,
                  const MeshBoxes& meshes = {});

/// check_structure() and then check_values().
Diagnostics check_robot(const Description<double>& robot, const MeshBoxes& meshes = {});

/// The same findings with their edits, in the order of the functions below.
LintFindings find_values(const Description<double>& robot, const MeshBoxes& meshes = {});

/// Rules by subject; they require finite numbers, which find_not_finite() checks.
void find_not_finite(const Description<double>& robot, LintFindings& findings);
void find_mass(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
               LintFindings& findings);
void find_inertia(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes,
                  LintFindings& findings);
void find_joints(const Description<double>& robot, LintFindings& findings);
void find_asymmetry(const Description<double>& robot, const LinkTree& tree, LintFindings& findings);
void find_meshes(const Description<double>& robot, LintFindings& findings);

}  // namespace limb
