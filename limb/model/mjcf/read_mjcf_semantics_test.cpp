// Meaning of MJCF attributes as MuJoCo documents it, by closed forms: orientations, inertias of
// turned bodies, gears, welds, ranges, default classes and compiler options.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <numbers>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/testing/mjcf_text.hpp"

namespace limb {
namespace {

using testing::body_with;
using testing::parse_text;
using Matrix = Matrix3<double>;
using Vector = Vector3<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kDegree = std::numbers::pi / 180;

/// Rodrigues: cos(a) 1 + (1 - cos(a)) u u^T + sin(a) [u].
Matrix turned(const Vector& direction, double angle) {
  const Vector u = direction / direction.norm();
  Matrix cross;
  cross << 0, -u.z(), u.y(), u.z(), 0, -u.x(), -u.y(), u.x(), 0;
  return std::cos(angle) * Matrix::Identity() + (1 - std::cos(angle)) * u * u.transpose() +
         std::sin(angle) * cross;
}
Matrix about(char axis, double degrees) {
  return turned(Vector::Unit(axis - 'x'), degrees * kDegree);
}

struct Orientation {
  std::string attribute, compiler;
  Matrix R;
};

/// Every form, with numbers for which no other order of them gives the same rotation.
std::vector<Orientation> orientations() {
  // w x y z = 1 7 -1 7 over 10: the matrix of a unit quaternion, entry by entry.
  const double w = 0.1, x = 0.7, y = -0.1, z = 0.7;
  Matrix quaternion, axes;
  quaternion << w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y),
      2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x), 2 * (x * z - w * y),
      2 * (y * z + w * x), w * w - x * x - y * y + z * z;
  axes << 0, -0.6, 0.8, 1, 0, 0, 0, 0.8, 0.6;  // columns
  const Matrix X = about('x', 20), Y = about('y', -30), Z = about('z', 40);
  const double radian = 1 / kDegree;
  return {
      {"quat='1 7 -1 7'", "", quaternion},  // of any length
      {"axisangle='1 2 -2 50'", "", turned({1, 2, -2}, 50 * kDegree)},
      {"axisangle='1 2 -2 0.5'", "angle='radian'", turned({1, 2, -2}, 0.5)},
      {"euler='20 -30 40'", "", X * Y * Z},  // lower case: about the axes of the turned frame
      {"euler='20 -30 40'", "eulerseq='XYZ'", Z * Y * X},  // upper case: about those of the parent
      {"euler='20 -30 40'", "eulerseq='zyx'", about('z', 20) * Y * about('x', 40)},
      {"euler='20 -30 40'", "eulerseq='zXy'", about('x', -30) * about('z', 20) * about('y', 40)},
      {"euler='0.2 -0.3 0.4'", "angle='radian'",
       about('x', 0.2 * radian) * about('y', -0.3 * radian) * about('z', 0.4 * radian)},
      {"xyaxes='0 2 0 -3 5 4'", "", axes},                        // y is made orthogonal to x
      {"zaxis='0 -3 4'", "", turned({1, 0, 0}, std::asin(0.6))},  // the shortest rotation
      {"zaxis='2 0 0'", "", about('y', 90)},
      {"zaxis='0 0 -1'", "", about('x', 180)},
      {"zaxis='0 0 5'", "", Matrix::Identity()},
  };
}

/// Angles are products of a few numbers: sines and cosines of half angles, 16 eps.
constexpr double kRotation = 16 * kEps;

TEST(MjcfOrientation, IsTheSameForEveryElement) {
  for (const Orientation& o : orientations()) {
    SCOPED_TRACE(o.attribute + " " + o.compiler);
    const auto [d, diagnostics] =
        parse_text("<mujoco><compiler " + o.compiler + "/><worldbody><body name='b' pos='1 2 3' " +
                   o.attribute + "><inertial pos='0 0 0' mass='1' diaginertia='0.3 0.4 0.5' " +
                   o.attribute + "/><geom type='box' size='0.1 0.2 0.3' " + o.attribute +
                   "/><site name='s' " + o.attribute + "/><frame pos='1 0 0' " + o.attribute +
                   "><site name='f' pos='0 1 0'/></frame></body></worldbody></mujoco>");
    EXPECT_TRUE(diagnostics.empty());
    Worst worst;
    worst.add((d.joints.at(0).X_PJ.R - o.R).norm());
    worst.add((d.links.at(0).geometry.at(0).X_LG.R - o.R).norm());
    worst.add((d.frames.at(0).X_LF.R - o.R).norm());
    worst.add((d.frames.at(1).X_LF.R - o.R).norm());
    worst.add((d.frames.at(1).X_LF.p - (Vector(1, 0, 0) + o.R.col(1))).norm());
    const auto& inertial = *d.links.at(0).inertial;
    const Matrix moments = Vector(0.3, 0.4, 0.5).asDiagonal();
    worst.add((inertial.X_LI.R * inertial.tensor * inertial.X_LI.R.transpose() -
               o.R * moments * o.R.transpose())
                  .norm());
    EXPECT_LT(worst.value(), kRotation);
    EXPECT_EQ(d.joints.at(0).X_PJ.p, Vector(1, 2, 3));
  }
}

