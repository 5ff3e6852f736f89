#include <cstdint>

#include "limb/model/mesh/little_endian.hpp"
#include "limb/model/mesh/read_mesh_formats.hpp"

namespace limb::mesh_formats {

TriangleMesh parse_msh(std::string_view bytes, const std::string& name) {
  constexpr std::uint64_t kHeader = 16;
  if (bytes.size() < kHeader) {
    refuse(name, "has " + std::to_string(bytes.size()) + " bytes, expected at least the 16 of an " +
                     "MSH header");
  }
  std::uint64_t counts[4];
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int32_t count = little_endian_int(bytes, 4 * k);
    if (count < 0) refuse(name, "a count in the header of the MSH file is negative");
    counts[k] = static_cast<std::uint64_t>(count);
  }
  const auto [vertices, normals, texcoords, triangles] = counts;
  if ((normals != 0 && normals != vertices) || (texcoords != 0 && texcoords != vertices)) {
    refuse(name, "the header of the MSH file has " + std::to_string(normals) + " normals and " +
                     std::to_string(texcoords) + " texture coordinates, expected 0 or " +
                     std::to_string(vertices) + ", one per vertex");
  }
  const std::uint64_t size =
      kHeader + 12 * vertices + 12 * normals + 8 * texcoords + 12 * triangles;
  if (size != bytes.size()) {
    refuse(name, "has " + std::to_string(bytes.size()) + " bytes, expected " +
                     std::to_string(size) + " by the header of the MSH file (the file is cut, or " +
                     "not MuJoCo's MSH format)");
  }
  TriangleMesh mesh;
  mesh.vertices.reserve(vertices);
  for (std::size_t i = 0; i < vertices; ++i) {
    const std::size_t at = kHeader + 12 * i;
    mesh.vertices.emplace_back(little_endian_float(bytes, at), little_endian_float(bytes, at + 4),
                               little_endian_float(bytes, at + 8));
  }
  mesh.triangles.reserve(triangles);
  for (std::size_t i = 0; i < triangles; ++i) {
    const std::size_t at = size - 12 * (triangles - i);
    mesh.triangles.push_back({little_endian_int(bytes, at), little_endian_int(bytes, at + 4),
                              little_endian_int(bytes, at + 8)});
  }
  return mesh;
}

}  // namespace limb::mesh_formats
