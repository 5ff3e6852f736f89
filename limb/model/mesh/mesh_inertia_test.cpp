#include "limb/model/mesh/mesh_inertia.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "limb/base/error.hpp"
#include "limb/math/inertia_mesh.hpp"
#include "limb/math/inertia_solids.hpp"

namespace limb {
namespace {

using Mode = MeshInertiaMode;
constexpr double kEps = std::numeric_limits<double>::epsilon();

TriangleMesh box(const Vector3<double>& size, const Vector3<double>& centre) {
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    const Vector3<double> corner(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
    mesh.vertices.push_back(centre + size.cwiseProduct(corner));
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

/// A prism with the outline of an L, corners (0, 0), (2, 0), (2, 0.5), (0.5, 0.5), (0.5, 3), (0,
/// 3).
TriangleMesh angle_profile() {
  TriangleMesh mesh;
  const double x[] = {0, 2, 2, 0.5, 0.5, 0}, y[] = {0, 0, 0.5, 0.5, 3, 3};
  for (const double z : {0.0, 0.75}) {
    for (int i = 0; i < 6; ++i) mesh.vertices.emplace_back(x[i], y[i], z);
  }
  for (int i = 1; i < 5; ++i) {
    mesh.triangles.push_back({0, i + 1, i});
    mesh.triangles.push_back({6, i + 6, i + 7});
  }
  for (int i = 0; i < 6; ++i) {
    const int j = (i + 1) % 6;
    mesh.triangles.push_back({i, j, j + 6});
    mesh.triangles.push_back({i, j + 6, i + 6});
  }
  return mesh;
}

/// Points of a sphere by latitude and longitude.
TriangleMesh sphere(int n) {
  TriangleMesh mesh;
  const double pi = std::numbers::pi;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      const double u = pi * i / n, v = pi * j / n;
      mesh.vertices.emplace_back(std::sin(u) * std::cos(v), std::sin(u) * std::sin(v), std::cos(u));
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      const int k = (j + 1) % (2 * n), a = 2 * n * i, b = a + 2 * n;
      if (i + 1 < n) mesh.triangles.push_back({a + j, b + j, b + k});
      if (i > 0) mesh.triangles.push_back({a + j, b + k, a + k});
    }
  }
  return mesh;
}

void expect_near(const MeshMassProperties& found, double mass, const Vector3<double>& com,
                 const Matrix3<double>& tensor, double tolerance) {
  EXPECT_NEAR(found.mass, mass, tolerance * mass);
  EXPECT_LT((found.com - com).norm(), tolerance * (1 + com.norm()));
  EXPECT_LT((found.I_com - tensor).norm(), tolerance * tensor.norm()) << found.I_com;
}

std::string message(const TriangleMesh& mesh, Mode mode) {
  try {
    (void)mesh_mass_properties(mesh, mode);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeshInertia, BoxInAllSolidModes) {
  const Vector3<double> size(0.2, 0.5, 0.3), centre(1, -2, 3);
  const Matrix3<double> tensor = box_inertia(Density{1.0}, size).tensor();
  for (const Mode mode : {Mode::exact, Mode::legacy, Mode::convex}) {
    // Coordinates of 3 with a size of 0.2: some ten digits more are lost than in the size.
    expect_near(mesh_mass_properties(box(size, centre), mode), 0.03, centre, tensor, 1000 * kEps);
  }
}

TEST(MeshInertia, ShellOfABox) {
  const Vector3<double> size(0.2, 0.5, 0.3);
  // Thin solid walls, as the limit of two boxes of which one is removed.
  const double wall = 1e-6;
  const Vector3<double> outer = size.array() + wall, inner = size.array() - wall;
  const Inertia<double> walls =
      box_inertia(Density{1 / wall}, outer) - box_inertia(Density{1 / wall}, inner);
  // The wall has a thickness: errors of order (wall / size)^2 and 1 / wall roundings.
  expect_near(mesh_mass_properties(box(size, {0, 0, 0}), Mode::shell), 0.62, {0, 0, 0},
              walls.tensor(), 1e-9);
}

TEST(MeshInertia, Tetrahedron) {
  // [Tonon 2004]: moments of a tetrahedron by its corners: V/20 sum of d d', d from the centre.
  const TriangleMesh mesh{{{8.33220, -11.86875, 0.93355},
                           {0.75523, 5.00000, 16.37072},
                           {52.61236, 5.00000, -5.38580},
                           {2.00000, 5.00000, 3.00000}},
                          {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}},
                          0};
  Vector3<double> com = Vector3<double>::Zero();
  for (const auto& v : mesh.vertices) com += v / 4;
  Matrix3<double> S = Matrix3<double>::Zero();
  for (const auto& v : mesh.vertices) S += (v - com) * (v - com).transpose() / 20;
  const auto& v = mesh.vertices;
  const double volume = (v[1] - v[0]).dot((v[2] - v[0]).cross(v[3] - v[0])) / 6;
  ASSERT_GT(volume, 0);
  const Matrix3<double> tensor = tensor_from_second_moments<double>(S * volume);
  for (const Mode mode : {Mode::exact, Mode::legacy, Mode::convex}) {
    // Coordinates up to 50 in a body of width 5.
    expect_near(mesh_mass_properties(mesh, mode), volume, com, tensor, 1000 * kEps);
  }
}

TEST(MeshInertia, SphereIsTheLimit) {
  const double pi = std::numbers::pi;
  Vector3<double> errors;
  for (int level = 0; level < 3; ++level) {
    const TriangleMesh mesh = sphere(16 << level);
    const auto solid = mesh_mass_properties(mesh, Mode::exact);
    const auto hull = mesh_mass_properties(mesh, Mode::convex);
    const auto shell = mesh_mass_properties(mesh, Mode::shell);
    EXPECT_NEAR(hull.mass, solid.mass, 1e-12);
    errors[level] = std::abs(solid.mass - 4 * pi / 3);
    const double width = pi / (16 << level);
    EXPECT_NEAR(solid.mass, 4 * pi / 3, 4 * width * width);
    EXPECT_NEAR(solid.I_com(0, 0), 8 * pi / 15, 4 * width * width);
    EXPECT_NEAR(shell.mass, 4 * pi, 4 * width * width);
    EXPECT_NEAR(shell.I_com(2, 2), 8 * pi / 3, 8 * width * width);
  }
  // Second order in the width of the triangles.
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.1);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.1);
}

