#pragma once

#include <array>
#include <span>
#include <type_traits>

#include "limb/math/inertia_solids.hpp"

/// Mass properties of the solid inside a closed triangle mesh.
namespace limb {

template <typename T>
struct MeshInertia {
  Inertia<T> inertia;  ///< about the origin and in the axes of the vertices
  T volume;            ///< m^3
  Vector3<T> com;      ///< mass centre
  Matrix3<T> I_com;    ///< tensor about it; computed without the origin, so accurate far from it
};

/// Exact integrals over the solid: the sum over signed tetrahedra from one point to each triangle.
///
/// Triangles are counter-clockwise seen from outside; a part with the opposite orientation is a
/// cavity. Linear in the number of triangles; sums are in double for every T.
/// @param triangles  three indices into vertices each, from 0.
/// @throws Error if a vertex is not finite, an index out of range or repeated within a triangle, an
/// edge open or used twice in one direction, or the enclosed volume not positive.
template <Real T>
MeshInertia<T> inertia_from_mesh(std::span<const Vector3<std::type_identity_t<T>>> vertices,
                                 std::span<const std::array<int, 3>> triangles, Density<T> density);
/// The same with the density that gives this mass.
template <Real T>
MeshInertia<T> inertia_from_mesh(std::span<const Vector3<std::type_identity_t<T>>> vertices,
                                 std::span<const std::array<int, 3>> triangles, Mass<T> mass);

extern template MeshInertia<double> inertia_from_mesh(std::span<const Vector3<double>>,
                                                      std::span<const std::array<int, 3>>,
                                                      Density<double>);
extern template MeshInertia<double> inertia_from_mesh(std::span<const Vector3<double>>,
                                                      std::span<const std::array<int, 3>>,
                                                      Mass<double>);
extern template MeshInertia<float> inertia_from_mesh(std::span<const Vector3<float>>,
                                                     std::span<const std::array<int, 3>>,
                                                     Density<float>);
extern template MeshInertia<float> inertia_from_mesh(std::span<const Vector3<float>>,
                                                     std::span<const std::array<int, 3>>,
                                                     Mass<float>);

}  // namespace limb
