#include "limb/math/inertia_mesh.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "limb/math/inertia_sympy_data.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using namespace testing;
using V3 = Vector3<double>;
using M3 = Matrix3<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr float feps = std::numeric_limits<float>::epsilon();

struct Mesh {
  std::vector<V3> vertices;
  std::vector<std::array<int, 3>> triangles;

  Mesh moved(const Pose<double>& X) const {
    Mesh result = *this;
    for (V3& p : result.vertices) p = X * p;
    return result;
  }
  /// Both meshes side by side in one list.
  Mesh with(const Mesh& other) const {
    Mesh result = *this;
    const int shift = int(vertices.size());
    result.vertices.insert(result.vertices.end(), other.vertices.begin(), other.vertices.end());
    for (const auto& [a, b, c] : other.triangles) {
      result.triangles.push_back({a + shift, b + shift, c + shift});
    }
    return result;
  }
  Mesh inside_out() const {
    Mesh result = *this;
    for (auto& t : result.triangles) std::swap(t[1], t[2]);
    return result;
  }
};

template <typename A>
MeshInertia<double> measure(const Mesh& mesh, const A& amount) {
  return inertia_from_mesh(mesh.vertices, mesh.triangles, amount);
}

// Corner k has x, y, z from the bits 0, 1, 2 of k.
Mesh box_mesh(const V3& size) {
  Mesh mesh;
  for (int k = 0; k < 8; ++k) {
    mesh.vertices.push_back(
        size.cwiseProduct(V3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5)));
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

Mesh tetrahedron_mesh() {
  return {{{0.125, 0.25, -0.5}, {1.5, 0.125, 0.25}, {-0.25, 1.25, 0.125}, {0.375, 0.5, 1.75}},
          {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
}

// An octahedron whose triangles are split into four and projected onto the unit sphere.
Mesh sphere_mesh(int splits) {
  Mesh mesh{
      {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}},
      {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}}};
  for (int level = 0; level < splits; ++level) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [it, fresh] = middles.try_emplace(std::minmax(a, b), int(mesh.vertices.size()));
      if (fresh) {
        const V3 sum = mesh.vertices[std::size_t(a)] + mesh.vertices[std::size_t(b)];
        mesh.vertices.push_back(sum.normalized());
      }
      return it->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  return mesh;
}

TEST(Mesh, BoxIsTheSolidBox) {
  const V3 size(0.5, 0.3, 0.2);
  const auto found = measure(box_mesh(size), Density{2.7});
  EXPECT_NEAR(found.volume, size.prod(), 4 * eps * size.prod());
  EXPECT_LT(relative_error(box_inertia(Density{2.7}, size), found.inertia), 8 * eps);
  EXPECT_LT(found.com.norm(), eps);
  const auto by_mass = measure(box_mesh(size), Mass{2.4});
  EXPECT_EQ(by_mass.inertia.mass(), 2.4);
  EXPECT_LT(relative_error(box_inertia(Mass{2.4}, size), by_mass.inertia), 8 * eps);
}

TEST(Mesh, TetrahedronMatchesSymbolicIntegral) {
  const auto& table = sympy::solids.back();
  ASSERT_EQ(table.name, "tetrahedron");
  const auto& h = table.first_moment;
  const auto& t = table.tensor;
  const Inertia<double> expected(table.mass, V3(h[0], h[1], h[2]),
                                 tensor_from_entries(t[0], t[1], t[2], t[3], t[4], t[5]));
  const auto found = measure(tetrahedron_mesh(), Density{2.7});
  EXPECT_LT(relative_error(expected, found.inertia), 8 * eps);
  EXPECT_NEAR(found.volume, table.mass / 2.7, 8 * eps);
}

TEST(Mesh, TetrahedronEqualsFivePointMasses) {
  // A homogeneous tetrahedron has the moments of m/20 at each corner and 4m/5 at the centroid.
  Random random(51);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    Mesh mesh = tetrahedron_mesh();
    for (V3& p : mesh.vertices) p += random.vector<double>(0.2);
    const double m = random.uniform(0.1, 3);
    std::vector<PointMass<double>> points;
    V3 centre = V3::Zero();
    for (const V3& p : mesh.vertices) {
      points.push_back({m / 20, p});
      centre += p / 4;
    }
    points.push_back({4 * m / 5, centre});
    const auto expected = Inertia<double>::from_point_masses(points);
    EXPECT_LT(relative_error(expected, measure(mesh, Mass{m}).inertia), 64 * eps);
  }
}

