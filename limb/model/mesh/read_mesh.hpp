#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "limb/model/mesh/triangle_mesh.hpp"

/// Mesh files: STL (binary and text), OBJ and MuJoCo's MSH.
///
/// These readers are limb's own and not those of assimp: three simple formats, no dependency, and
/// every mistake in a file has a message of its own.
///
///   STL   vertices with equal coordinates are merged; normals and attributes are not read.
///   OBJ   v and f, with indices i, i/t, i//n, i/t/n and negative ones; all other lines are
///   skipped.
///         Quadrilaterals are cut along the shorter diagonal, convex polygons into a fan, concave
///         ones by ear clipping (of a flat polygon every cut has the same mass). Faces with fewer
///         than three corners have no area and are skipped.
///   MSH   int32: vertices, normals, texture coordinates, triangles; float: 3 per vertex, 3 per
///         normal, 2 per texture coordinate; int32: 3 per triangle; little-endian. Without
///         triangles the vertices are a point cloud.
///
/// Every reader takes at most about ten times the memory of its input.
namespace limb {

enum class MeshFormat { stl, obj, msh };

/// Larger files are not read.
inline constexpr std::size_t kMaxMeshFile = std::size_t(1) << 30;

/// By the extension of the file name, in either case. @throws Error that lists the known ones.
MeshFormat mesh_format(const std::filesystem::path& path);

/// @param name  name of the file for messages.
/// @throws Error "read_mesh: name: message": the input is empty, incomplete or of a wrong size, a
/// Git LFS pointer or a web page, has an index out of range or a number that is not finite, or no
/// vertices.
TriangleMesh parse_mesh(std::string_view bytes, MeshFormat format, const std::string& name);

/// Reads a file of the format that its extension names. @throws Error as parse_mesh.
TriangleMesh read_mesh(const std::filesystem::path& path);

}  // namespace limb
