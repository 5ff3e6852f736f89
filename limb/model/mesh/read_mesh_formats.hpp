#pragma once

#include <string>
#include <string_view>

#include "limb/base/error.hpp"
#include "limb/model/mesh/triangle_mesh.hpp"

/// One reader per format, for parse_mesh(), which checks coordinates and indices of the result.
namespace limb::mesh_formats {

/// Throws Error "read_mesh: name: message".
[[noreturn]] void refuse(const std::string& name, const std::string& message);

TriangleMesh parse_stl(std::string_view bytes, const std::string& name);
TriangleMesh parse_obj(std::string_view bytes, const std::string& name);
TriangleMesh parse_msh(std::string_view bytes, const std::string& name);

}  // namespace limb::mesh_formats
