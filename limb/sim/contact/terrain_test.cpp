// Terrain and solids: distances against sampling, single bodies at rest on every kind of ground,
// and self-contact.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limb/base/testing/step_limit.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Kind = ContactShape::Kind;

Model<double> free_body() {
  RobotBuilder<double> robot("body");
  robot.link("body", 1, {0, 0, 0}, 4e-3 * Matrix3<double>::Identity());
  robot.joint("free", Joint<double>::free(), "world", "body");
  return robot.build();
}

struct Rest {
  Vector q, v;
  double penetration = 0, residual = 0, force = 0;
  int touching = 0;
};

/// A body of 1 kg, some seconds after its release at a pose.
Rest drop_to_rest(const Ground& ground, Kind kind, const Vector3<double>& size,
                  const Pose<double>& X, double seconds = 3) {
  World world(free_body());
  ContactShape shape;
  shape.name = "body";
  shape.body = BodyId(1);
  shape.kind = kind;
  shape.size = size;
  world.set_contact({ground, {shape}, {}});
  Simulation simulation(world, {.step = 1e-3});
  Vector q(7);
  q << X.p, quaternion_from_matrix(X.R).xyzw();
  simulation.set_state(0, q, Vector::Zero(6));
  Rest rest;
  for (testing::StepLimit limit(1'000'000); limit.next() && simulation.state().t < seconds;) {
    simulation.run_until(simulation.state().t + 1e-3);
    rest.penetration = worse(rest.penetration, world.contacts()->report().penetration);
    rest.residual = worse(rest.residual, world.contacts()->report().residual);
  }
  rest.q = simulation.state().q;
  rest.v = simulation.state().v;
  rest.touching = world.contacts()->report().touching;
  for (const ContactPoint& c : world.contacts()->points()) rest.force += c.force_W[2];
  return rest;
}

struct SolidCase {
  const char* name;
  Kind kind;
  Vector3<double> size;
  double turn;    ///< rad, about y at its release
  double height;  ///< of its origin at rest on level ground
};
const SolidCase kSolids[] = {
    {"sphere", Kind::sphere, {0.05, 0, 0}, 0, 0.05},
    {"lying capsule", Kind::capsule, {0.04, 0.2, 0}, 1.5707963267948966, 0.04},
    {"box", Kind::box, {0.2, 0.12, 0.1}, 0.1, 0.05},
};

TEST(Terrain, EverySolidComesToRestOnLevelGroundOfEveryKind) {
  Ground box;
  box.add_box({Matrix3<double>::Identity(), {0, 0, -0.5}}, {2, 2, 1});
  Ground field;
  field.add_height_field({-1, -1}, {0.07, 0.09}, MatrixX<double>::Zero(31, 25));
  const std::pair<const char*, Ground> grounds[] = {
      {"plane", Ground::plane()}, {"box", box}, {"height field", field}};
  for (const auto& [name, ground] : grounds) {
    for (const SolidCase& s : kSolids) {
      SCOPED_TRACE(std::string(s.name) + " on " + name);
      const Rest rest =
          drop_to_rest(ground, s.kind, s.size, {axis_rotation(1, s.turn), {0.01, 0.02, 0.25}});
      EXPECT_NEAR(rest.q[2], s.height, 2e-5);  // slop 1e-5
      EXPECT_LT(rest.v.norm(), 1e-6);
      EXPECT_NEAR(rest.force, 9.81, 1e-4);
      EXPECT_LT(rest.penetration, 1e-3);
    }
  }
}

TEST(Terrain, CylinderAndEllipsoidRestOnAPlane) {
  const Rest standing = drop_to_rest(Ground::plane(), Kind::cylinder, {0.05, 0.1, 0},
                                     {axis_rotation(1, 0.2), {0, 0, 0.2}});
  EXPECT_NEAR(standing.q[2], 0.05, 2e-5);
  EXPECT_LT(standing.v.norm(), 1e-6);
  const Rest lying = drop_to_rest(Ground::plane(), Kind::cylinder, {0.05, 0.3, 0},
                                  {axis_rotation(1, 1.4), {0, 0, 0.3}});
  EXPECT_NEAR(lying.q[2], 0.05, 2e-5);
  const Rest egg = drop_to_rest(Ground::plane(), Kind::ellipsoid, {0.1, 0.08, 0.05},
                                {Matrix3<double>::Identity(), {0, 0, 0.1}});
  EXPECT_NEAR(egg.q[2], 0.05, 2e-5);
}

