#pragma once

#include <optional>
#include <string>

#include "limb/model/core/model.hpp"

namespace limb {

/// The end of a body: the point of its shapes that is farthest from its joint.
struct BodyEnd {
  Vector3<double> p_B;  ///< in the frame of the body
  std::string source;   ///< "collision sphere", "visual box", "frame of mesh", ...
  std::string frame;    ///< a frame of the model at this point; may be empty
  double distance = 0;  ///< m, from the axis of the joint
};

/// Collision shapes come before visual ones, and both before meshes, of which only the frame is
/// known. A fixed frame counts if the body has no shape, or if it has a mesh and is clearly farther
/// away than the shapes. Nullopt if nothing is away from the joint.
/// @param robot  the description from which the model was built.
std::optional<BodyEnd> body_end(const Description<double>& robot, const Model<double>& model,
                                BodyId body);

}  // namespace limb
