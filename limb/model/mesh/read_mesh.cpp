#include "limb/model/mesh/read_mesh.hpp"

#include <algorithm>
#include <cctype>

#include "limb/base/stand_in_file.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/mesh/read_mesh_formats.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;
using mesh_formats::refuse;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

void check_mesh(const TriangleMesh& mesh, const std::string& name) {
  if (mesh.vertices.empty()) refuse(name, "has no vertices");
  const auto count = static_cast<std::ptrdiff_t>(mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    if (!mesh.vertices[i].allFinite()) {
      refuse(name, "a coordinate of vertex " + std::to_string(i + 1) + " is not a finite number");
    }
  }
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    for (const int index : mesh.triangles[i]) {
      if (index >= 0 && index < count) continue;
      refuse(name, "triangle " + std::to_string(i + 1) + " has vertex " + std::to_string(index) +
                       ", expected 0 to " + std::to_string(count - 1));
    }
  }
}

}  // namespace

namespace mesh_formats {

void refuse(const std::string& name, const std::string& message) {
  throw Error("read_mesh: " + name + ": " + message);
}

}  // namespace mesh_formats

MeshFormat mesh_format(const fs::path& path) {
  const std::string ending = lower(path.extension().string());
  if (ending == ".stl") return MeshFormat::stl;
  if (ending == ".obj") return MeshFormat::obj;
  if (ending == ".msh") return MeshFormat::msh;
  refuse(path.string(), "has the extension '" + ending.substr(0, 20) +
                            "', expected .stl, .obj or .msh (convert the mesh)");
}

TriangleMesh parse_mesh(std::string_view bytes, MeshFormat format, const std::string& name) {
  if (const auto kind = stand_in_file(bytes); !kind.empty()) refuse(name, std::string(kind));
  TriangleMesh mesh;
  switch (format) {
    case MeshFormat::stl:
      mesh = mesh_formats::parse_stl(bytes, name);
      break;
    case MeshFormat::obj:
      mesh = mesh_formats::parse_obj(bytes, name);
      break;
    case MeshFormat::msh:
      mesh = mesh_formats::parse_msh(bytes, name);
      break;
  }
  check_mesh(mesh, name);
  if (format != MeshFormat::obj) mesh.first_object = mesh.triangles.size();
  return mesh;
}

TriangleMesh read_mesh(const fs::path& path) {
  const MeshFormat format = mesh_format(path);
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (!code && size > kMaxMeshFile) {
    refuse(path.string(), "has " + std::to_string(size) + " bytes, expected at most " +
                              std::to_string(kMaxMeshFile));
  }
  return parse_mesh(read_text_file("read_mesh", path, kMaxMeshFile), format, path.string());
}

}  // namespace limb