TEST(Terrain, BoxRestsOnTheEdgeOfAStep) {
  // Half over the first tread: its face rests on the edge, away from the corners of the box.
  const Ground ground =
      Ground::stairs({.count = 3, .rise = 0.1, .run = 0.3, .width = 2, .begin = 0});
  const Rest rest = drop_to_rest(ground, Kind::box, {0.4, 0.2, 0.04},
                                 {axis_rotation(1, -0.35), {0.0, 0, 0.15}}, 4);
  EXPECT_LT(rest.penetration, 1e-3);
  EXPECT_LT(rest.v.norm(), 1e-5);
  EXPECT_NEAR(rest.force, 9.81, 1e-3);
  EXPECT_GE(rest.touching, 2);
}

/// Heights a x + b y + c x y at the corners of cells of 0.3 m x 0.2 m.
Ground saddle(double a, double b, double c) {
  MatrixX<double> heights = MatrixX<double>::Zero(5, 8);
  const Vector2<double> corner(-0.5, -0.9), cell(0.3, 0.2);
  for (Eigen::Index i = 0; i < heights.rows(); ++i) {
    for (Eigen::Index j = 0; j < heights.cols(); ++j) {
      const double x = corner[0] + double(i) * cell[0], y = corner[1] + double(j) * cell[1];
      heights(i, j) = a * x + b * y + c * x * y;
    }
  }
  Ground ground;
  ground.add_height_field(corner, cell, std::move(heights));
  return ground;
}

// In a cell the heights a x + b y + c x y are replaced by two triangles, below and above the
// diagonal from (1, 0) to (0, 1): they differ by c times the product of the distances from the
// edges through the corner (0, 0) or (1, 1), and have the gradient of these edges.
TEST(HeightField, IsTwoTrianglesPerCellOfASaddle) {
  const double a = 0.3, b = -0.7, c = 1.1, hx = 0.3, hy = 0.2;
  const Ground ground = saddle(a, b, c);
  const Ground::HeightField& field = ground.height_fields()[0];
  testing::Random random(3);
  int below = 0, above = 0;
  for (int k = 0; k < 2000; ++k) {
    const double x = random.uniform(-0.5, 0.7), y = random.uniform(-0.9, 0.5);
    const double x0 = -0.5 + hx * std::floor((x + 0.5) / hx);
    const double y0 = -0.9 + hy * std::floor((y + 0.9) / hy);
    const bool low = (x - x0) / hx + (y - y0) / hy < 1;
    const double px = low ? x0 : x0 + hx, py = low ? y0 : y0 + hy;  // the corner with right angle
    Vector3<double> n;
    const double z = field.height(x, y, &n);
    EXPECT_NEAR(z, a * x + b * y + c * (x * y - (x - px) * (y - py)), 1e-14);
    EXPECT_EQ(z, field.height(x, y));
    EXPECT_LT((n - Vector3<double>(-a - c * py, -b - c * px, 1).normalized()).norm(), 2e-14);
    ++(low ? below : above);
  }
  EXPECT_GT(std::min(below, above), 800);
  // Edges and corners of cells, where the saddle is straight; the last ones belong to the grid.
  for (int i = 0; i <= 4; ++i) {
    for (int j = 0; j <= 7; ++j) {
      const double x = -0.5 + hx * i, y = -0.9 + hy * j;
      EXPECT_NEAR(field.height(x, y), a * x + b * y + c * x * y, 1e-14);
      if (i < 4) {
        const double u = x + 0.1;
        EXPECT_NEAR(field.height(u, y), a * u + b * y + c * u * y, 1e-14);
      }
      if (j < 7) {
        const double v = y + 0.15;
        EXPECT_NEAR(field.height(x, v), a * x + b * v + c * x * v, 1e-14);
      }
    }
  }
  // Outside, the height of the nearest point of the grid.
  EXPECT_NEAR(field.height(-3, 0.1), field.height(-0.5, 0.1), 1e-14);
  EXPECT_NEAR(field.height(3, 0.1), field.height(0.7, 0.1), 1e-14);
  EXPECT_NEAR(field.height(0.2, -5), field.height(0.2, -0.9), 1e-14);
  EXPECT_NEAR(field.height(0.2, 5), field.height(0.2, 0.5), 1e-14);
}

