// Convex hulls of meshes in contact: distances against those of boxes, whose closed forms are
// tested in collide_test.cpp, choice of contact points, and motion against that of a box.
#include "limb/sim/contact/collide_mesh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <set>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/contact/contact_manifold.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Kind = ContactShape::Kind;
using testing::message;
using testing::Random;
using Vec = Vector3<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
const Vec kEdges(0.2, 0.12, 0.1);

std::vector<Vec> box_corners(const Vec& edges, const Vec& centre = Vec::Zero()) {
  std::vector<Vec> corners;
  for (int k = 0; k < 8; ++k) {
    corners.push_back(
        centre + 0.5 * edges.cwiseProduct(Vec(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1)));
  }
  return corners;
}
PlacedShape placed(const MeshHull& hull, const Pose<double>& X) {
  return {Kind::mesh, hull.size, X, &hull};
}
PlacedShape box_at(const Pose<double>& X) {
  return {Kind::box, kEdges, X};
}
Pose<double> random_pose(Random& random, double distance) {
  Pose<double> X;
  X.R = axis_rotation<double>(0, random.uniform(-3, 3)) *
        axis_rotation<double>(1, random.uniform(-3, 3)) *
        axis_rotation<double>(2, random.uniform(-3, 3));
  for (auto& x : X.p) x = random.uniform(-distance, distance);
  return X;
}
const CollisionPoint* deepest(const CollisionPoints& points) {
  const CollisionPoint* best = nullptr;
  for (int i = 0; i < points.size(); ++i) {
    if (best == nullptr || points[i].gap < best->gap) best = &points[i];
  }
  return best;
}

TEST(MeshHull, OfABoxIsTheBox) {
  std::vector<Vec> points = box_corners(kEdges, {1, 2, 3});
  Random random(1);
  for (int i = 0; i < 200; ++i) {  // points inside do not count
    points.push_back(Vec(1, 2, 3) +
                     0.5 * kEdges.cwiseProduct(Vec(random.uniform(-1, 1), random.uniform(-1, 1),
                                                   random.uniform(-1, 1))));
  }
  const MeshHull hull = make_hull(points);
  EXPECT_EQ(hull.vertices.cols(), 8);
  EXPECT_EQ(hull.triangles.size(), 12u);
  EXPECT_LT((hull.centre - Vec(1, 2, 3)).norm(), 10 * kEps);
  EXPECT_LT((hull.size - kEdges).norm(), 10 * kEps);
  // Distances to a box: to the nearest point outside, to the nearest face inside.
  Worst distance, normal;
  for (int i = 0; i < 1000; ++i) {
    const Vec p(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2));
    const Vec outside = p - p.cwiseMax(-kEdges / 2).cwiseMin(kEdges / 2);
    const bool inside = outside.norm() == 0;
    const double expected =
        inside ? (p.cwiseAbs() - kEdges / 2).maxCoeff<Eigen::PropagateNaN>() : outside.norm();
    const MeshHull::Nearest found = hull.nearest(p, 1);
    distance.add(std::abs(found.distance - expected));
    normal.add((p - found.distance * found.normal - found.p).norm());
  }
  EXPECT_LT(distance.value(), 10 * kEps);  // coordinates near 3 were rounded
  EXPECT_LT(normal.value(), 10 * kEps);
  EXPECT_GT(hull.nearest({1, 0, 0}, 0.1).distance, 0.1);
}

TEST(MeshHull, OfARoundMeshIsReduced) {
  Random random(2);
  std::vector<Vec> points;
  for (int i = 0; i < 3000; ++i) {
    points.push_back(0.1 * Vec(random.normal(), random.normal(), random.normal()).normalized());
  }
  const MeshHull hull = make_hull(points);
  EXPECT_LE(hull.vertices.cols(), MeshHull::kMaxVertices);
  EXPECT_GE(hull.vertices.cols(), 200);
  Worst inward;
  for (int i = 0; i < 1000; ++i) {
    const Vec p = 0.1 * Vec(random.normal(), random.normal(), random.normal()).normalized();
    inward.add(hull.nearest(p - hull.centre, 1).distance);
  }
  // No point of the sphere is farther than 0.2 rad from a vertex: 1 - cos 0.2 = 2 %.
  EXPECT_LT(inward.value(), 0.1 * 0.02);
  // A fine round plate keeps its flat sides: with 500 corners at each rim.
  points.clear();
  for (int i = 0; i < 500; ++i) {
    const double angle = 2 * std::numbers::pi * i / 500;
    for (const double z : {-0.02, 0.02}) {
      points.emplace_back(0.1 * std::cos(angle), 0.1 * std::sin(angle), z);
    }
  }
  const MeshHull plate = make_hull(points);
  EXPECT_LE(plate.vertices.cols(), MeshHull::kMaxVertices);
  CollisionPoints contact;
  collide(placed(plate, {}), Ground::HalfSpace{{0, 0, 1}, -0.02, {}}, 1e-4, contact);
  ASSERT_EQ(contact.size(), 8);
  Worst off;
  for (int i = 0; i < 8; ++i) off.add(std::abs(contact[i].gap));
  EXPECT_LT(off.value(), 10 * kEps);
}

