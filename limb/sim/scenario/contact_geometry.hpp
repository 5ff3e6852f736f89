#pragma once

#include <string>

#include "limb/sim/contact/contacts.hpp"

namespace limb {

/// Shapes and ground of a contact as JSON, for pictures of a log (metadata "contact"):
///
///   {"shapes": [{"name", "body", "kind", "pose": [x, y, z, qx, qy, qz, qw], "size": [3]}, ...],
///    "ground": {"half_spaces": [[nx, ny, nz, level], ...], "boxes": [{"pose": [7], "half": [3]}]}}
///
/// Poses of shapes are in their body, m. Meshes are left out: they are in the robot file. Height
/// fields and more than a thousand boxes are left out, with "complete": false.
std::string contact_geometry_json(const ContactSetup& contact, const Model<double>& model);

}  // namespace limb