// A field whose heights are those of a plane that rises in x and y: spheres, capsules and boxes
// have the contact points of that plane.
TEST(HeightField, OfAnObliquePlaneCollidesLikeAHalfSpace) {
  const double a = 0.3, b = -0.7;
  const Ground ground = saddle(a, b, 0);
  const Ground::HeightField& field = ground.height_fields()[0];
  const Vector3<double> normal = Vector3<double>(-a, -b, 1).normalized();
  const Ground::HalfSpace plane{normal, 0, {}};
  int found = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    testing::Random random(seed);
    const Kind kind = seed % 3 == 0 ? Kind::sphere : seed % 3 == 1 ? Kind::capsule : Kind::box;
    const Vector3<double> size =
        kind == Kind::box ? Vector3<double>(0.08, 0.06, 0.05) : Vector3<double>(0.04, 0.06, 0);
    PlacedShape shape{kind, size, random.pose<double>(0)};
    const double x = random.uniform(-0.3, 0.5), y = random.uniform(-0.7, 0.3);
    shape.X_WS.p = Vector3<double>(x, y, a * x + b * y) + random.uniform(0, 0.1) * normal;
    CollisionPoints on_field, on_plane;
    const double margin = 0.02;
    collide(shape, field, margin, on_field);
    collide(shape, plane, margin, on_plane);
    SCOPED_TRACE(seed);
    ASSERT_EQ(on_field.size() > 0, on_plane.size() > 0);
    if (on_plane.size() == 0) continue;
    ++found;
    // The deepest point is the same; corners of the field in a box come in addition.
    const auto deepest = [](const CollisionPoints& points) {
      int best = 0;
      for (int i = 1; i < points.size(); ++i) {
        if (points[i].gap < points[best].gap) best = i;
      }
      return points[best];
    };
    const CollisionPoint p = deepest(on_field), q = deepest(on_plane);
    EXPECT_NEAR(p.gap, q.gap, 1e-14);
    EXPECT_LT((p.n_W - q.n_W).norm(), 1e-12);
    EXPECT_LT((p.p_W - q.p_W).norm(), 1e-13);
    for (int i = 0; i < on_field.size(); ++i) {
      EXPECT_LE(on_field[i].gap, margin);
      EXPECT_GE(on_field[i].gap, q.gap - 1e-14);
    }
  }
  EXPECT_GT(found, 100);
}

// On a field that descends in x and y a ball rolls along the gradient with 5/7 g sin(angle).
TEST(HeightField, BallRollsDownAlongTheGradient) {
  MatrixX<double> heights = MatrixX<double>::Zero(41, 61);
  const double a = -0.2, b = -0.1;
  for (Eigen::Index i = 0; i < 41; ++i) {
    for (Eigen::Index j = 0; j < 61; ++j)
      heights(i, j) = a * 0.07 * double(i) + b * 0.05 * double(j);
  }
  Ground ground;
  ground.add_height_field({0, 0}, {0.07, 0.05}, std::move(heights), {0.8, 0});
  World world(free_body());
  const double r = 0.1;  // 2/5 m r^2 = 4e-3 kg m^2
  ContactShape shape;
  shape.body = BodyId(1);
  shape.size[0] = r;
  world.set_contact({ground, {shape}, {}});
  Simulation simulation(world, {.step = 1e-3});
  const Vector3<double> n = Vector3<double>(-a, -b, 1).normalized();
  const Vector3<double> start = Vector3<double>(0.5, 0.5, 0.5 * (a + b)) + r * n;
  Vector q(7);
  q << start, 0, 0, 0, 1;
  simulation.set_state(0, q, Vector::Zero(6));
  simulation.run_until(1);
  const Vector3<double> g(0, 0, -9.81), down = g - n * n.dot(g);
  // Positions of the method are ahead by half a step.
  const double t = std::sqrt(1 + 1e-3);
  EXPECT_LT((simulation.state().q.head<3>() - start - 5. / 14 * t * t * down).norm(), 1e-9);
}

TEST(Terrain, BallRestsInTheValleyOfAField) {
  MatrixX<double> heights(3, 2);
  heights << 0.1, 0.1, 0, 0, 0.1, 0.1;  // a gutter along y
  Ground ground;
  ground.add_height_field({-0.2, -1}, {0.2, 2}, std::move(heights), {0.5, 0});
  const double r = 0.05, slope = std::atan(0.5);
  const Rest rest = drop_to_rest(ground, Kind::sphere, {r, 0, 0},
                                 {Matrix3<double>::Identity(), {0.02, 0.1, 0.12}});
  EXPECT_NEAR(rest.q[0], 0, 1e-5);
  EXPECT_NEAR(rest.q[2], r / std::cos(slope), 3e-5);
  EXPECT_EQ(rest.touching, 2);
  EXPECT_NEAR(rest.force, 9.81, 1e-4);
}

