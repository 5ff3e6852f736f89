#pragma once

#include <string>
#include <vector>

#include "limb/model/core/model.hpp"

/// Finds the feet of a quadruped in its description.
namespace limb {

/// A foot: the frame of its contact point, and where that frame comes from.
struct FoundFoot {
  std::string frame;
  std::string source;  ///< "frame named foot", "collision sphere", "given", ...
};

/// Adds a frame to the description for each foot that has none, and returns the four feet: front
/// left, front right, rear left, rear right.
///
/// Each branch of the base has one candidate: the farthest frame that is named as a foot, or else
/// the end of the shapes of its last body that is farthest from the joint of that body. Collision
/// shapes come before visual ones; spheres and capsules count by their centres, which stay in place
/// when the foot rolls. A mesh counts by its frame. Legs are the branches that reach the ground and
/// have a mirror image on the other side; the rest are arms, heads and tails.
///
/// @param given  frames or bodies of the feet, in any order; a body is replaced by the end of its
///               shapes. Empty: they are found.
/// @throws Error "call: ..." unless four feet are found; the message says what was found.
std::vector<FoundFoot> find_feet(const char* call, Description<double>& robot, Base base,
                                 const std::vector<std::string>& given = {});

/// Bodies from the base (exclusive) to this one.
std::vector<BodyId> bodies_to(const Model<double>& model, BodyId body);

}  // namespace limb
