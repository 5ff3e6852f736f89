// Collision detection: distances, points and normals in closed form and against sampling.
#include "limb/sim/contact/collide.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"

namespace limb {
namespace {

using Kind = ContactShape::Kind;
using Vec = Vector3<double>;

Pose<double> at(const Vec& p) {
  return {Matrix3<double>::Identity(), p};
}

TEST(CollisionPoints, KeepTheClosest) {
  CollisionPoints points;
  for (int i = 0; i < 20; ++i) points.add({Vec::Zero(), Vec::UnitZ(), (i * 7) % 20 / 10., i});
  ASSERT_EQ(points.size(), 16);  // the capacity
  Worst farthest;
  for (int i = 0; i < 16; ++i) farthest.add(points[i].gap);
  EXPECT_EQ(farthest.value(), 1.5);
  points.keep_nearest(3);
  ASSERT_EQ(points.size(), 3);
  // 0, 0.1 and 0.2 belong to i = 0, 3 and 6, in the order of addition.
  EXPECT_EQ(points[0].feature, 0);
  EXPECT_EQ(points[1].feature, 3);
  EXPECT_EQ(points[2].feature, 6);
  points.keep_nearest(5);
  EXPECT_EQ(points.size(), 3);
}

TEST(BoundingRadius, ContainsEachShape) {
  EXPECT_EQ(bounding_radius(Kind::sphere, {0.3, 0, 0}), 0.3);
  EXPECT_EQ(bounding_radius(Kind::capsule, {0.1, 0.6, 0}), 0.4);
  EXPECT_EQ(bounding_radius(Kind::cylinder, {0.3, 0.8, 0}), 0.5);
  EXPECT_EQ(bounding_radius(Kind::box, {2, 3, 6}), 3.5);
  EXPECT_EQ(bounding_radius(Kind::ellipsoid, {0.2, 0.5, 0.3}), 0.5);
}

// The lowest point of each shape above a plane, and points midway between the surfaces.
TEST(HalfSpace, LowestPointsOfEveryShape) {
  const Ground::HalfSpace floor{{0, 0, 1}, 0.2, {}};
  const Matrix3<double> R = axis_rotation(1, 0.5);
  const double s = std::sin(0.5), c = std::cos(0.5);
  struct Case {
    Kind kind;
    Vec size;
    double lowest;  ///< below the centre
  };
  for (const Case& x : {Case{Kind::sphere, {0.1, 0, 0}, 0.1},
                        {Kind::capsule, {0.1, 0.6, 0}, 0.1 + 0.3 * c},
                        {Kind::cylinder, {0.1, 0.6, 0}, 0.3 * c + 0.1 * s},
                        {Kind::box, {0.2, 0.4, 0.6}, 0.3 * c + 0.1 * s},
                        {Kind::ellipsoid, {0.1, 0.2, 0.3}, std::hypot(0.3 * c, 0.1 * s)}}) {
    CollisionPoints points;
    collide({x.kind, x.size, {R, {1, 2, 0.9}}}, floor, 10, points);
    ASSERT_GE(points.size(), 1);
    int best = 0;
    for (int i = 1; i < points.size(); ++i) best = points[i].gap < points[best].gap ? i : best;
    const double gap = 0.9 - 0.2 - x.lowest;
    EXPECT_NEAR(points[best].gap, gap, 1e-15);
    EXPECT_NEAR(points[best].p_W[2], 0.2 + gap / 2, 1e-15);
    EXPECT_EQ(points[best].n_W, Vec(0, 0, 1));
    // Beyond the margin there is nothing; at it there is.
    CollisionPoints far, near;
    collide({x.kind, x.size, {R, {1, 2, 0.9}}}, floor, gap - 1e-9, far);
    collide({x.kind, x.size, {R, {1, 2, 0.9}}}, floor, gap + 1e-9, near);
    EXPECT_EQ(far.size(), 0);
    EXPECT_GE(near.size(), 1);
  }
}

// An upright cylinder rests on four points of its rim, and a nearly upright one on the same.
TEST(HalfSpace, UprightCylinderHasFourPoints) {
  const Ground::HalfSpace floor{{0, 0, 1}, 0, {}};
  for (const double tilt : {0., 1e-5}) {
    CollisionPoints points;
    collide({Kind::cylinder, {0.1, 0.4, 0}, {axis_rotation(1, tilt), {0, 0, 0.2}}}, floor, 0.01,
            points);
    ASSERT_EQ(points.size(), 4);
    const Vec corners[] = {{0.1, 0, 0}, {0, 0.1, 0}, {-0.1, 0, 0}, {0, -0.1, 0}};
    for (int i = 0; i < 4; ++i) EXPECT_LT((points[i].p_W - corners[i]).norm(), 1e-5);
  }
}

// Outside: along the line to the nearest point. Inside: through the nearest face.
TEST(SphereAndBox, FaceEdgeCornerAndInside) {
  const PlacedShape box{Kind::box, {2, 4, 6}, at({0, 0, 0})};
  struct Case {
    Vec p, n;
    double distance;
  };
  const double r = 0.25, h = std::sqrt(0.5), t = 1 / std::sqrt(3.);
  for (const Case& x : {Case{{1.5, 0.3, -2}, {1, 0, 0}, 0.5},
                        {{-1.5, 0.3, -2}, {-1, 0, 0}, 0.5},
                        {{1.3, 2.3, 0}, {h, h, 0}, 0.3 * std::sqrt(2.)},
                        {{1.3, -2.3, 3.3}, {t, -t, t}, 0.3 * std::sqrt(3.)},
                        {{0.9, 0, 0}, {1, 0, 0}, -0.1},
                        {{-0.9, 0, 0}, {-1, 0, 0}, -0.1},
                        {{0.2, -1.8, 0}, {0, -1, 0}, -0.2},
                        {{0, 0, 2.9}, {0, 0, 1}, -0.1}}) {
    const PlacedShape ball{Kind::sphere, {r, 0, 0}, at(x.p)};
    CollisionPoints points, swapped, ground;
    collide(ball, box, 10, points);
    collide(box, ball, 10, swapped);
    collide(ball, Ground::Box{box.X_WS, box.size / 2, {}}, 10, ground);
    for (const CollisionPoints* found : {&points, &swapped, &ground}) {
      ASSERT_EQ(found->size(), 1);
      EXPECT_NEAR((*found)[0].gap, x.distance - r, 1e-15);
      EXPECT_LT(((*found)[0].n_W - (found == &swapped ? -1 : 1) * x.n).norm(), 1e-15);
      EXPECT_LT(((*found)[0].p_W - (x.p - (x.distance + r) / 2 * x.n)).norm(), 1e-15);
    }
  }
}

// The nearest points of two segments by sampling; the contact point is midway between the surfaces.
TEST(Capsules, NearestPointsOfRandomPairs) {
  int inner = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    testing::Random random(seed);
    const auto capsule = [&] {
      return PlacedShape{Kind::capsule,
                         {random.uniform(0.01, 0.1), random.uniform(0, 1), 0},
                         random.pose<double>(0.6)};
    };
    const PlacedShape a = capsule(), b = capsule();
    CollisionPoints points;
    collide(a, b, 10, points);
    ASSERT_EQ(points.size(), 1);
    const auto point = [](const PlacedShape& s, double t) {
      return Vec(s.X_WS * Vec(0, 0, (t - 0.5) * s.size[1]));
    };
    // For each point of a, the nearest of b in closed form.
    double nearest = 1e9, t_a = 0, t_b = 0;
    constexpr int n = 4000;
    for (int i = 0; i <= n; ++i) {
      const Vec p = point(a, double(i) / n);
      const double z = (b.X_WS.R.transpose() * (p - b.X_WS.p))[2];
      const double t = b.size[1] > 0 ? std::clamp(z / b.size[1] + 0.5, 0., 1.) : 0.5;
      const double distance = (p - point(b, t)).norm();
      if (distance >= nearest) continue;
      nearest = distance;
      t_a = double(i) / n;
      t_b = t;
    }
    SCOPED_TRACE(seed);
    const double gap = nearest - a.size[0] - b.size[0];
    // A step of the samples along a, 2.5e-4 m, shortens the distance quadratically.
    EXPECT_NEAR(points[0].gap, gap, 1e-5);
    EXPECT_LE(points[0].gap, gap + 1e-12);
    const Vec n_W = (point(a, t_a) - point(b, t_b)).normalized();
    if (nearest > 0.05) {
      EXPECT_LT((points[0].n_W - n_W).norm(), 1e-2);
      const Vec middle = point(b, t_b) + (b.size[0] + gap / 2) * n_W;
      EXPECT_LT((points[0].p_W - middle).norm(), 2e-3);
    }
    inner += t_a > 0 && t_a < 1 && t_b > 0 && t_b < 1 ? 1 : 0;
  }
  EXPECT_GT(inner, 20);  // neither at an end
}

// Parallel capsules touch along a line, the common part of their axes: its two ends. They stay the
// same when one capsule turns a little either way; crossed ones also touch between them.
TEST(Capsules, ParallelOnesTouchAtTheEndsOfTheirCommonPart) {
  const PlacedShape a{ContactShape::Kind::capsule, {0.1, 0.6, 0}, {}};
  for (const double angle : {0.0, 1e-5, -1e-5}) {
    const PlacedShape b{
        ContactShape::Kind::capsule, {0.1, 0.4, 0}, {axis_rotation(1, angle), {0.19, 0, 0.2}}};
    CollisionPoints points;
    collide(a, b, 0, points);
    ASSERT_EQ(points.size(), 2) << angle;
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(points[k].feature, 1 + k);
      EXPECT_NEAR(points[k].gap, -0.01, 1e-5);
      EXPECT_NEAR(points[k].p_W[2], k == 0 ? 0 : 0.3, 1e-5);
      EXPECT_NEAR(points[k].n_W[0], -1, 1e-5);
    }
  }
  // Crossed at 0.02 rad: at the ends, 0.3 m from the middle, the axes are 6 mm apart sideways.
  const PlacedShape b{
      ContactShape::Kind::capsule, {0.1, 0.6, 0}, {axis_rotation(0, 0.02), {0.19, 0, 0}}};
  CollisionPoints points;
  collide(a, b, 0, points);
  ASSERT_EQ(points.size(), 3);
  EXPECT_NEAR(points[2].gap, -0.01, 1e-12);
  EXPECT_GT(points[0].gap, points[2].gap + 5e-5);
}

