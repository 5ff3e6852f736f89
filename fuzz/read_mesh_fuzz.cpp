// Any bytes as a mesh of each format: vertices that are finite and triangles whose indices exist,
// or an Error; never more memory than some times the input. Then mass properties in every mode.
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/mesh/mesh_inertia.hpp"
#include "limb/model/mesh/read_mesh.hpp"

namespace {

using limb::fuzz::require;

void check(const limb::TriangleMesh& mesh, std::size_t bytes) {
  require(!mesh.vertices.empty() && mesh.first_object <= mesh.triangles.size());
  require(mesh.vertices.size() <= bytes && mesh.triangles.size() <= bytes);
  for (const auto& vertex : mesh.vertices) require(vertex.allFinite());
  for (const auto& triangle : mesh.triangles) {
    for (const int i : triangle) require(i >= 0 && std::size_t(i) < mesh.vertices.size());
  }
}

void check_inertia(const limb::TriangleMesh& mesh) {
  using Mode = limb::MeshInertiaMode;
  for (const Mode mode : {Mode::exact, Mode::legacy, Mode::convex, Mode::shell}) {
    try {
      const auto found = limb::mesh_mass_properties(mesh, mode);
      require(found.mass > 0 && found.com.allFinite() && found.I_com.allFinite());
    } catch (const limb::Error&) {  // no volume, no consistent orientation
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto format : {limb::MeshFormat::stl, limb::MeshFormat::obj, limb::MeshFormat::msh}) {
    try {
      const auto mesh = limb::parse_mesh(limb::fuzz::as_text(data, size), format, "mesh");
      check(mesh, size);
      check_inertia(mesh);
    } catch (const limb::Error&) {
    }
  }
  return 0;
}
