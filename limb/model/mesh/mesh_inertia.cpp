#include "limb/model/mesh/mesh_inertia.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "limb/model/mesh/convex_hull.hpp"

namespace limb {
namespace {

constexpr std::string_view kCall = "mesh_mass_properties";

struct Triangle {
  Vector3<double> a, b, c;
};

/// Calls f with each triangle, relative to the origin.
template <typename F>
void for_each_triangle(const TriangleMesh& mesh, const Vector3<double>& origin, const F& f) {
  const auto corner = [&](int i) -> Vector3<double> {
    return mesh.vertices[static_cast<std::size_t>(i)] - origin;
  };
  for (const auto& t : mesh.triangles) f(Triangle{corner(t[0]), corner(t[1]), corner(t[2])});
}

double area_of(const Triangle& t) {
  return 0.5 * (t.b - t.a).cross(t.c - t.a).norm();
}

/// Volume of the tetrahedron from the origin, or area of a shell.
double weight(const Triangle& t, MeshInertiaMode mode) {
  if (mode == MeshInertiaMode::shell) return area_of(t);
  const double volume = t.a.dot((t.b - t.a).cross(t.c - t.a)) / 6;
  return mode == MeshInertiaMode::legacy ? std::abs(volume) : volume;
}

/// Throws if two triangles pass an edge in the same direction.
void check_orientation(const TriangleMesh& mesh) {
  std::vector<std::uint64_t> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const auto& t : mesh.triangles) {
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto from = static_cast<std::uint32_t>(t[k]),
                 to = static_cast<std::uint32_t>(t[(k + 1) % 3]);
      edges.push_back(std::uint64_t(from) << 32 | to);
    }
  }
  std::sort(edges.begin(), edges.end());
  const auto twice = std::adjacent_find(edges.begin(), edges.end());
  if (twice == edges.end()) return;
  fail(kCall, "the orientation of the triangles",
       "not consistent at the edge from vertex " + std::to_string(*twice >> 32) + " to " +
           std::to_string(*twice & 0xffffffffu),
       "every edge at most once in each direction",
       "a triangle is flipped or a duplicate; the modes legacy and convex do not need orientation");
}

void check_mass(double mass, bool shell) {
  if (!std::isfinite(mass)) {
    fail_computation(kCall, "the integrals overflow: the mesh is too large for its unit");
  }
  const char* what = shell ? "the area of the mesh" : "the volume of the mesh";
  if (mass < 0) {
    fail(kCall, what, to_text(mass), "> 0", "the triangles are oriented inward");
  }
  if (mass < kMinMeshMass) {
    fail(kCall, what, to_text(mass), "at least " + to_text(kMinMeshMass),
         shell ? "the mesh has no surface" : "the mesh is flat or its unit wrong");
  }
}

/// Area-weighted centre of the triangles.
Vector3<double> face_centre(const TriangleMesh& mesh) {
  const Vector3<double> origin = mesh.vertices.front();
  double area = 0;
  Vector3<double> sum = Vector3<double>::Zero();
  for_each_triangle(mesh, origin, [&](const Triangle& t) {
    const double w = area_of(t);
    area += w;
    sum += w * (t.a + t.b + t.c);
  });
  check_mass(area, true);
  return origin + sum / (3 * area);
}

MeshMassProperties integrate(const TriangleMesh& mesh, MeshInertiaMode mode) {
  if (mesh.triangles.empty()) fail(kCall, "the mesh", "without triangles", "a surface");
  const bool shell = mode == MeshInertiaMode::shell;
  const Vector3<double> centre = face_centre(mesh);
  double mass = 0;
  Vector3<double> first = Vector3<double>::Zero();
  for_each_triangle(mesh, centre, [&](const Triangle& t) {
    const double w = weight(t, mode);
    mass += w;
    first += w * (t.a + t.b + t.c);
  });
  check_mass(mass, shell);
  MeshMassProperties result;
  result.com = centre + first / ((shell ? 3 : 4) * mass);
  // A tetrahedron (0, a, b, c) of volume w has the second moments w (a a' + b b' + c c' + s s') /
  // 20, s = a + b + c; a triangle of area w has those with 12 instead of 20.
  Matrix3<double> second = Matrix3<double>::Zero();
  for_each_triangle(mesh, result.com, [&](const Triangle& t) {
    const double w = weight(t, mode);
    const Vector3<double> s = t.a + t.b + t.c;
    result.mass += w;
    second += w * (t.a * t.a.transpose() + t.b * t.b.transpose() + t.c * t.c.transpose() +
                   s * s.transpose());
  });
  check_mass(result.mass, shell);
  result.I_com = tensor_from_second_moments<double>(second / (shell ? 12 : 20));
  if (!result.com.allFinite() || !result.I_com.allFinite()) {
    fail_computation(kCall, "the integrals overflow: the mesh is too large for its unit");
  }
  return result;
}

}  // namespace

MeshMassProperties mesh_mass_properties(const TriangleMesh& mesh, MeshInertiaMode mode) {
  if (mode == MeshInertiaMode::exact) check_orientation(mesh);
  if (mode != MeshInertiaMode::convex) return integrate(mesh, mode);
  return integrate({mesh.vertices, convex_hull(mesh.vertices), 0}, MeshInertiaMode::exact);
}

}  // namespace limb
