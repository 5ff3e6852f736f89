#include "limb/model/mesh/convex_hull.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "limb/base/error.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/model/mesh/exact_orientation.hpp"
#include "limb/model/mesh/mesh_inertia.hpp"

namespace limb {
namespace {

using Points = std::vector<Vector3<double>>;
using Triangles = std::vector<std::array<int, 3>>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Closed surface of the topology of a sphere, and every point inside or on it, exactly.
void expect_hull(const Points& points, const Triangles& hull) {
  std::map<std::pair<int, int>, int> edges;
  std::set<int> corners;
  for (const auto& t : hull) {
    for (std::size_t k = 0; k < 3; ++k) {
      ++edges[{t[k], t[(k + 1) % 3]}];
      corners.insert(t[k]);
    }
  }
  for (const auto& [edge, count] : edges) {
    ASSERT_EQ(count, 1) << edge.first << "-" << edge.second;
    ASSERT_EQ(edges.count({edge.second, edge.first}), 1u) << edge.first << "-" << edge.second;
  }
  // Euler: V - E + F = 2, and 3 F = 2 E for triangles.
  EXPECT_EQ(hull.size(), 2 * corners.size() - 4);
  const auto at = [&](int i) { return points[static_cast<std::size_t>(i)]; };
  int outside = 0;
  for (const auto& t : hull) {
    const Vector3<double> normal = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0]));
    for (const auto& p : points) {
      // Only near the plane are the exact signs needed.
      if (normal.dot(p - at(t[0])) < -1e-9) continue;
      outside += exact_orientation(at(t[0]), at(t[1]), at(t[2]), p) > 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(outside, 0);
}

double volume(const Points& points, const Triangles& hull) {
  return mesh_mass_properties({points, hull, 0}, MeshInertiaMode::exact).mass;
}

TEST(ExactOrientation, SignsOfPointsNextToAPlane) {
  // The plane x + y + z = 1 with coordinates that are not exact binary fractions: the rounded
  // determinant has only noise here.
  const Vector3<double> a(0.1, 0.2, 0.7), b(0.3, 0.3, 0.4), c(0.2, 0.6, 0.2);
  const Vector3<double> d = a + (b - a) + (c - a);
  const int sign = exact_orientation(a, b, c, d);
  EXPECT_EQ(exact_orientation(b, c, a, d), sign);
  EXPECT_EQ(exact_orientation(b, a, c, d), -sign);
  const Vector3<double> up = (b - a).cross(c - a).normalized();
  EXPECT_EQ(exact_orientation(a, b, c, d + 1e-15 * up), 1);
  EXPECT_EQ(exact_orientation(a, b, c, d - 1e-15 * up), -1);
  for (const auto& corner : {a, b, c}) EXPECT_EQ(exact_orientation(a, b, c, corner), 0);
  // Exact in binary: in the plane, and one unit in the last place above.
  const Vector3<double> e(1, 0, 0), f(0, 1, 0), g(0, 0, 1);
  EXPECT_EQ(exact_orientation(e, f, g, {0.25, 0.25, 0.5}), 0);
  EXPECT_EQ(exact_orientation(e, f, g, {0.25, 0.25, 0.5 + kEps}), 1);
  EXPECT_EQ(exact_orientation(e, f, g, {0.25, 0.25, 0.5 - kEps}), -1);
}

TEST(ConvexHull, GridOfACubeHasItsVolume) {
  Points points;
  for (int i = 0; i <= 8; ++i) {
    for (int j = 0; j <= 8; ++j) {
      for (int k = 0; k <= 8; ++k) points.emplace_back(0.1 * i, 0.1 * j, 0.1 * k);
    }
  }
  points.insert(points.end(), points.begin(), points.begin() + 300);  // duplicates
  const Triangles hull = convex_hull(points);
  expect_hull(points, hull);
  // 0.8^3; sums of some hundred terms.
  EXPECT_NEAR(volume(points, hull), 0.512, 100 * kEps);
}

TEST(ConvexHull, CylinderOfCad) {
  // Rings of points on the mantle and full of points on the caps.
  Points points;
  constexpr int n = 60;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * i / n;
    for (int k = 0; k <= 10; ++k) {
      points.emplace_back(std::cos(angle), std::sin(angle), 0.3 * k);
      points.emplace_back(0.1 * k * std::cos(angle), 0.1 * k * std::sin(angle), k % 2 == 0 ? 0 : 3);
    }
  }
  const Triangles hull = convex_hull(points);
  expect_hull(points, hull);
  const double base = 0.5 * n * std::sin(2 * std::numbers::pi / n);
  EXPECT_NEAR(volume(points, hull), 3 * base, 1000 * kEps);
}