// Axes of the inertial: the tensor about the body's axes is R diag R^T, also far from them.
TEST(MjcfInertial, OrientationAndPositionOfTheMoments) {
  const auto parsed =
      parse_text(body_with("<inertial pos='0.5 -1 2' mass='3' axisangle='1 2 -2 50' "
                           "diaginertia='0.3 0.4 0.5'/>"));
  const Inertia<double> I = parsed.description.links.at(0).inertial->inertia();
  const Matrix R = turned({1, 2, -2}, 50 * kDegree), D = Vector(0.3, 0.4, 0.5).asDiagonal();
  const Vector c(0.5, -1, 2);
  const Matrix about_origin =
      R * D * R.transpose() + 3 * (c.squaredNorm() * Matrix::Identity() - c * c.transpose());
  EXPECT_EQ(I.mass(), 3);
  EXPECT_LT((I.first_moment() - 3 * c).norm(), 8 * kEps * 3 * c.norm());
  EXPECT_LT((I.tensor() - about_origin).norm(), 8 * kEps * about_origin.norm());
}

// fullinertia is M(1,1), M(2,2), M(3,3), M(1,2), M(1,3), M(2,3).
TEST(MjcfInertial, OrderOfTheSixEntries) {
  const auto parsed = parse_text(
      body_with("<inertial pos='0 0 0' mass='1' fullinertia='0.4 0.5 0.6 0.01 -0.02 0.03'/>"));
  Matrix expected;
  expected << 0.4, 0.01, -0.02, 0.01, 0.5, 0.03, -0.02, 0.03, 0.6;
  EXPECT_EQ(parsed.description.links.at(0).inertial->tensor, expected);
}

struct Solid {
  std::string geom;
  double volume;
  Vector per_mass;  ///< principal moments over the mass, axis of revolution z
};

/// Half sizes in the file; moments of the textbook.
std::vector<Solid> solids() {
  const double pi = std::numbers::pi, r = 0.1, L = 0.5, a = 0.1, b = 0.2, c = 0.3;
  // A capsule: a cylinder and two half balls, whose centres are 3/8 r from their flat faces.
  const double cylinder = pi * r * r * L, ball = 4 * pi / 3 * r * r * r, whole = cylinder + ball;
  const double out = L / 2 + 3 * r / 8;
  const double across =
      cylinder * (3 * r * r + L * L) / 12 + ball * ((2.0 / 5 - 9.0 / 64) * r * r + out * out);
  const double along = cylinder * r * r / 2 + ball * 2 / 5 * r * r;
  return {
      {"type='box' size='0.1 0.2 0.3'", 8 * a * b * c,
       Vector(b * b + c * c, a * a + c * c, a * a + b * b) / 3},
      {"type='ellipsoid' size='0.1 0.2 0.3'", 4 * pi / 3 * a * b * c,
       Vector(b * b + c * c, a * a + c * c, a * a + b * b) / 5},
      {"type='cylinder' size='0.1 0.25'",
       cylinder,
       {(3 * r * r + L * L) / 12, (3 * r * r + L * L) / 12, r * r / 2}},
      {"type='capsule' size='0.1 0.25'", whole, Vector(across, across, along) / whole},
      {"size='0.1'", ball, Vector::Constant(2 * r * r / 5)},
  };
}

// Density or mass; the moments turn with the geom.
TEST(MjcfGeom, TurnedSolidsHaveTurnedInertias) {
  for (const Solid& solid : solids()) {
    for (const Orientation& o : orientations()) {
      SCOPED_TRACE(solid.geom + " " + o.attribute);
      const auto inertial = [&](const std::string& mass) {
        return *parse_text(body_with("<geom pos='1 -2 0.5' " + solid.geom + " " + o.attribute +
                                         mass + "/>",
                                     "<compiler " + o.compiler + "/>"))
                    .description.links.at(0)
                    .inertial;
      };
      const Matrix moments = solid.per_mass.asDiagonal();
      for (const auto& [text, mass] : {std::pair{"", 1000 * solid.volume},
                                       {" density='250'", 250 * solid.volume},
                                       {" mass='7'", 7.0},
                                       {" mass='7' density='250'", 7.0}}) {
        const auto found = inertial(text);
        EXPECT_NEAR(found.mass, mass, 16 * kEps * mass);
        EXPECT_LT((found.X_LI.p - Vector(1, -2, 0.5)).norm(), 8 * kEps);
        const Matrix tensor = found.X_LI.R * found.tensor * found.X_LI.R.transpose();
        const Matrix expected = mass * o.R * moments * o.R.transpose();
        EXPECT_LT((tensor - expected).norm(), 32 * kEps * expected.norm());
      }
    }
  }
}