TEST(MeshInertia, ConcaveBodyInEveryMode) {
  const TriangleMesh mesh = angle_profile();
  const auto exact = mesh_mass_properties(mesh, Mode::exact);
  // 2 x 0.5 x 0.75 and 0.5 x 2.5 x 0.75.
  const Inertia<double> parts =
      box_inertia(Density{1.0}, {2, 0.5, 0.75})
          .transformed({Matrix3<double>::Identity(), {1, 0.25, 0.375}}) +
      box_inertia(Density{1.0}, {0.5, 2.5, 0.75})
          .transformed({Matrix3<double>::Identity(), {0.25, 1.75, 0.375}});
  expect_near(exact, parts.mass(), parts.com(), parts.tensor_about_com(), 100 * kEps);
  const auto same = inertia_from_mesh<double>(mesh.vertices, mesh.triangles, Density{1.0});
  expect_near(exact, same.volume, same.com, same.I_com, 100 * kEps);
  // The hull adds the triangle (2, 0.5), (0.5, 3), (0.5, 0.5).
  EXPECT_NEAR(mesh_mass_properties(mesh, Mode::convex).mass, exact.mass + 0.75 * 1.5 * 2.5 / 2,
              100 * kEps);
  // Tetrahedra of the wrong sign are added: 1.36865 times, MuJoCo 4.0 for this profile.
  EXPECT_GT(mesh_mass_properties(mesh, Mode::legacy).mass, 1.3 * exact.mass);
}

TEST(MeshInertia, OrientationMattersOnlyForExact) {
  TriangleMesh mesh = box({1, 1, 1}, {0, 0, 0});
  std::swap(mesh.triangles[0][0], mesh.triangles[0][1]);
  EXPECT_NEAR(mesh_mass_properties(mesh, Mode::legacy).mass, 1, 10 * kEps);
  EXPECT_NEAR(mesh_mass_properties(mesh, Mode::convex).mass, 1, 10 * kEps);
  EXPECT_NEAR(mesh_mass_properties(mesh, Mode::shell).mass, 6, 10 * kEps);
  EXPECT_EQ(message(mesh, Mode::exact).substr(0, 104),
            "mesh_mass_properties: the orientation of the triangles is not consistent at the edge "
            "from vertex 0 to 1,");
  TriangleMesh inward = box({1, 1, 1}, {0, 0, 0});
  for (auto& t : inward.triangles) std::swap(t[0], t[1]);
  EXPECT_EQ(message(inward, Mode::exact),
            "mesh_mass_properties: the volume of the mesh is -1, expected > 0 (the triangles are "
            "oriented inward)");
}

TEST(MeshInertia, RefusesFlatAndEmptyMeshes) {
  TriangleMesh flat{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2}, {1, 3, 2}}, 0};
  for (const Mode mode : {Mode::exact, Mode::legacy}) {
    EXPECT_EQ(
        message(flat, mode),
        "mesh_mass_properties: the volume of the mesh is 0, expected at least 1e-15 (the mesh "
        "is flat or its unit wrong)");
  }
  EXPECT_EQ(message(flat, Mode::convex),
            "convex_hull: points is in one plane, expected points that enclose a volume");
  expect_near(mesh_mass_properties(flat, Mode::shell), 1, {0.5, 0.5, 0},
              Vector3<double>(1.0 / 12, 1.0 / 12, 1.0 / 6).asDiagonal(), 10 * kEps);
  flat.vertices.assign(4, Vector3<double>(1, 1, 1));
  EXPECT_EQ(
      message(flat, Mode::shell),
      "mesh_mass_properties: the area of the mesh is 0, expected at least 1e-15 (the mesh has "
      "no surface)");
  flat.triangles.clear();
  EXPECT_EQ(message(flat, Mode::legacy),
            "mesh_mass_properties: the mesh is without triangles, expected a surface");
  TriangleMesh huge = box({1e80, 1e80, 1e80}, {0, 0, 0});
  EXPECT_EQ(message(huge, Mode::exact),
            "mesh_mass_properties: the integrals overflow: the mesh is too large for its unit");
}

}  // namespace
}  // namespace limb