// Two unit cubes whose edges cross: each turned by 45 degrees, one about x, the other about y.
TEST(Boxes, CrossingEdges) {
  const double r = std::sqrt(0.5);
  for (const double gap : {0.05, -0.05}) {
    const PlacedShape low{
        Kind::box, {1, 1, 1}, {axis_rotation(0, std::numbers::pi / 4), {0, 0, 0}}};
    const PlacedShape high{
        Kind::box, {1, 1, 1}, {axis_rotation(1, std::numbers::pi / 4), {0.1, 0.2, 2 * r + gap}}};
    CollisionPoints points;
    collide(high, low, 0.1, points);
    ASSERT_EQ(points.size(), 1);
    EXPECT_NEAR(points[0].gap, gap, 1e-14);
    EXPECT_LT((points[0].n_W - Vec(0, 0, 1)).norm(), 1e-14);
    // The edges are along x at y = 0, and along y at x = 0.1.
    EXPECT_LT((points[0].p_W - Vec(0.1, 0, r + gap / 2)).norm(), 1e-14);
  }
}

// A small box on a larger one: the four corners of the small face, midway.
TEST(Boxes, FaceOnFace) {
  const PlacedShape table{Kind::box, {4, 4, 1}, at({0, 0, -0.5})};
  const PlacedShape small{Kind::box, {0.4, 0.2, 0.3}, {axis_rotation(2, 0.3), {1, 0.5, 0.14}}};
  CollisionPoints points, below;
  collide(small, table, 0.1, points);
  collide(table, small, 0.1, below);
  ASSERT_EQ(points.size(), 4);
  ASSERT_EQ(below.size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(points[i].gap, -0.01, 1e-15);
    EXPECT_NEAR(points[i].p_W[2], -0.005, 1e-15);
    EXPECT_LT((points[i].n_W - Vec(0, 0, 1)).norm(), 1e-15);
    EXPECT_LT((below[i].n_W + Vec(0, 0, 1)).norm(), 1e-15);
    const Vec local = axis_rotation(2, 0.3).transpose() * (points[i].p_W - Vec(1, 0.5, 0));
    EXPECT_NEAR(std::abs(local[0]), 0.2, 1e-14);
    EXPECT_NEAR(std::abs(local[1]), 0.1, 1e-14);
  }
}

