#pragma once

#include <map>
#include <string>
#include <string_view>

#include "limb/model/core/model.hpp"

/// Operations on whole robots. Each returns a new Description and does not change its argument;
/// each throws Error if a name is unknown or if something would be lost silently.
namespace limb {

/// The subtree below a link as a robot with that link as root.
/// @throws Error if a coupling or loop connects the subtree with the rest.
Description<double> extract_subtree(const Description<double>& robot, std::string_view link);

/// Locks the named joints at the given coordinates (nq numbers each): they become fixed joints.
/// A joint that follows a locked one keeps its coupling; if it follows only locked joints it is
/// locked too.
/// @throws Error for a joint that itself follows another: lock its leader.
Description<double> lock_joints(const Description<double>& robot,
                                const std::map<std::string, std::vector<double>>& positions);

/// Merges links that fixed joints connect: mass and geometry move to the parent link, the child's
/// frame is kept as a named frame. Dynamics, frames and names are unchanged.
Description<double> merge_fixed_joints(const Description<double>& robot);

/// Welds a second robot to a link (a gripper, a tool, an arm on a base), with its root at X_LR in
/// the link's frame. Its names get the prefix. @throws Error if names still clash or if it has
/// several roots.
Description<double> attach_robot(const Description<double>& robot, std::string_view link,
                                 const Description<double>& other, const Pose<double>& X_LR,
                                 std::string_view prefix = {});

/// Adds a rigid payload, given in the link's frame, to a link.
Description<double> attach_payload(const Description<double>& robot, std::string_view link,
                                   const Inertia<double>& payload_L);

/// Adds a named frame (a tool point, a sensor) at X_PF in the frame of `parent`, a link or another
/// named frame. @throws Error if the name is taken or empty, or the pose is not rigid.
Description<double> add_frame(const Description<double>& robot, std::string_view name,
                              std::string_view parent, const Pose<double>& X_PF);

/// The robot in another gravity, m/s^2 in world axes. @throws Error if a number is not finite.
Description<double> with_gravity(const Description<double>& robot, const Vector3<double>& gravity);

/// Mass properties as files give them. @throws Error if the mass is not positive.
InertialDescription<double> inertial_from(const Inertia<double>& inertia_L);

}  // namespace limb