// Two turned rods at different places: parallel axes about the common mass centre.
TEST(MjcfGeom, SeveralGeomsAddUpAboutTheirMassCentre) {
  const auto parsed = parse_text(
      body_with("<geom type='cylinder' size='0.1 0.25' mass='2' pos='1 0 0' euler='90 0 0'/>"
                "<geom type='box' size='0.1 0.2 0.3' mass='6' pos='0 1 2' euler='0 0 30'/>"));
  const auto& found = *parsed.description.links.at(0).inertial;
  const Vector c = (2 * Vector(1, 0, 0) + 6 * Vector(0, 1, 2)) / 8;
  Matrix expected = Matrix::Zero();
  const auto add = [&](double mass, const Vector& p, const Matrix& R, const Vector& moments) {
    const Vector r = p - c;
    expected += R * Matrix(moments.asDiagonal()) * R.transpose() +
                mass * (r.squaredNorm() * Matrix::Identity() - r * r.transpose());
  };
  add(2, {1, 0, 0}, about('x', 90), 2 * solids()[2].per_mass);
  add(6, {0, 1, 2}, about('z', 30), 6 * solids()[0].per_mass);
  EXPECT_EQ(found.mass, 8);
  EXPECT_LT((found.X_LI.p - c).norm(), 8 * kEps);
  EXPECT_EQ(found.X_LI.R, Matrix::Identity());
  EXPECT_LT((found.tensor - expected).norm(), 16 * kEps * expected.norm());
}

// fromto: the middle of the two points, half their distance, z from the second to the first.
TEST(MjcfGeom, FromtoGivesCentreLengthAndAxis) {
  for (const char* type : {"capsule", "cylinder", "box", "ellipsoid"}) {
    const auto parsed = parse_text(body_with(std::string("<geom type='") + type +
                                             "' size='0.1' fromto='1 2 3 1 5 7' pos='9 9 9'/>"));
    SCOPED_TRACE(type);
    const Geometry& g = parsed.description.links.at(0).geometry.at(0);
    EXPECT_EQ(g.X_LG.p, Vector(1, 3.5, 5));
    EXPECT_LT((g.X_LG.R.col(2) - Vector(0, -0.6, -0.8)).norm(), kRotation);
    // The shortest rotation from z to that direction is about x.
    EXPECT_LT((g.X_LG.R.col(0) - Vector::UnitX()).norm(), kRotation);
    const std::string shape = type;
    const Vector size = shape == "box"         ? Vector(0.2, 0.2, 5)
                        : shape == "ellipsoid" ? Vector(0.1, 0.1, 2.5)
                                               : Vector(0.1, 5, 0);
    EXPECT_EQ(g.size, size);
  }
  // Heavy about the axes across the rod, light about the rod.
  const auto parsed =
      parse_text(body_with("<geom type='cylinder' size='0.1' mass='12' fromto='0 0 0 0 3 4'/>"));
  const auto& I = *parsed.description.links.at(0).inertial;
  const double along = 12 * 0.01 / 2, across = 12 * (3 * 0.01 + 25) / 12;
  const Vector u(0, 0.6, 0.8);
  EXPECT_NEAR(u.dot(I.tensor * u), along, 32 * kEps * across);
  EXPECT_NEAR(I.tensor(0, 0), across, 32 * kEps * across);
  EXPECT_NEAR(I.tensor.trace(), along + 2 * across, 32 * kEps * across);
}

TEST(MjcfGeom, OnlyGroupsInTheRangeHaveMass) {
  const std::string geoms =
      "<geom size='0.1' mass='1' group='0'/><geom size='0.1' mass='2' group='1'/>"
      "<geom size='0.1' mass='4' group='2'/><geom size='0.1' mass='8' group='3'/>";
  const auto mass = [&](const std::string& before) {
    return parse_text(body_with(geoms, before)).description.links.at(0).inertial->mass;
  };
  EXPECT_EQ(mass(""), 15);
  EXPECT_EQ(mass("<compiler inertiagrouprange='1 2'/>"), 6);
  EXPECT_EQ(mass("<compiler inertiagrouprange='3 5'/>"), 8);
}