// Cylinders and ellipsoids against solids other than planes: the largest capsule or sphere inside.
TEST(InnerSolids, OfCylindersAndEllipsoids) {
  const PlacedShape wall{Kind::sphere, {0.1, 0, 0}, at({0, 0, 1})};
  const auto gap = [&](Kind kind, const Vec& size) {
    CollisionPoints points;
    collide({kind, size, at({0, 0, 0})}, wall, 10, points);
    return points[0].gap;
  };
  EXPECT_NEAR(gap(Kind::cylinder, {0.2, 0.8, 0}), 0.9 - 0.4, 1e-15);
  EXPECT_NEAR(gap(Kind::cylinder, {0.5, 0.4, 0}), 0.9 - 0.2, 1e-15);
  EXPECT_NEAR(gap(Kind::ellipsoid, {0.3, 0.2, 0.4}), 0.9 - 0.2, 1e-15);
  EXPECT_NEAR(gap(Kind::capsule, {0.1, 0.6, 0}), 0.9 - 0.4, 1e-15);
}

/// Distance of a point from a triangle, by sampling and refinement.
double sampled_distance(const Vec& p, const Vec& a, const Vec& b, const Vec& c) {
  double best = 1e9, u0 = 1. / 3, v0 = 1. / 3, size = 1;
  for (int level = 0; level < 12; ++level, size /= 4) {
    double u1 = u0, v1 = v0;
    for (int i = -8; i <= 8; ++i) {
      for (int j = -8; j <= 8; ++j) {
        const double u = std::clamp(u0 + size * i / 8, 0., 1.);
        const double v = std::clamp(v0 + size * j / 8, 0., 1. - u);
        const double d = (p - a - u * (b - a) - v * (c - a)).norm();
        if (d >= best) continue;
        best = d;
        u1 = u;
        v1 = v;
      }
    }
    u0 = u1;
    v0 = v1;
  }
  return best;
}