TEST(Mesh, FinerSpheresConvergeAtSecondOrder) {
  const auto ball = sphere_inertia(Density{1.0}, 1.0);
  double before = 0, volume_before = 0;
  for (int splits = 2; splits <= 6; ++splits) {
    const auto found = measure(sphere_mesh(splits), Density{1.0});
    const double error = ball.tensor()(0, 0) - found.inertia.tensor()(0, 0);
    const double volume_error = ball.mass() - found.volume;
    if (splits > 2) {
      // Half the edge length gives a quarter of the error; higher orders vanish as the mesh is
      // refined.
      const double slack = 0.5 / (1 << (2 * (splits - 3)));
      EXPECT_NEAR(before / error, 4, slack) << splits;
      EXPECT_NEAR(volume_before / volume_error, 4, slack) << splits;
    }
    EXPECT_GT(error, 0);  // inscribed
    before = error;
    volume_before = volume_error;
  }
  EXPECT_LT(before / ball.tensor()(0, 0), 1e-3);
}

TEST(Mesh, TransformsAsItsInertia) {
  Random random(52);
  SCOPED_TRACE(random.text());
  const Mesh mesh = tetrahedron_mesh();
  const auto still = measure(mesh, Density{2.7});
  for (int k = 0; k < 200; ++k) {
    const Pose<double> X = random.pose<double>(2);
    const auto moved = measure(mesh.moved(X), Density{2.7});
    EXPECT_LT(relative_error(still.inertia.transformed(X), moved.inertia), 128 * eps);
    EXPECT_NEAR(moved.volume, still.volume, 32 * eps * still.volume);
    EXPECT_LT((moved.com - X * still.com).norm(), 32 * eps);
  }
}

TEST(Mesh, PartsAddUpAndCavitiesAreSubtracted) {
  const Mesh box = box_mesh({1, 2, 3});
  const Pose<double> far{so3::exp<double>(V3(0.1, 0.2, 0.3)), V3(5, 0, 0)};
  const Density rho{2.0};
  const auto a = measure(box, rho).inertia, b = measure(tetrahedron_mesh().moved(far), rho).inertia;
  const auto both = measure(box.with(tetrahedron_mesh().moved(far)), rho).inertia;
  EXPECT_LT(relative_error(a + b, both), 32 * eps);

  const auto hollow = measure(box.with(box_mesh({0.5, 1, 1.5}).inside_out()), rho);
  const auto expected = box_inertia(rho, {1, 2, 3}) - box_inertia(rho, {0.5, 1, 1.5});
  EXPECT_LT(relative_error(expected, hollow.inertia), 16 * eps);
  EXPECT_NEAR(hollow.volume, 6 - 0.75, 16 * eps);
}

TEST(Mesh, IsAccurateFarFromTheOrigin) {
  // A centimetre box a thousand kilometres away; the numbers are dyadic, so the mesh is
  // exact and any lost digit is due to the integral.
  const V3 size(0x1p-6, 0x1p-7, 0x1p-8), away(0x1p20, -0x1p20, 0x1p19);
  const auto found = measure(box_mesh(size).moved({M3::Identity(), away}), Density{1000.0});
  const auto expected = box_inertia(Density{1000.0}, size);
  EXPECT_EQ(found.com, away);
  EXPECT_NEAR(found.volume, size.prod(), 4 * eps * size.prod());
  EXPECT_LT((found.I_com - expected.tensor()).norm(), 8 * eps * expected.tensor().norm());
  EXPECT_LT(relative_error(expected.transformed({M3::Identity(), away}), found.inertia), 8 * eps);
}

TEST(Mesh, FloatFollowsDouble) {
  const Mesh mesh = sphere_mesh(4);
  std::vector<Vector3<float>> vertices;
  for (const V3& p : mesh.vertices) vertices.push_back(p.cast<float>());
  const auto found = inertia_from_mesh(vertices, mesh.triangles, Density{2.0f});
  const auto expected = measure(mesh, Density{2.0});
  // The vertices are rounded once, the sums not at all.
  EXPECT_NEAR(found.inertia.mass(), expected.inertia.mass(), 4 * feps * expected.inertia.mass());
  EXPECT_LT((found.I_com.cast<double>() - expected.I_com).norm(), 4 * feps * expected.I_com.norm());
  EXPECT_LT(found.com.norm(), feps);
}