TEST(MjcfCompiler, InertialOrGeoms) {
  const std::string both =
      "<inertial pos='0 0 1' mass='3' diaginertia='1 1 1'/><geom size='0.1' mass='5'/>";
  const auto mass = [](const std::string& contents, const std::string& word) {
    const auto link = parse_text(body_with(contents, "<compiler inertiafromgeom='" + word + "'/>"))
                          .description.links.at(0);
    return link.inertial ? link.inertial->mass : -1;
  };
  const std::string geom = "<geom size='0.1' mass='5'/>";
  EXPECT_EQ(mass(both, "auto"), 3);
  EXPECT_EQ(mass(both, "true"), 5);
  EXPECT_EQ(mass(both, "false"), 3);
  EXPECT_EQ(mass(geom, "auto"), 5);
  EXPECT_EQ(mass(geom, "false"), -1);
}

// Masses and moments are scaled by one factor.
TEST(MjcfCompiler, TotalMassScalesMassesAndMoments) {
  const std::string bodies =
      "<worldbody><body><geom size='0.1' mass='1'/><body pos='0 0 1'>"
      "<inertial pos='0 0 0.5' mass='3' diaginertia='0.3 0.4 0.5'/></body></body></worldbody>";
  const auto links =
      parse_text("<mujoco><compiler settotalmass='10'/>" + bodies + "</mujoco>").description.links;
  EXPECT_DOUBLE_EQ(links.at(0).inertial->mass, 2.5);
  EXPECT_DOUBLE_EQ(links.at(1).inertial->mass, 7.5);
  EXPECT_EQ(links.at(1).inertial->X_LI.p, Vector(0, 0, 0.5));
  EXPECT_LT((links.at(1).inertial->tensor.diagonal() - 2.5 * Vector(0.3, 0.4, 0.5)).norm(),
            8 * kEps);
  EXPECT_NEAR(links.at(0).inertial->tensor(0, 0), 2.5 * 0.4 * 0.01, 8 * kEps);
  const auto same = parse_text("<mujoco>" + bodies + "</mujoco>").description.links;
  EXPECT_EQ(same.at(1).inertial->mass, 3);
  for (const char* none : {"0", "-1"}) {
    const std::string text =
        std::string("<mujoco><compiler settotalmass='") + none + "'/>" + bodies;
    EXPECT_EQ(parse_text(text + "</mujoco>").description.links.at(1).inertial->mass, 3) << none;
  }
}

// Bounds act on principal moments: R max(I, bound) R^T; balancing takes their mean.
TEST(MjcfCompiler, BoundsActOnPrincipalMoments) {
  const Matrix R = turned({1, 2, -2}, 50 * kDegree);
  const auto inertial = [](const std::string& moments, const std::string& compiler) {
    return *parse_text(body_with("<inertial pos='0 0 0' mass='0.5' axisangle='1 2 -2 50' "
                                 "diaginertia='" +
                                     moments + "'/>",
                                 "<compiler " + compiler + "/>"))
                .description.links.at(0)
                .inertial;
  };
  const auto expect = [&](const InertialDescription<double>& found, const Vector& moments) {
    const Matrix tensor = found.X_LI.R * found.tensor * found.X_LI.R.transpose();
    const Matrix expected = R * Matrix(moments.asDiagonal()) * R.transpose();
    EXPECT_LT((tensor - expected).norm(), 32 * kEps * expected.norm());
  };
  expect(inertial("0.3 0.4 0.5", "boundinertia='0.2'"), {0.3, 0.4, 0.5});
  expect(inertial("0.3 0.4 0.5", "boundinertia='0.35'"), {0.35, 0.4, 0.5});
  expect(inertial("0.3 0.4 0.5", "boundinertia='0.45'"), {0.45, 0.45, 0.5});
  expect(inertial("0.3 0.4 0.8", "balanceinertia='true'"), Vector::Constant(0.5));
  expect(inertial("0.3 0.4 0.6", "balanceinertia='true'"), {0.3, 0.4, 0.6});
  EXPECT_EQ(inertial("0.3 0.4 0.5", "boundmass='0.4'").mass, 0.5);
  EXPECT_EQ(inertial("0.3 0.4 0.5", "boundmass='2'").mass, 2);
}