// A sphere above rough ground: the least gap is the distance from all its triangles.
TEST(HeightField, GapsOfSpheresAreDistancesFromItsTriangles) {
  int found = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    testing::Random random(seed);
    MatrixX<double> heights = MatrixX<double>::Zero(4, 5);
    for (auto& z : heights.reshaped()) z = random.uniform(0, 0.4);
    const Ground::HeightField field{{-0.5, 0.2}, {0.3, 0.25}, heights, {}};
    const double x = random.uniform(-0.5, 0.4), y = random.uniform(0.2, 1.2), r = 0.15;
    const Vec p(x, y, field.height(x, y) + random.uniform(0.02, 0.2));
    Least distances;
    const auto vertex = [&](int i, int j) {
      return Vec(-0.5 + 0.3 * i, 0.2 + 0.25 * j, heights(i, j));
    };
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        const Vec b = vertex(i + 1, j), c = vertex(i, j + 1);
        distances.add(sampled_distance(p, vertex(i, j), b, c),
                      sampled_distance(p, vertex(i + 1, j + 1), b, c));
      }
    }
    const double nearest = distances.value();
    CollisionPoints points;
    const double margin = 0.1;
    collide({Kind::sphere, {r, 0, 0}, at(p)}, field, margin, points);
    SCOPED_TRACE(seed);
    if (nearest - r > margin) {
      EXPECT_EQ(points.size(), 0);
      continue;
    }
    Least gap;
    for (int i = 0; i < points.size(); ++i) {
      gap.add(points[i].gap);
      // From its own contact point the centre is at r + gap / 2 along the normal.
      EXPECT_LT((points[i].p_W + (r + points[i].gap / 2) * points[i].n_W - p).norm(), 1e-14);
      EXPECT_GT(points[i].n_W[2], 0);
    }
    EXPECT_NEAR(gap.value(), nearest - r, 1e-6);
    ++found;
  }
  EXPECT_GT(found, 60);
}