TEST(HullLibrary, ReadsEachFileOnceAndSaysWhyNot) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("t.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder.file("flat.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\n";
  std::ofstream(folder.file("t.dae")) << "<COLLADA/>";
  HullLibrary library;
  Geometry mesh;
  mesh.shape = Geometry::Shape::mesh;
  mesh.mesh_path = folder.file("t.obj");
  mesh.mesh_scale = {2, 3, -4};
  const auto hull = library.find(mesh);
  ASSERT_NE(hull, nullptr);
  EXPECT_EQ(hull->size, Vec(2, 3, 4));
  EXPECT_EQ(hull->centre, Vec(1, 1.5, -2));
  EXPECT_EQ(library.find(mesh), hull);
  // A quarter turn about z before the scale: x becomes y.
  mesh.X_GM = {axis_rotation<double>(2, std::numbers::pi / 2), {0, 0, 1}};
  const auto turned = library.find(mesh);
  ASSERT_NE(turned, nullptr);
  EXPECT_NE(turned, hull);
  EXPECT_LT((turned->centre - Vec(-1, 1.5, -6)).norm(), 10 * kEps);
  // The same from vertices.
  mesh.mesh_path.clear();
  mesh.mesh_vertices = std::make_shared<std::vector<Vec>>(
      std::vector<Vec>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  EXPECT_EQ(library.find(mesh)->centre, turned->centre);
  const auto why = [&](const std::string& path) {
    Geometry g;
    g.mesh_path = path;
    std::string text;
    EXPECT_EQ(library.find(g, &text), nullptr);
    return text;
  };
  EXPECT_EQ(why(""), "the file was not found");
  EXPECT_NE(why(folder.file("t.dae")).find("dae"), std::string::npos);
  EXPECT_NE(why(folder.file("flat.obj")).find("in one plane"), std::string::npos);
}

// Deepest points of a mesh of a box and of the box.
TEST(CollideMesh, AgreesWithBoxesOnPlanes) {
  const MeshHull hull = make_hull(box_corners(kEdges));
  Random random(3);
  Worst gap;
  int touching = 0;
  for (int i = 0; i < 2000; ++i) {
    const Pose<double> X = random_pose(random, 0.15);
    const Ground::HalfSpace floor{
        Vec(random.normal(), random.normal(), random.normal()).normalized(),
        random.uniform(-0.05, 0.05),
        {}};
    CollisionPoints mesh, box;
    collide(placed(hull, X), floor, 0.01, mesh);
    collide(box_at(X), floor, 0.01, box);
    ASSERT_EQ(mesh.size() > 0, box.size() > 0);
    if (mesh.size() == 0) continue;
    ++touching;
    gap.add(std::abs(deepest(mesh)->gap - deepest(box)->gap));
    for (int k = 0; k < mesh.size(); ++k) {
      // On the plane, midway to the vertex.
      const Vec vertex = X * Vec(hull.vertices.col(mesh[k].feature));
      gap.add((mesh[k].p_W - (vertex - mesh[k].gap / 2 * floor.normal)).norm());
      gap.add(std::abs(mesh[k].gap - (floor.normal.dot(vertex) - floor.level)));
    }
  }
  EXPECT_GT(touching, 500);
  EXPECT_LT(gap.value(), 10 * kEps);
}

TEST(CollideMesh, AgreesWithBoxesOnSpheresAndCapsules) {
  const MeshHull hull = make_hull(box_corners(kEdges));
  Random random(4);
  Worst difference;
  int spheres = 0, capsules = 0;
  for (int i = 0; i < 4000; ++i) {
    const Pose<double> X = random_pose(random, 0.1), Y = random_pose(random, 0.1);
    for (const bool first : {true, false}) {
      const PlacedShape sphere{Kind::sphere, {0.03, 0, 0}, Y};
      CollisionPoints mesh, box;
      const auto both = [&](const PlacedShape& other) {
        mesh.clear();
        box.clear();
        if (first) {
          collide(placed(hull, X), other, 0.01, mesh);
          collide(box_at(X), other, 0.01, box);
        } else {
          collide(other, placed(hull, X), 0.01, mesh);
          collide(other, box_at(X), 0.01, box);
        }
      };
      both(sphere);
      ASSERT_EQ(mesh.size(), box.size());
      if (mesh.size() > 0) {
        ++spheres;
        difference.add(std::abs(mesh[0].gap - box[0].gap));
        difference.add((mesh[0].p_W - box[0].p_W).norm());
        difference.add((mesh[0].n_W - box[0].n_W).norm());
      }
      both({Kind::capsule, {0.03, 0.2, 0}, Y});
      if (mesh.size() == 0) continue;
      ++capsules;
      // Its ends are spheres.
      for (int k = 0; k < mesh.size(); ++k) {
        for (int j = 0; j < box.size(); ++j) {
          if (mesh[k].feature < 2 && mesh[k].feature == box[j].feature) {
            difference.add(std::abs(mesh[k].gap - box[j].gap));
          }
        }
      }
    }
  }
  EXPECT_GT(spheres, 500);
  EXPECT_GT(capsules, 500);
  EXPECT_LT(difference.value(), 100 * kEps);  // normals over distances of a few mm
}

// A capsule across a box, longer than it: two points, above the edges of its top.
TEST(CollideMesh, CapsuleAcrossAFlatFaceHasTwoPoints) {
  const MeshHull hull = make_hull(box_corners(kEdges));
  const Pose<double> X{axis_rotation<double>(1, std::numbers::pi / 2), {0.01, 0, 0.05 + 0.029}};
  CollisionPoints points;
  collide(PlacedShape{Kind::capsule, {0.03, 0.6, 0}, X}, placed(hull, {}), 1e-3, points);
  ASSERT_EQ(points.size(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(points[i].gap, -1e-3, 1e-5);
    EXPECT_LT((points[i].n_W - Vec::UnitZ()).norm(), 1e-3);
    EXPECT_NEAR(std::abs(points[i].p_W[0]), 0.1, 2e-5);
  }
  EXPECT_LT(points[0].p_W[0] * points[1].p_W[0], 0);
}

// A small box on a large one and the other way round: the four corners of the small one.
TEST(CollideMesh, FacesOfMeshesAndBoxes) {
  const MeshHull hull = make_hull(box_corners(kEdges));
  const Vec large(1, 1, 0.2), small(0.05, 0.04, 0.06);
  Random random(5);
  Worst gap;
  for (int i = 0; i < 300; ++i) {
    const double yaw = random.uniform(-3, 3), depth = random.uniform(-1e-3, 1e-4);
    const Matrix3<double> R = axis_rotation<double>(2, yaw);
    const Pose<double> X{R, {random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0.15 + depth}};
    CollisionPoints points;
    collide(placed(hull, X), Ground::Box{{}, large / 2, {}}, 2e-4, points);
    ASSERT_EQ(points.size(), 4);
    for (int k = 0; k < 4; ++k) {
      gap.add(std::abs(points[k].gap - depth));
      gap.add((points[k].n_W - Vec::UnitZ()).norm());
    }
    // A small box under the mesh, as shapes in both orders.
    const PlacedShape below{Kind::box, small, {R, {0.01, 0.02, -0.08 - depth}}};
    for (const bool first : {true, false}) {
      points.clear();
      if (first) {
        collide(placed(hull, {}), below, 2e-4, points);
      } else {
        collide(below, placed(hull, {}), 2e-4, points);
      }
      ASSERT_EQ(points.size(), 4);
      for (int k = 0; k < 4; ++k) {
        gap.add(std::abs(points[k].gap - depth));
        gap.add((points[k].n_W - (first ? 1 : -1) * Vec::UnitZ()).norm());
      }
    }
  }
  EXPECT_LT(gap.value(), 100 * kEps);
  // Two meshes do not touch.
  CollisionPoints none;
  collide(placed(hull, {}), placed(hull, {}), 1, none);
  EXPECT_EQ(none.size(), 0);
}

TEST(CollideMesh, HeightFields) {
  const MeshHull hull = make_hull(box_corners(kEdges));
  Ground ground;
  MatrixX<double> heights = MatrixX<double>::Constant(21, 21, 0.3);
  ground.add_height_field({-1, -1}, {0.1, 0.1}, heights);
  heights(10, 10) = 0.32;  // a peak of 2 cm in the middle
  ground.add_height_field({-1, -1}, {0.1, 0.1}, heights);
  Random random(6);
  Worst gap;
  for (int i = 0; i < 300; ++i) {
    const Pose<double> X{
        axis_rotation<double>(2, random.uniform(-3, 3)) *
            axis_rotation<double>(0, random.uniform(-0.4, 0.4)),
        {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), random.uniform(0.33, 0.4)}};
    CollisionPoints plane, field;
    collide(placed(hull, X), Ground::HalfSpace{{0, 0, 1}, 0.3, {}}, 1e-3, plane);
    collide(placed(hull, X), ground.height_fields()[0], 1e-3, field);
    ASSERT_EQ(plane.size() > 0, field.size() > 0);
    if (plane.size() > 0) gap.add(std::abs(deepest(plane)->gap - deepest(field)->gap));
  }
  EXPECT_LT(gap.value(), 10 * kEps);
  // A face on the peak: the vertex of the field is in the box, and no vertex of the box is below
  // the field.
  CollisionPoints points;
  collide(placed(hull, {Matrix3<double>::Identity(), {0.02, 0.01, 0.369}}),
          ground.height_fields()[1], 1e-4, points);
  ASSERT_EQ(points.size(), 1);
  EXPECT_NEAR(points[0].gap, -1e-3, 10 * kEps);
  EXPECT_LT((points[0].n_W - Vec::UnitZ()).norm(), 10 * kEps);
  EXPECT_LT((points[0].p_W - Vec(0, 0, 0.3195)).norm(), 10 * kEps);
}

// Eight of many vertices in a plane are kept, spread over its boundary; noise far below the
// allowed overlap does not change which ones.
TEST(ContactManifold, KeepsTheSameSpreadPoints) {
  const int n = 160;
  std::set<int> first;
  for (int trial = 0; trial < 20; ++trial) {
    Random random(static_cast<unsigned>(trial));
    ContactManifold manifold;
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * std::numbers::pi * i / n;
      const double noise = trial == 0 ? 0 : 1e-9;
      manifold.add({Vec(std::cos(angle) + noise * random.normal(),
                        std::sin(angle) + noise * random.normal(), 0),
                    Vec::UnitZ(), noise * random.normal(), i});
      manifold.add({Vec(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0), Vec::UnitZ(),
                    noise * random.normal(), n + i});  // inside
    }
    CollisionPoints points;
    manifold.select(points);
    ASSERT_EQ(points.size(), 8);
    std::set<int> features;
    double area = 0;
    for (int k = 0; k < 8; ++k) {
      features.insert(points[k].feature);
      const Vec a = points[k].p_W, b = points[(k + 1) % 8].p_W;
      area += a.cross(b)[2] / 2;
    }
    EXPECT_LT(*features.rbegin(), n);
    EXPECT_GT(area, 0.85 * std::numbers::pi);  // of a regular octagon 0.90
    if (trial == 0) first = features;
    EXPECT_EQ(features, first);
  }
  // Points in a line; points with two normals; a higher point is not worth it.
  const auto selected = [](std::initializer_list<CollisionPoint> points) {
    ContactManifold manifold;
    for (const CollisionPoint& p : points) manifold.add(p);
    CollisionPoints result;
    manifold.select(result);
    std::vector<int> features;
    for (int k = 0; k < result.size(); ++k) features.push_back(result[k].feature);
    return features;
  };
  const Vec z = Vec::UnitZ(), x = Vec::UnitX();
  EXPECT_EQ(selected({{{0, 0, 0}, z, 0, 0},
                      {{1, 0, 0}, z, 0, 1},
                      {{2, 0, 0}, z, 0, 2},
                      {{-1, 0, 0}, z, 0, 3}}),
            (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(selected({{{0, 0, 0}, z, 0, 4}, {{0, 0, 1}, x, 0, 2}}), (std::vector<int>{4, 2}));
  EXPECT_EQ(selected({{{0, 0, 0}, z, 0, 0}, {{0.01, 0, 0}, z, 0.005, 1}}), (std::vector<int>{0}));
}

/// A box of 1 kg with one shape.
struct Body {
  Body(const Ground& ground, ContactShape shape) : world(model()) {
    shape.name = "body";
    shape.body = BodyId(1);
    world.set_contact({ground, {std::move(shape)}, {}});
    simulation = std::make_unique<Simulation>(world, SimulationOptions{.step = 1e-3});
  }
  static Model<double> model() {
    RobotBuilder<double> robot("body");
    const Vec s = kEdges.cwiseAbs2() / 12;
    robot.link("body", 1, {0, 0, 0}, Vec(s[1] + s[2], s[0] + s[2], s[0] + s[1]).asDiagonal());
    robot.joint("free", Joint<double>::free(), "world", "body");
    return robot.build();
  }
  void start(const Pose<double>& X, const VectorX<double>& v) {
    VectorX<double> q(7);
    q << X.p, quaternion_from_matrix(X.R).xyzw();
    simulation->set_state(0, q, v);
  }
  World world;
  std::unique_ptr<Simulation> simulation;
};
ContactShape mesh_shape() {
  ContactShape shape;
  shape.kind = Kind::mesh;
  shape.hull = std::make_shared<MeshHull>(make_hull(box_corners(kEdges)));
  shape.size = shape.hull->size;
  return shape;
}
ContactShape box_shape() {
  ContactShape shape;
  shape.kind = Kind::box;
  shape.size = kEdges;
  return shape;
}

// Thrown onto a plane, a mesh of a box moves as the box does, which has the same contact points.
TEST(MeshMotion, OfABoxIsThatOfTheBox) {
  VectorX<double> v(6);
  v << 0.3, -0.2, 0, 0.5, 0.7, -0.4;
  const Pose<double> X{axis_rotation<double>(0, 0.3) * axis_rotation<double>(1, 0.2), {0, 0, 0.2}};
  Body mesh(Ground::plane({0.6, 0}), mesh_shape()), box(Ground::plane({0.6, 0}), box_shape());
  for (Body* body : {&mesh, &box}) {
    body->start(X, v);
    body->simulation->run_until(3);
  }
  const auto& q = mesh.simulation->state().q;
  EXPECT_NEAR(q[2], kEdges[2] / 2, 2e-5);  // the allowed overlap is 1e-5
  EXPECT_LT(mesh.simulation->state().v.norm(), 1e-9);
  // Rounding errors grow at each impact; the solver's tolerance is 1e-10 m/s.
  EXPECT_LT((q - box.simulation->state().q).norm(), 1e-6);
  double weight = 0;
  for (const ContactPoint& point : mesh.world.contacts()->points()) weight += point.force_W[2];
  EXPECT_NEAR(weight, 9.81, 1e-6);
}

TEST(MeshMotion, SlidesToTheDistanceOfCoulombAndKeepsItsPoints) {
  Ground box;
  box.add_box({Matrix3<double>::Identity(), {0, 0, -0.5}}, {4, 4, 1}, {0.2, 0});
  Ground field;
  field.add_height_field({-2, -2}, {0.5, 0.5}, MatrixX<double>::Zero(9, 9), {0.2, 0});
  for (const Ground& ground : {Ground::plane({0.2, 0}), box, field}) {
    Body body(ground, mesh_shape());
    VectorX<double> v(6);
    v << 1.5, 0.4, 0, 0, 0, 0;
    body.start({Matrix3<double>::Identity(), {-0.5, 0, 0.05}}, v);
    body.simulation->run_until(0.01);
    const auto features = [&] {
      std::set<int> result;
      for (const ContactPoint& c : body.world.contacts()->points()) {
        if (c.feature < MeshHull::kMaxVertices) result.insert(c.feature);
      }
      return result;
    };
    const auto first = features();
    EXPECT_EQ(first.size(), 4u);
    for (int i = 2; i <= 150; ++i) {
      body.simulation->run_until(0.01 * i);
      ASSERT_EQ(features(), first) << "step " << i;
    }
    EXPECT_LT(body.simulation->state().v.norm(), 1e-9);
    const auto& q = body.simulation->state().q;
    EXPECT_NEAR(std::hypot(q[0] + 0.5, q[1]), (1.5 * 1.5 + 0.4 * 0.4) / (2 * 0.2 * 9.81),
                2e-3);                           // first order in the step
    if (!testing::kCountsAllocations) continue;  // sanitizers replace the allocator
    EXPECT_EQ(testing::allocations([&] { body.simulation->run_until(1.6); }), 0);
  }
}

TEST(MeshMotion, NeedsAHull) {
  ContactShape shape = mesh_shape();
  shape.hull.reset();
  EXPECT_NE(message([&] { Body(Ground::plane(), shape); }).find(".hull is null"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
