#pragma once

#include "limb/sim/contact/collide.hpp"

/// Convex hulls of meshes against other solids. A hull touches planes, boxes and height fields with
/// its vertices and with theirs, spheres and capsules exactly. Edges that cross without a vertex
/// nearby are not found, and two hulls do not touch: that needs a collision library.
namespace limb {

void collide_mesh(const PlacedShape& a, const Ground::HalfSpace& b, double margin,
                  CollisionPoints& points);
void collide_mesh(const PlacedShape& a, const Ground::HeightField& b, double margin,
                  CollisionPoints& points);
/// sign -1: the box is the first solid.
void collide_mesh_box(const PlacedShape& mesh, const Pose<double>& X_WG,
                      const Vector3<double>& half, double margin, double sign,
                      CollisionPoints& points);
/// Against any other shape; sign -1: that is the first solid.
void collide_mesh(const PlacedShape& mesh, const PlacedShape& other, double margin, double sign,
                  CollisionPoints& points);

}  // namespace limb
