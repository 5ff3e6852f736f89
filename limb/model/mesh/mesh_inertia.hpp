#pragma once

#include "limb/math/inertia.hpp"
#include "limb/model/mesh/triangle_mesh.hpp"

/// Mass properties of triangle meshes, also of those that are not closed, by the rules of MuJoCo's
/// compiler [MuJoCo 2024, asset/mesh, inertia]. For closed meshes alone, inertia_from_mesh() of the
/// module math checks more and gives the same numbers as the mode exact.
///
///   exact    sum over signed tetrahedra; the faces must have a consistent orientation.
///   legacy   sum over the absolute volumes of the tetrahedra: the orientation of the faces does
///   not
///            matter, concave parts count too much.
///   convex   the solid convex hull of the vertices.
///   shell    the surface, with the mass proportional to its area.
///
/// The centre is computed with tetrahedra whose apex is the area-weighted centre of the faces, then
/// volume and tensor with tetrahedra whose apex is the mass centre. For exact and closed surfaces
/// the apex has no influence; for legacy and open surfaces it has.
namespace limb {

enum class MeshInertiaMode { exact, legacy, convex, shell };

/// For a density of 1.
struct MeshMassProperties {
  double mass = 0;        ///< volume, m^3; for a shell the area, m^2
  Vector3<double> com;    ///< mass centre
  Matrix3<double> I_com;  ///< tensor about it
};

/// Volumes (m^3) and areas (m^2) below are refused, as MuJoCo does.
inline constexpr double kMinMeshMass = 1e-15;

/// @throws Error if there are no triangles, area or volume are too small, the volume is negative or
/// the orientation not consistent (exact), or all vertices are in one plane (convex). Vertices and
/// indices are not checked.
MeshMassProperties mesh_mass_properties(const TriangleMesh& mesh, MeshInertiaMode mode);

}  // namespace limb
