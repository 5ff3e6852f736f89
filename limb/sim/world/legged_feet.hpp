#pragma once

#include "limb/control/whole_body/whole_body.hpp"
#include "limb/sim/contact/shape.hpp"

namespace limb {

/// Feet of a robot that stands in q, with their contact points: the lowest point of a sphere, the
/// lowest corners of a box, the lowest ends of a capsule.
/// @param names  frames, in the desired order; the shapes with the name of the frame, or else of
/// its
///               body, form the foot. Empty: all links whose lowest point is within a centimetre
///               of the lowest of the robot; four feet in the order front left, front right, rear
///               left, rear right.
/// @throws Error for unknown frames, and if there are no shapes.
std::vector<Foot> find_feet(const char* call, const Model<double>& model, VectorIn<double>& q,
                            const std::vector<ContactShape>& shapes,
                            const std::vector<std::string>& names = {});

}  // namespace limb