// At q = ref the body has the pose of the file, whatever its joints.
TEST(MjcfJoint, AtTheReferenceTheBodyHasThePoseOfTheFile) {
  const auto parsed = parse_text(
      "<mujoco><worldbody><body pos='1 2 3' euler='10 20 30'>"
      "<joint name='a' axis='1 2 -2' pos='0.5 0.1 -0.2' ref='50'/>"
      "<joint name='b' type='slide' axis='0 3 4' ref='0.25'/>"
      "<joint name='c' axis='0 -1 0' pos='0.1 0 0.7' ref='-20'/>"
      "</body></worldbody></mujoco>");
  const auto& joints = parsed.description.joints;
  ASSERT_EQ(joints.size(), 3u);
  EXPECT_LT((joints[0].axis - Vector(1, 2, -2) / 3).norm(), 4 * kEps);
  EXPECT_LT((joints[1].axis - Vector(0, 0.6, 0.8)).norm(), 4 * kEps);
  const double at[] = {50 * kDegree, 0.25, -20 * kDegree};  // lengths are not angles
  Pose<double> X;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool slides = joints[i].type == JointType::prismatic;
    EXPECT_EQ(slides, i == 1);
    const Pose<double> motion{slides ? Matrix::Identity() : turned(joints[i].axis, at[i]),
                              slides ? Vector(at[i] * joints[i].axis) : Vector::Zero()};
    X = X * joints[i].X_PJ * motion * joints[i].X_JC;
  }
  EXPECT_LT((X.p - Vector(1, 2, 3)).norm(), 32 * kEps);
  EXPECT_LT((X.R - about('x', 10) * about('y', 20) * about('z', 30)).norm(), 32 * kEps);
}

TEST(MjcfJoint, RangesKeepBothEnds) {
  const auto limits = [](const std::string& joint, const std::string& compiler = "") {
    return parse_text(body_with("<joint " + joint + "/>", "<compiler " + compiler + "/>"))
        .description.joints.at(0)
        .limits;
  };
  const auto degrees = limits("range='-30 75'");
  EXPECT_EQ(*degrees.at(0).lower, -30 * kDegree);
  EXPECT_EQ(*degrees.at(0).upper, 75 * kDegree);
  const auto radians = limits("range='-0.3 2.1'", "angle='radian'");
  EXPECT_EQ(*radians.at(0).lower, -0.3);
  EXPECT_EQ(*radians.at(0).upper, 2.1);
  const auto slide = limits("type='slide' range='-0.2 0.7'");  // metres in both units
  EXPECT_EQ(*slide.at(0).lower, -0.2);
  EXPECT_EQ(*slide.at(0).upper, 0.7);
  const auto above_zero = limits("range='10 20' limited='true'", "autolimits='false'");
  EXPECT_EQ(*above_zero.at(0).lower, 10 * kDegree);
  EXPECT_EQ(*above_zero.at(0).upper, 20 * kDegree);
  EXPECT_EQ(*limits("range='0 90'").at(0).lower, 0);
  EXPECT_TRUE(limits("range='10 20' limited='false'").empty());
  // Only "0 0" counts as absent, and only without limited="true".
  EXPECT_EQ(*limits("range='0 0' limited='true'").at(0).upper, 0);
  EXPECT_EQ(*limits("range='-10 0'").at(0).upper, 0);
  // The larger end is the effort limit.
  EXPECT_EQ(*limits("actuatorfrcrange='-40 30'").at(0).effort, 40);
  EXPECT_EQ(*limits("actuatorfrcrange='-40 30' actuatorfrclimited='true'", "autolimits='false'")
                 .at(0)
                 .effort,
            40);
  EXPECT_TRUE(limits("actuatorfrcrange='-40 30' actuatorfrclimited='false'").empty());
}

// The actuators of a joint act together, behind their gears. The force of a motor is its control;
// that of a servo is not, and only its force range counts.
TEST(MjcfActuator, RangesLimitTheEffortOfTheJoint) {
  const auto effort = [](const std::string& actuators, const std::string& joint = "",
                         const std::string& compiler = "") {
    const auto parsed = parse_text(
        "<mujoco><compiler " + compiler + "/><worldbody><body><joint name='j' " + joint +
        "/><geom size='1'/></body></worldbody><actuator>" + actuators + "</actuator></mujoco>");
    const auto& limits = parsed.description.joints.at(0).limits;
    return limits.empty() ? -1 : limits.at(0).effort.value_or(-1);
  };
  EXPECT_EQ(effort("<motor joint='j'/>"), -1);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 2'/>"), 3);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3' gear='-10'/>"), 30);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3' forcerange='-2 2'/>"), 2);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3' ctrllimited='false'/>"), -1);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3'/>", "", "autolimits='false'"), -1);
  EXPECT_EQ(effort("<general joint='j' gainprm='4' ctrlrange='-3 3'/>"), 12);
  EXPECT_EQ(effort("<general joint='j' gainprm='4' biastype='affine' ctrlrange='-3 3'/>"), 12);
  EXPECT_EQ(effort("<general joint='j' gainprm='4' biastype='affine' biasprm='0 -4 0' "
                   "ctrlrange='-3 3'/>"),
            -1);
  EXPECT_EQ(effort("<position joint='j' kp='9' ctrlrange='-3 3' forcerange='-5 5'/>"), 5);
  EXPECT_EQ(effort("<position joint='j' kp='9' ctrlrange='-3 3'/>"), -1);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3'/><motor joint='j' forcerange='0 4'/>"), 7);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3'/><motor joint='j'/>"), -1);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3'/>", "actuatorfrcrange='-1 1'"), 1);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-3 3'/>", "actuatorfrcrange='-9 9'"), 3);
}

