#pragma once

#include <map>
#include <string>
#include <string_view>

#include "limb/model/model.hpp"

/// Operations on whole robots. Each returns a new Description and leaves the given one alone; each
/// throws Error when a name is unknown or when something would be lost without a word.
namespace limb {

/// The link and all that hangs on it, as a robot of its own with that link as root.
/// @throws Error if a coupling or loop reaches across the cut.
Description<double> extract_subtree(const Description<double>& robot, std::string_view link);

/// The joints named, held at the given coordinates (nq numbers each): they become fixed joints.
/// Joints that follow a locked one keep their relation; with nothing left to follow they are locked
/// too.
/// @throws Error for a joint that itself follows another: lock its leader.
Description<double> lock_joints(const Description<double>& robot,
                                const std::map<std::string, std::vector<double>>& held);

/// Links joined by fixed joints made one: masses and geometry move to the parent link, the child's
/// frame stays as a named frame. Dynamics, frames and names are unchanged.
Description<double> merge_fixed_joints(const Description<double>& robot);

/// A second robot welded to a link (a gripper, a tool, an arm on a base), its root at X_LR in the
/// link's frame. Its names get the prefix. @throws Error if names then still clash or it has
/// several roots.
Description<double> attach_robot(const Description<double>& robot, std::string_view link,
                                 const Description<double>& other, const Pose<double>& X_LR,
                                 std::string_view prefix = {});

/// A rigid payload on a link, given in the link's frame: its mass is added to the link's.
Description<double> attach_payload(const Description<double>& robot, std::string_view link,
                                   const Inertia<double>& payload_L);

/// Mass properties in the form files use. @throws Error if the mass is not positive.
InertialDescription<double> inertial_from(const Inertia<double>& inertia_L);

}  // namespace limb