TEST(Terrain, BallRollsOverCellsAsOverAPlane) {
  // No edge between triangles of one plane may stop it.
  const double v = 0.5;
  Ground field;
  field.add_height_field({-1, -1}, {0.05, 0.05}, MatrixX<double>::Zero(81, 41), {0.6, 0});
  World world(free_body());
  ContactShape shape;
  shape.body = BodyId(1);
  shape.size[0] = 0.05;
  world.set_contact({field, {shape}, {}});
  Simulation simulation(world, {.step = 1e-3});
  Vector q(7), u(6);
  q << 0, 0, 0.05, 0, 0, 0, 1;
  u << v, 0, 0, 0, v / 0.05, 0;
  simulation.set_state(0, q, u);
  simulation.run_until(2);
  EXPECT_NEAR(simulation.state().q[0], 2 * v, 1e-6);
  EXPECT_NEAR(simulation.state().q[2], 0.05, 1e-9);
}

// Distances of random pairs against sampling of the surfaces.
TEST(Collide, GapsOfRandomSolidsAreTheirDistances) {
  int close = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    testing::Random random(seed);
    const PlacedShape a{Kind::capsule,
                        {random.uniform(0.02, 0.1), random.uniform(0, 0.4), 0},
                        random.pose<double>(0.5)};
    const Vector3<double> size(random.uniform(0.1, 0.6), random.uniform(0.1, 0.6),
                               random.uniform(0.1, 0.6));
    const PlacedShape b{Kind::box, size, random.pose<double>(0.5)};
    CollisionPoints points;
    collide(a, b, 10, points);
    ASSERT_GE(points.size(), 1);
    Least gap;
    for (int i = 0; i < points.size(); ++i) gap.add(points[i].gap);
    Least sampled;
    for (int k = 0; k <= 4000; ++k) {
      const Vector3<double> p = a.X_WS * Vector3<double>(0, 0, (k / 4000. - 0.5) * a.size[1]);
      const Vector3<double> local = b.X_WS.R.transpose() * (p - b.X_WS.p);
      const Vector3<double> out = local.cwiseAbs() - size / 2;
      const double distance =
          out.cwiseMax(0).norm() + std::min(out.maxCoeff<Eigen::PropagateNaN>(), 0.0);
      sampled.add(distance - a.size[0]);
    }
    if (sampled.value() < 0) continue;  // the depth of an overlap is not unique
    ++close;
    EXPECT_NEAR(gap.value(), sampled.value(), 2e-4) << "seed " << seed;
    EXPECT_LE(gap.value(), sampled.value() + 1e-9) << "seed " << seed;
  }
  EXPECT_GT(close, 100);
}

TEST(Collide, BoxesTouchIfTheyOverlap) {
  int touching = 0, apart = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    testing::Random random(seed);
    const auto edges = [&] {
      return Vector3<double>(random.uniform(0.1, 0.6), random.uniform(0.1, 0.6),
                             random.uniform(0.1, 0.6));
    };
    const PlacedShape a{Kind::box, edges(), random.pose<double>(0.35)};
    const PlacedShape b{Kind::box, edges(), random.pose<double>(0.35)};
    CollisionPoints ab, ba;
    collide(a, b, 0, ab);
    collide(b, a, 0, ba);
    // Whether a point of a lies in b, by sampling; a fine grid misses only the slightest overlaps.
    bool inside = false;
    for (int i = 0; i <= 16; ++i) {
      for (int j = 0; j <= 16; ++j) {
        for (int k = 0; k <= 16; ++k) {
          const Vector3<double> p =
              a.X_WS * Vector3<double>((i / 16. - 0.5) * a.size[0], (j / 16. - 0.5) * a.size[1],
                                       (k / 16. - 0.5) * a.size[2]);
          const Vector3<double> local = b.X_WS.R.transpose() * (p - b.X_WS.p);
          inside |= (local.cwiseAbs().array() <= b.size.array() / 2).all();
        }
      }
    }
    if (inside) {
      EXPECT_GE(ab.size(), 1) << "seed " << seed;
      ++touching;
    }
    if (ab.size() == 0) ++apart;
    EXPECT_EQ(ab.size() == 0, ba.size() == 0) << "seed " << seed;
    for (int i = 0; i < ab.size(); ++i) {
      EXPECT_LE(ab[i].gap, 0);
      // Moved out along the normal by its depth, they no longer overlap.
      if (i > 0) continue;
      Least deepest;
      deepest.add(0);
      for (int k = 0; k < ab.size(); ++k) deepest.add(ab[k].gap);
      PlacedShape moved = a;
      moved.X_WS.p += (1e-6 - deepest.value()) * ab[0].n_W;
      CollisionPoints after;
      collide(moved, b, 0, after);
      for (int k = 0; k < after.size(); ++k) EXPECT_GT(after[k].gap, -2e-4) << "seed " << seed;
    }
  }
  EXPECT_GT(touching, 50);
  EXPECT_GT(apart, 50);
}