TEST(ConvexHull, EveryPointOfASphereIsACorner) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Points points;
  for (int i = 0; i < 800; ++i) {
    points.push_back(Vector3<double>(normal(random), normal(random), normal(random)).normalized());
  }
  const Triangles hull = convex_hull(points);
  expect_hull(points, hull);
  EXPECT_EQ(hull.size(), 2 * points.size() - 4);
  // Below the sphere by the flat faces, whose height is about their area.
  EXPECT_LT(volume(points, hull), 4 * std::numbers::pi / 3);
  EXPECT_GT(volume(points, hull), 0.97 * 4 * std::numbers::pi / 3);
}

TEST(ConvexHull, RandomPointsOfEveryKind) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<int> small(-2, 2);
  for (int trial = 0; trial < 60; ++trial) {
    Points points;
    const Vector3<double> far = Vector3<double>::Constant(trial % 4 == 3 ? 1e6 : 0);
    for (int i = 0; i < 20 + 5 * trial; ++i) {
      Vector3<double> p(uniform(random), uniform(random), uniform(random));
      if (trial % 3 == 1) p = Vector3<double>(small(random), small(random), small(random));
      if (trial % 3 == 2) p = p.cast<float>().cast<double>() * 0.001;
      points.push_back(p + far);
    }
    SCOPED_TRACE(trial);
    expect_hull(points, convex_hull(points));
  }
}

TEST(ConvexHull, IsTheSameForEveryOrder) {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Points points;
  for (int i = 0; i < 200; ++i) points.emplace_back(uniform(random), uniform(random), 0.1);
  points.emplace_back(0, 0, 1);
  const double expected = volume(points, convex_hull(points));
  Worst worst;
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(points.begin(), points.end(), random);
    worst.add(std::abs(volume(points, convex_hull(points)) - expected));
  }
  // Sums of about 30 volumes of order 0.1.
  EXPECT_LT(worst.value(), 30 * kEps);
}

TEST(ConvexHull, RefusesPointsWithoutVolume) {
  const auto message = [](const Points& points) -> std::string {
    try {
      (void)convex_hull(points);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  Points plane, line, one(5, Vector3<double>(1, 2, 3));
  for (int i = 0; i < 9; ++i) {
    plane.emplace_back(0.1 * (i % 3), 0.3 * (i / 3), 0.7 * (i % 3) - 0.2 * (i / 3));
    line.push_back(0.1 * i * Vector3<double>(1, 2, 3));
  }
  EXPECT_EQ(message(plane),
            "convex_hull: points is in one plane, expected points that enclose a volume");
  EXPECT_EQ(message(line),
            "convex_hull: points is on one line, expected points that enclose a volume");
  EXPECT_EQ(message(one),
            "convex_hull: points is one point, expected points that enclose a volume");
  EXPECT_EQ(message(Points(3, Vector3<double>(0, 0, 0))),
            "convex_hull: points is 3 points, expected at least 4");
  plane[4][1] = std::nan("");
  EXPECT_EQ(message(plane),
            "convex_hull: points[4] is [0.1, nan, 0.49999999999999994], expected finite numbers");
}

}  // namespace
}  // namespace limb