// A box above two spikes: a point at each, on the face of the box, with features of their own.
TEST(HeightField, SpikesTouchTheFaceOfABox) {
  MatrixX<double> heights = MatrixX<double>::Zero(7, 7);
  heights(2, 3) = 0.5;
  heights(4, 3) = 0.48;
  heights(0, 0) = 0.5;  // not below the box
  const Ground::HeightField field{{0, 0}, {0.1, 0.1}, std::move(heights), {}};
  CollisionPoints points;
  collide({Kind::box, {0.35, 0.25, 0.2}, at({0.3, 0.3, 0.61})}, field, 0.04, points);
  ASSERT_EQ(points.size(), 2);
  EXPECT_NE(points[0].feature, points[1].feature);
  const double tops[] = {0.5, 0.48};
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(points[i].gap, 0.51 - tops[i], 1e-14);
    EXPECT_LT((points[i].n_W - Vec(0, 0, 1)).norm(), 1e-15);
    EXPECT_LT((points[i].p_W - Vec(i == 0 ? 0.2 : 0.4, 0.3, (0.51 + tops[i]) / 2)).norm(), 1e-14);
  }
}

// A ball in a valley of two faces touches both; below the surface it is pushed out.
TEST(HeightField, SpheresInValleysAndBelow) {
  MatrixX<double> heights = MatrixX<double>::Zero(3, 2);
  heights << 0.2, 0.2, 0, 0, 0.2, 0.2;
  const Ground::HeightField field{{-0.2, -1}, {0.2, 2}, std::move(heights), {}};
  CollisionPoints points;
  const double r = 0.05, h = std::sqrt(0.5);
  collide({Kind::sphere, {r, 0, 0}, at({0, 0.1, 0.08})}, field, 0.02, points);
  ASSERT_EQ(points.size(), 2);
  EXPECT_NE(points[0].feature, points[1].feature);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(points[i].gap, 0.08 * h - r, 1e-15);
    EXPECT_NEAR(std::abs(points[i].n_W[0]), h, 1e-15);
    EXPECT_NEAR(points[i].n_W[2], h, 1e-15);
  }
  EXPECT_NEAR(points[0].n_W[0] + points[1].n_W[0], 0, 1e-15);
  CollisionPoints below;
  collide({Kind::sphere, {r, 0, 0}, at({0.1, 0.1, 0.04})}, field, 0.02, below);
  ASSERT_EQ(below.size(), 1);
  EXPECT_NEAR(below[0].gap, -0.06 * h - r, 1e-15);
  EXPECT_LT((below[0].n_W - Vec(-h, 0, h)).norm(), 1e-15);
}