// Behind a gear n, rotor inertia and damping act with n^2 on the joint.
TEST(MjcfActuator, GearIsSquaredForArmatureAndDamping) {
  const auto parsed = parse_text(
      "<mujoco><worldbody><body><joint name='a' armature='0.1' damping='0.2'/></body>"
      "<body><joint name='b' armature='0.1'/></body></worldbody>"
      "<actuator><motor joint='a' gear='-3' armature='0.02' damping='0.5'/>"
      "<motor joint='a' gear='2' armature='0.25'/><motor joint='b' armature='0.5'/></actuator>"
      "</mujoco>");
  const auto& d = parsed.description;
  EXPECT_DOUBLE_EQ(d.joints.at(0).armature, 0.1 + 9 * 0.02 + 4 * 0.25);
  EXPECT_DOUBLE_EQ(d.joints.at(0).damping, 0.2 + 9 * 0.5);
  EXPECT_DOUBLE_EQ(d.joints.at(1).armature, 0.1 + 0.5);  // gear 1
  ASSERT_EQ(d.actuators.size(), 3u);
  EXPECT_EQ(d.actuators[0].joint, "a");
  EXPECT_EQ(d.actuators[0].gear, -3);
  EXPECT_EQ(d.actuators[1].gear, 2);
  EXPECT_EQ(d.actuators[2].gear, 1);
}

/// Two bodies, turned and apart, and an equality between them.
LoopDescription<double> loop_of(const std::string& equality) {
  const auto parsed = parse_text(
      "<mujoco><worldbody><body name='a' pos='1 2 3' euler='0 0 90'><joint/>"
      "<site name='p' pos='1 0 0' euler='20 0 0'/></body>"
      "<body pos='0 0 5'><body name='b' pos='2 0 0' euler='90 0 0'><joint/>"
      "<site name='q' pos='0 0.5 0'/></body></body></worldbody><equality>" +
      equality + "</equality></mujoco>");
  EXPECT_EQ(parsed.rules(), "");
  return parsed.description.loops.at(0);
}

/// Pose of b in a, as the file places them.
Pose<double> pose_of_b_in_a() {
  const Matrix R_WA = about('z', 90), R_WB = about('x', 90);
  return {R_WA.transpose() * R_WB, R_WA.transpose() * (Vector(2, 0, 5) - Vector(1, 2, 3))};
}

// relpose: position of body 2 in body 1, then w x y z; the anchor is in body 2.
TEST(MjcfWeld, RelposeIsAPositionAndAQuaternionWithTheScalarFirst) {
  const auto loop =
      loop_of("<weld body1='a' body2='b' anchor='0.1 0.2 0.3' relpose='4 5 6 1 7 -1 7'/>");
  EXPECT_EQ(loop.kind, LoopDescription<double>::Kind::weld);
  EXPECT_EQ(loop.link_a, "a");
  EXPECT_EQ(loop.link_b, "b");
  EXPECT_EQ(loop.X_AL.p, Vector(4, 5, 6));
  EXPECT_LT((loop.X_AL.R - orientations()[0].R).norm(), kRotation);
  EXPECT_EQ(loop.X_BL.p, Vector(0.1, 0.2, 0.3));
  EXPECT_EQ(loop.X_BL.R, Matrix::Identity());
}

TEST(MjcfWeld, WithoutRelposeThePosesOfTheFileAreKept) {
  const Pose<double> X_AB = pose_of_b_in_a();
  for (const char* relpose : {"", " relpose='4 5 6 0 0 0 0'"}) {
    const auto loop =
        loop_of("<weld body1='a' body2='b' anchor='0.1 0.2 0.3'" + std::string(relpose) + "/>");
    EXPECT_LT((loop.X_AL.p - X_AB * Vector(0.1, 0.2, 0.3)).norm(), 64 * kEps);
    EXPECT_LT((loop.X_AL.R - X_AB.R).norm(), kRotation);
    EXPECT_EQ(loop.X_BL.p, Vector(0.1, 0.2, 0.3));
  }
  // To the world: body 2 is the world.
  const auto fixed = loop_of("<weld body1='a'/>");
  EXPECT_EQ(fixed.link_b, "world");
  EXPECT_LT((fixed.X_AL.R - about('z', -90)).norm(), kRotation);
  EXPECT_LT((fixed.X_AL.p - about('z', -90) * -Vector(1, 2, 3)).norm(), 16 * kEps);
}

