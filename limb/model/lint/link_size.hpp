#pragma once

#include <Eigen/Geometry>
#include <optional>

#include "limb/model/core/link_tree.hpp"
#include "limb/model/mesh/mesh_boxes.hpp"

/// Sizes of links, with which the linter compares masses and tensors.
namespace limb {

using Box = Eigen::AlignedBox3d;

/// Bounding box, in axes of the link, of its shapes with known size, possibly empty. The size of a
/// mesh is known if its file is in `meshes`; a plane is infinite.
Box shape_box(const LinkDescription<double>& link, const MeshBoxes& meshes = {});

/// The link has shapes and the sizes of all of them are known.
bool has_known_shape(const LinkDescription<double>& link, const MeshBoxes& meshes = {});

/// The sizes of all shapes are known and fit the mass: markers (a cube of 1 mm for an IMU of 1 kg)
/// and empty hulls say nothing about the size of the part.
bool has_plausible_shape(const LinkDescription<double>& link, const MeshBoxes& meshes = {});

/// kg/m^3, the density of osmium, the densest metal.
inline constexpr double kMaxDensity = 22590;

/// shape_box() extended by points that belong to the link: its origin, its mass centre and the
/// joints of its children.
std::vector<Box> link_boxes(const Description<double>& robot, const LinkTree& tree,
                            const MeshBoxes& meshes);

/// Bounding box of all links at zero coordinates, mass centres and shapes included.
Box robot_box(const Description<double>& robot, const LinkTree& tree, const MeshBoxes& meshes);

/// Mass properties of the link's shapes with uniform density, in the link's frame; nullopt if
/// none has volume. Overlaps count twice. Visual shapes if all of them are primitives, else
/// collision shapes.
std::optional<Inertia<double>> shape_inertia(const LinkDescription<double>& link);

}  // namespace limb