TEST(Ground, SolidsHaveTheirGeometryAndSurfaces) {
  // Descends along (3, 4), whatever its length.
  const Vec n = Ground::slope(0.3, {}, {3, 4}).half_spaces()[0].normal;
  EXPECT_LT((n - Vec(0.6 * std::sin(0.3), 0.8 * std::sin(0.3), std::cos(0.3))).norm(), 1e-15);
  const Ground stairs =
      Ground::stairs({.count = 3, .rise = 0.1, .run = 0.3, .width = 2, .begin = 0.5});
  ASSERT_EQ(stairs.boxes().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Ground::Box& box = stairs.boxes()[i];
    EXPECT_NEAR(box.X_WG.p[0] - box.half[0], 0.5 + 0.3 * double(i), 1e-15);
    // The landing begins with the last step and is five runs long.
    EXPECT_NEAR(box.X_WG.p[0] + box.half[0], 0.5 + 0.3 * 7, 1e-15);
    EXPECT_NEAR(box.X_WG.p[2] + box.half[2], 0.1 * double(i + 1), 1e-15);
    EXPECT_NEAR(box.X_WG.p[2] - box.half[2], 0, 1e-15);
    EXPECT_EQ(box.half[1], 1);
  }
  Ground mixed = Ground::plane({0.1, 0}, 0.7);
  EXPECT_EQ(mixed.half_spaces()[0].level, 0.7);
  mixed.add_height_field({0, 0}, {1, 1}, MatrixX<double>::Zero(2, 2), {0.4, 0});
  mixed.add_box(at({0, 0, 0}), {1, 1, 1}, {0.2, 0});
  mixed.add_half_space({0, 3, 4}, 2, {0.15, 0});
  mixed.add_box(at({0, 0, 0}), {1, 1, 1}, {0.3, 0});
  ASSERT_EQ(mixed.size(), 5);
  const double friction[] = {0.1, 0.15, 0.2, 0.3, 0.4};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(mixed.surface(i).friction, friction[i]);
  EXPECT_LT((mixed.half_spaces()[1].normal - Vec(0, 0.6, 0.8)).norm(), 1e-15);
}

// Collision geometry replaces the visual one of the same link; poses are in the frame of the body,
// also for links welded to it.
TEST(ShapesOf, UsesCollisionGeometryWhereThereIsAny) {
  RobotBuilder<double> robot("r");
  robot.link("arm", 1, {0, 0, 0}, Matrix3<double>::Identity());
  robot.link("hand", 1, {0, 0, 0}, Matrix3<double>::Identity());
  robot.joint("j", Joint<double>::revolute({0, 1, 0}), "world", "arm");
  robot.joint("weld", Joint<double>::fixed(), "arm", "hand", at({0, 0, 0.5}));
  Description<double> description = robot.description();
  const auto geometry = [](Geometry::Shape shape, Geometry::Role role, double size) {
    Geometry g;
    g.shape = shape;
    g.role = role;
    g.size = {size, size, size};
    g.X_LG.p = {0.1, 0, 0};
    return g;
  };
  using Shape = Geometry::Shape;
  using Role = Geometry::Role;
  for (auto& link : description.links) {
    if (link.name == "arm") {
      link.geometry = {geometry(Shape::box, Role::visual, 1),
                       geometry(Shape::sphere, Role::collision, 2),
                       geometry(Shape::mesh, Role::collision, 3)};
    }
    if (link.name == "hand") link.geometry = {geometry(Shape::cylinder, Role::visual, 4)};
  }
  std::vector<std::string> left_out;
  const auto shapes = shapes_of(description, build_model(description), &left_out);
  EXPECT_EQ(left_out, std::vector<std::string>{"arm"});
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(shapes[0].kind, Kind::sphere);
  EXPECT_EQ(shapes[0].name, "arm");
  EXPECT_EQ(shapes[0].size[0], 2);
  EXPECT_LT((shapes[0].X_BS.p - Vec(0.1, 0, 0)).norm(), 1e-15);
  EXPECT_EQ(shapes[1].kind, Kind::cylinder);
  EXPECT_EQ(shapes[1].name, "hand");
  EXPECT_EQ(shapes[1].body, shapes[0].body);
  EXPECT_LT((shapes[1].X_BS.p - Vec(0.1, 0, 0.5)).norm(), 1e-15);
}

}  // namespace
}  // namespace limb