// The anchor of connect is in body 1; in body 2 it is the same point of the file's pose.
TEST(MjcfConnect, AnchorIsInTheFirstBody) {
  const auto loop = loop_of("<connect body1='a' body2='b' anchor='0.1 0.2 0.3'/>");
  EXPECT_EQ(loop.kind, LoopDescription<double>::Kind::connect);
  EXPECT_EQ(loop.X_AL.p, Vector(0.1, 0.2, 0.3));
  const Pose<double> X_AB = pose_of_b_in_a();
  EXPECT_LT((loop.X_BL.p - X_AB.R.transpose() * (Vector(0.1, 0.2, 0.3) - X_AB.p)).norm(),
            64 * kEps);
  const auto sites = loop_of("<weld site1='p' site2='q'/>");
  EXPECT_EQ(sites.link_a, "a");
  EXPECT_EQ(sites.link_b, "b");
  EXPECT_EQ(sites.X_AL.p, Vector(1, 0, 0));
  EXPECT_LT((sites.X_AL.R - about('x', 20)).norm(), kRotation);
  EXPECT_EQ(sites.X_BL.p, Vector(0, 0.5, 0));
}

// A class inherits from the class that contains it; an element uses its class, or the innermost
// childclass, or the main one; what it says itself counts more than any class.
TEST(MjcfDefaults, InnermostClassCounts) {
  const auto parsed = parse_text(
      "<mujoco><default><joint armature='1' damping='10'/><motor gear='5'/>"
      "<default class='p'><joint armature='2' frictionloss='0.5'/>"
      "<default class='q'><joint armature='3'/></default></default></default>"
      "<worldbody><body><joint name='main'/></body>"
      "<body childclass='p'><joint name='p'/><joint name='own' armature='7'/>"
      "<body><joint name='inherited'/><joint name='q' class='q'/>"
      "<body childclass='q'><joint name='inner'/></body></body>"
      "<frame childclass='q'><body><joint name='framed'/></body></frame></body></worldbody>"
      "<actuator><motor joint='main'/><motor joint='p' gear='6'/></actuator></mujoco>");
  EXPECT_EQ(parsed.rules(), "");
  const auto joint = [&](const std::string& name) {
    for (const auto& j : parsed.description.joints) {
      if (j.name == name) return Vector(j.armature, j.damping, j.friction);
    }
    return Vector(-1, -1, -1);
  };
  EXPECT_EQ(joint("main"), Vector(1, 10, 0));
  EXPECT_EQ(joint("p"), Vector(2, 10, 0.5));
  EXPECT_EQ(joint("own"), Vector(7, 10, 0.5));
  EXPECT_EQ(joint("inherited"), Vector(2, 10, 0.5));
  EXPECT_EQ(joint("q"), Vector(3, 10, 0.5));
  EXPECT_EQ(joint("inner"), Vector(3, 10, 0.5));
  EXPECT_EQ(joint("framed"), Vector(3, 10, 0.5));
  EXPECT_EQ(parsed.description.actuators.at(0).gear, 5);
  EXPECT_EQ(parsed.description.actuators.at(1).gear, 6);
}

// An element that gives fewer numbers than its class keeps the rest of them; an orientation of its
// own replaces one of the class in another form.
TEST(MjcfDefaults, FewerNumbersKeepTheRest) {
  const auto parsed = parse_text(body_with(
      "<geom size='0.4'/><geom quat='1 7 -1 7'/>",
      "<default><geom type='box' size='0.1 0.2 0.3' euler='0 0 90' mass='2'/></default>"));
  const auto& shapes = parsed.description.links.at(0).geometry;
  EXPECT_EQ(shapes.at(0).size, Vector(0.8, 0.4, 0.6));
  EXPECT_LT((shapes.at(0).X_LG.R - about('z', 90)).norm(), kRotation);
  EXPECT_EQ(shapes.at(1).size, Vector(0.2, 0.4, 0.6));
  EXPECT_LT((shapes.at(1).X_LG.R - orientations()[0].R).norm(), kRotation);
  EXPECT_EQ(parsed.description.links.at(0).inertial->mass, 4);
}

