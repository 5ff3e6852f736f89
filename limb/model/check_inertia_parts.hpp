#pragma once

#include "limb/model/check.hpp"

/// The parts of find_inertia(). Each passes over links that are `done`, and marks those it reports:
/// of several explanations for one tensor the first is told.
namespace limb {

/// Tensor too large or too small for the link by what a wrong unit gives; mass centre in mm.
void find_inertia_units(const Description<double>& robot, const LinkTree& tree,
                        std::vector<bool>& done, Findings& findings);
/// Tensor about the link's origin instead of the mass centre.
void find_wrong_point(const Description<double>& robot, std::vector<bool>& done,
                      Findings& findings);
/// Products of inertia with the sign of +int(xy), or of the mirrored part.
void find_wrong_products(const Description<double>& robot, std::vector<bool>& done,
                         Findings& findings);
/// No inertia about the axis of the last joint.
void find_singular(const Description<double>& robot, const LinkTree& tree, Findings& findings);

}  // namespace limb
