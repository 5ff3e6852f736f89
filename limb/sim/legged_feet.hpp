#pragma once

#include "limb/control/whole_body.hpp"
#include "limb/sim/contact/shape.hpp"

namespace limb {

/// Feet of a robot that stands in q, with the points that they stand on: of a ball the lowest one,
/// of a box and a capsule the corners and ends at its height.
/// @param names  frames, in the order that is wanted. Of each the solids of its name, or of its
///               link, down to where they are lowest. Empty: all parts that are as low as the
///               lowest to a centimetre; four of them in the order front left, front right, rear
///               left, rear right.
/// @throws Error for names that are no frames, and where nothing can touch.
std::vector<Foot> find_feet(const char* call, const Model<double>& model, VectorIn<double>& q,
                            const std::vector<ContactShape>& shapes,
                            const std::vector<std::string>& names = {});

}  // namespace limb