TEST(MeshErrors, AnOpenMeshNamesAnEdgeAndCountsThem) {
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles.pop_back();
  EXPECT_EQ(message([&] { measure(mesh, Mass{1.0}); }),
            "inertia_from_mesh: edge 7-3 of triangles[7] is open, one of 3 open edges, expected a "
            "closed mesh: a triangle on each side of every edge (fill the hole, or merge "
            "coincident vertices)");
}

TEST(MeshErrors, UnmergedVerticesAreOpenEdges) {
  Mesh soup;
  const Mesh mesh = tetrahedron_mesh();
  for (const auto& t : mesh.triangles) {
    const int n = int(soup.vertices.size());
    for (const int i : t) soup.vertices.push_back(mesh.vertices[std::size_t(i)]);
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  EXPECT_NE(message([&] { measure(soup, Mass{1.0}); }).find("one of 12 open edges"),
            std::string::npos);
}

TEST(MeshErrors, AFlippedTriangle) {
  Mesh mesh = box_mesh({1, 1, 1});
  std::swap(mesh.triangles[5][0], mesh.triangles[5][1]);
  EXPECT_EQ(message([&] { measure(mesh, Mass{1.0}); }),
            "inertia_from_mesh: edge 1-4 is used in the same direction by triangles 4 and 5, "
            "expected one triangle on each side (one of the two is flipped or a duplicate, or "
            "more than two triangles share the edge)");
}

TEST(MeshErrors, ARepeatedFace) {
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles.push_back(mesh.triangles[3]);
  EXPECT_NE(message([&] {
              measure(mesh, Mass{1.0});
            }).find("edge 5-7 is used in the same direction by triangles 3 and 12"),
            std::string::npos);
}

TEST(MeshErrors, InsideOut) {
  EXPECT_EQ(message([&] {
              measure(box_mesh({1, 1, 1}).inside_out(), Mass{1.0});
            }),
            "inertia_from_mesh: the volume is -1, expected > 0 (the triangles are oriented inward: "
            "reverse the order of their indices)");
}

TEST(MeshErrors, FlatMeshesHaveNoVolume) {
  Random random(53);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const Mesh sheet = Mesh{{{0, 0, 0}, {1, 0, 0}, {0.3, 1, 0}}, {{0, 1, 2}, {0, 2, 1}}}.moved(
        random.pose<double>(2));
    const std::string text = message([&] { measure(sheet, Mass{1.0}); });
    EXPECT_NE(text.find("expected > 0 (the mesh is flat and encloses nothing)"), std::string::npos)
        << text;
  }
  // A flat tetrahedron, whose volume rounds to either sign.
  for (int k = 0; k < 100; ++k) {
    Mesh flat = tetrahedron_mesh();
    for (V3& p : flat.vertices) p.z() = 0;
    const std::string text =
        message([&] { measure(flat.moved(random.pose<double>(2)), Mass{1.0}); });
    EXPECT_NE(text.find("expected > 0 (the mesh is flat and encloses nothing)"), std::string::npos)
        << text;
  }
}

TEST(MeshErrors, BadNumbersAndIndices) {
  Mesh mesh = box_mesh({1, 1, 1});
  EXPECT_EQ(message([&] { measure(mesh, Mass{-1.0}); }),
            "inertia_from_mesh: mass is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] { measure(mesh, Density{-1.0}); }),
            "inertia_from_mesh: density is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] {
              measure(Mesh{mesh.vertices, {}}, Mass{1.0});
            }),
            "inertia_from_mesh: triangles is empty, expected a closed mesh");
  mesh.triangles[4] = {0, 8, 1};
  EXPECT_EQ(message([&] { measure(mesh, Mass{1.0}); }),
            "inertia_from_mesh: triangles[4] is a triangle with vertex 8, expected indices from 0 "
            "to 7");
  mesh.triangles[4] = {0, -1, 1};
  EXPECT_NE(message([&] { measure(mesh, Mass{1.0}); }).find("with vertex -1"), std::string::npos);
  mesh.triangles[4] = {0, 3, 3};
  EXPECT_EQ(message([&] { measure(mesh, Mass{1.0}); }),
            "inertia_from_mesh: triangles[4] is [0, 3, 3], expected three different vertices");
  mesh.vertices[6].y() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([&] { measure(mesh, Mass{1.0}); }),
            "inertia_from_mesh: vertices[6] is [-0.5, nan, 0.5], expected finite numbers");
  EXPECT_EQ(message([&] {
              measure(box_mesh({1e150, 1e150, 1e150}), Density{1.0});
            }),
            "inertia_from_mesh: the volume integrals overflow: the mesh is too large for its unit "
            "[computation failed]");
}

}  // namespace
}  // namespace limb
