#pragma once

#include <Eigen/Geometry>
#include <optional>

#include "limb/model/link_tree.hpp"

/// How large links are: what the linter compares masses and tensors with.
namespace limb {

using Box = Eigen::AlignedBox3d;

/// Bounding box, in axes of the link, of its shapes of known size; empty if it has none. A mesh has
/// no known size, and a plane has no end.
Box shape_box(const LinkDescription<double>& link);

/// The link has shapes and the size of every one is known.
bool has_known_shape(const LinkDescription<double>& link);

/// shape_box() and the points that the link is sure to reach: its origin, its mass centre, the
/// joints below it.
std::vector<Box> link_boxes(const Description<double>& robot, const LinkTree& tree);

/// Bounding box of all links at zero coordinates, mass centres and shapes included.
Box robot_box(const Description<double>& robot, const LinkTree& tree);

/// Mass properties of the link's shapes filled with one density, in the link's frame; nothing if
/// none has volume. Shapes that overlap count twice. Visual shapes if all their sizes are known,
/// else collision shapes.
std::optional<Inertia<double>> shape_inertia(const LinkDescription<double>& link);

}  // namespace limb