// A point mass m on a lever has the inertia m l^2 about its hinge. With the hinge on a cart of mass
// M that moves across the lever, 1 / (M^-1)_ii is M for the cart and l^2 m M / (M + m) for the
// hinge.
TEST(MjcfSpringDamper, FollowsFromTheInverseMassMatrix) {
  const auto joints = [](const std::string& text) {
    const testing::ParsedMjcf parsed = parse_text(text);
    EXPECT_TRUE(parsed.diagnostics.empty()) << parsed.first();
    return parsed.description.joints;
  };
  const std::string point = "<inertial mass='2' pos='0 0 0.5' diaginertia='0 0 0'/>";
  const auto single = joints(
      body_with("<joint springdamper='0.1 0.5' stiffness='7' damping='8' axis='0 1 0'/>" + point));
  EXPECT_NEAR(single[0].stiffness, 0.5 / (0.05 * 0.05), 1e3 * kEps * 200);
  EXPECT_NEAR(single[0].damping, 2 * 0.5 / 0.1, 100 * kEps * 10);
  const auto cart = joints(
      "<mujoco><worldbody><body name='cart'><joint name='x' type='slide' axis='1 0 0' "
      "springdamper='1 1' armature='1'/><inertial mass='5' pos='0 0 0' diaginertia='0 0 0'/>"
      "<body name='b' pos='0 0 1'><joint name='h' axis='0 1 0' springdamper='1 1'/>" +
      point + "</body></body></worldbody></mujoco>");
  EXPECT_NEAR(cart[0].stiffness, 6, 100 * kEps * 6);
  EXPECT_NEAR(cart[1].stiffness, 0.25 * 2 * 6 / 8, 100 * kEps);
  EXPECT_NEAR(cart[1].damping, 2 * 0.25 * 2 * 6 / 8, 100 * kEps);
  // One of the two numbers is not positive: stiffness and damping stay.
  const auto off =
      joints(body_with("<joint springdamper='1 0' stiffness='7' damping='8'/>" + point));
  EXPECT_EQ(off[0].stiffness, 7);
  EXPECT_EQ(off[0].damping, 8);
}

// Rows of the elevation start at the largest y; values are scaled to 0 to 1, then by size[2].
TEST(MjcfHeightField, ElevationAndBinaryFile) {
  const testing::TemporaryFolder folder;
  std::ofstream file(folder.file("h.bin"), std::ios::binary);
  const std::int32_t sizes[] = {2, 3};
  const float values[] = {5, 6, 9, 1, 2, 3};
  file.write(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  file.write(reinterpret_cast<const char*>(values), sizeof(values));
  file.close();
  const testing::ParsedMjcf parsed = parse_text(
      "<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='2 1 0.8 0.1' elevation='1 2 3  5 6 "
      "9'/><hfield file='h.bin' name='f' size='2 1 0.8 0.1'/><hfield name='flat' nrow='4' "
      "ncol='4' size='2 1 0.8 0.1'/></asset><worldbody><geom type='hfield' hfield='h' pos='1 2 "
      "3' friction='0.3'/><geom type='hfield' hfield='f'/><geom type='hfield' hfield='flat'/><geom "
      "type='hfield' hfield='h' contype='0' conaffinity='0'/></worldbody></mujoco>",
      {}, folder.file("m.xml"));
  EXPECT_TRUE(parsed.diagnostics.empty()) << parsed.first();
  const auto& fields = parsed.description.scene.height_fields;
  ASSERT_EQ(fields.size(), 3u);
  MatrixX<double> expected(3, 2);  // rows along x, columns along y
  expected << 0.4, 0, 0.5, 0.1, 0.8, 0.2;
  for (int i = 0; i < 2; ++i) {
    EXPECT_LT((fields[static_cast<std::size_t>(i)].heights - expected).norm(), 10 * kEps);
    EXPECT_EQ(fields[static_cast<std::size_t>(i)].half, Vector2<double>(2, 1));
  }
  EXPECT_EQ(fields[0].geometry.X_LG.p, Vector(1, 2, 3));
  EXPECT_EQ(fields[0].geometry.friction, 0.3);
  EXPECT_EQ(fields[2].heights, MatrixX<double>::Zero(4, 4));
}

// A few lines can ask for many copies: only the first ones are read.
TEST(MjcfHeightField, MemoryIsBounded) {
  const testing::ParsedMjcf parsed = parse_text(
      "<mujoco><asset><hfield name='h' nrow='1000' ncol='1000' size='1 1 1 1'/>"
      "<hfield name='g' nrow='2000' ncol='2000' size='1 1 1 1'/></asset><worldbody><replicate "
      "count='100'><geom type='hfield' hfield='h'/></replicate></worldbody></mujoco>");
  EXPECT_EQ(parsed.description.scene.height_fields.size(), 3u);  // and one million in the asset
  EXPECT_EQ(parsed.first(),
            "m.xml:1: warning: <geom>: height field 'h' cannot be used: all height fields together "
            "have more than 4000000 points [height-field-not-read]");
}

TEST(MjcfHeightField, AnyElevationGivesFiniteHeights) {
  for (const std::string elevation : {"1e308 -1e308 0 0", "5e-324 0 0 0", "1 1 1 1"}) {
    const testing::ParsedMjcf parsed = parse_text(
        "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1e30 1' elevation='" +
        elevation + "'/></asset><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>");
    ASSERT_EQ(parsed.description.scene.height_fields.size(), 1u) << elevation;
    EXPECT_TRUE(parsed.description.scene.height_fields[0].heights.allFinite()) << elevation;
  }
}

}  // namespace
}  // namespace limb
