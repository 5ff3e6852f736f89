#pragma once

#include "limb/model/lint/check.hpp"

/// The rules of find_inertia(). Each skips links that are `done`, and marks those it reports: of
/// several explanations for one tensor only the first is reported.
namespace limb {

/// Tensor too large or too small for the link by the factor of a wrong unit; mass centre in mm.
void find_inertia_units(const Description<double>& robot, const LinkTree& tree,
                        const MeshBoxes& meshes, std::vector<bool>& done, LintFindings& findings);
/// Tensor about the link's origin instead of the mass centre.
void find_wrong_point(const Description<double>& robot, const LinkTree& tree,
                      const MeshBoxes& meshes, std::vector<bool>& done, LintFindings& findings);
/// Products of inertia with the sign of +int(xy) dm, or of the mirrored part.
void find_wrong_products(const Description<double>& robot, const MeshBoxes& meshes,
                         std::vector<bool>& done, LintFindings& findings);
/// No inertia about the axis of the last joint.
void find_singular(const Description<double>& robot, const LinkTree& tree, LintFindings& findings);

}  // namespace limb