// Two pendulums side by side swing into each other and do not pass through.
TEST(SelfContact, LinksOfOneRobotCollide) {
  RobotBuilder<double> robot("clackers");
  for (const char* name : {"a", "b"}) {
    const double side = name[0] == 'a' ? -0.1 : 0.1;
    robot.link(name, 1, {0, 0, -0.5}, 1e-3 * Matrix3<double>::Identity());
    robot.joint(std::string("j") + name, Joint<double>::revolute({0, 1, 0}), "world", name,
                {Matrix3<double>::Identity(), {side, 0, 0}});
    robot.link(std::string("post_") + name);
  }
  Description<double> description = robot.description();
  std::erase_if(description.links, [](const auto& l) { return l.name.starts_with("post"); });
  const Model<double> model = build_model(description);
  ContactSetup setup;
  for (int body = 1; body <= 2; ++body) {
    ContactShape shape;
    shape.name = model.body(BodyId(body)).link;
    shape.body = BodyId(body);
    shape.X_BS.p = {0, 0, -0.5};
    shape.size[0] = 0.0999;
    setup.shapes.push_back(shape);
  }
  setup.parameters.self_contact = true;
  setup.parameters.self_surface = {0.3, 0};
  World world(model);
  world.set_contact(setup);
  Simulation simulation(world, {.step = 1e-3});
  simulation.set_state(0, Eigen::Vector2d(0.8, 0), Eigen::Vector2d::Zero());
  Worst deepest, moved;
  for (testing::StepLimit limit(100'000); limit.next() && simulation.state().t < 3;) {
    simulation.run_until(simulation.state().t + 1e-3);
    deepest.add(world.contacts()->report().penetration);
    moved.add(-simulation.state().q[1]);
  }
  EXPECT_LT(deepest.value(), 1e-3);
  EXPECT_GT(moved.value(), 0.2);  // the second one was hit
  EXPECT_GT(world.contacts()->dissipated(), 0.1);
}

TEST(Contacts, InvalidSetupsAreRejected) {
  using testing::message;
  World world(free_body());
  ContactSetup setup{Ground::plane(), {ContactShape()}, {}};
  setup.shapes[0].name = "foot";
  EXPECT_EQ(message([&] { world.set_contact(setup); }),
            "Contacts: shapes[0] ('foot').body is -1, expected a body of the model, 0 to 1");
  setup.shapes[0].body = BodyId(1);
  setup.shapes[0].size[0] = -1;
  EXPECT_EQ(message([&] { world.set_contact(setup); }),
            "Contacts: shapes[0] ('foot').size is -1, expected >= 0 and finite");
  setup.shapes[0].size[0] = 0.1;
  setup.parameters.stiffness = -3;
  EXPECT_EQ(message([&] { world.set_contact(setup); }),
            "Contacts: stiffness is -3, expected positive, or infinite");
  setup.parameters.stiffness = 1;
  setup.parameters.max_path_deviation = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([&] { world.set_contact(setup); }),
            "Contacts: max_path_deviation is nan, expected positive");
  EXPECT_EQ(message([&] {
              Ground::plane({-0.1, 0});
            }),
            "Ground::add_half_space: friction is -0.1, expected 0 or more");
  EXPECT_EQ(message([&] { Ground::slope(2); }),
            "Ground::slope: angle is 2, expected less than a right angle");
}

}  // namespace
}  // namespace limb
