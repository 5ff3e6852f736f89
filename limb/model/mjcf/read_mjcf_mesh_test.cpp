// Masses from meshes; mesh/mesh_inertia_vs_mujoco_test.py compares them with MuJoCo.
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/model/mjcf/primitive_inertia.hpp"
#include "limb/model/testing/mjcf_text.hpp"

namespace limb::testing {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// A box with edges 1, 2, 4 and a corner at the origin; exact in float.
const std::string kBox =
    "vertex='0 0 0 1 0 0 0 2 0 1 2 0 0 0 4 1 0 4 0 2 4 1 2 4' "
    "face='0 2 1 1 2 3 4 5 6 5 7 6 0 1 4 1 5 4 2 6 3 3 6 7 0 4 2 2 4 6 1 3 5 3 7 5'";

std::string asset(const std::string& attributes) {
  return "<asset><mesh name='m' " + attributes + "/></asset>";
}

InertialDescription<double> inertial(const std::string& text) {
  const ParsedMjcf parsed = parse_text(text);
  EXPECT_TRUE(parsed.diagnostics.empty()) << parsed.first();
  EXPECT_TRUE(parsed.description.links.at(0).inertial);
  return parsed.description.links.at(0).inertial.value_or(InertialDescription<double>());
}

void expect_near(const InertialDescription<double>& found, double mass, const Vector3<double>& com,
                 const Matrix3<double>& tensor, double tolerance = 100 * kEps) {
  EXPECT_NEAR(found.mass, mass, tolerance * mass);
  EXPECT_LT((found.X_LI.p - com).norm(), tolerance * (1 + com.norm()));
  EXPECT_LT((rotate_tensor<double>(found.X_LI.R, found.tensor) - tensor).norm(),
            tolerance * tensor.norm())
      << found.tensor;
}

TEST(MjcfMesh, BoxWithDensityAndMass) {
  const auto solid = box_inertia(Density{1000.0}, {1, 2, 4}).tensor();
  for (const char* mode : {"exact", "legacy", "convex"}) {
    const std::string mesh = asset(kBox + " inertia='" + mode + "'");
    expect_near(inertial(body_with("<geom type='mesh' mesh='m'/>", mesh)), 8000, {0.5, 1, 2},
                solid);
    expect_near(inertial(body_with("<geom type='mesh' mesh='m' mass='4' pos='1 0 0'/>", mesh)), 4,
                {1.5, 1, 2}, solid / 2000);
  }
  // Only vertices: the hull.
  expect_near(inertial(body_with("<geom type='mesh' mesh='m' density='500'/>",
                                 asset(kBox.substr(0, kBox.find("face"))))),
              4000, {0.5, 1, 2}, solid / 2);
}

TEST(MjcfMesh, MirroredScaleAndReference) {
  // refpos is subtracted, refquat undone, then the scale is applied: a turn by 90 degrees about z
  // takes x to -y.
  const std::string mesh =
      asset(kBox + " inertia='exact' refpos='1 0 0' refquat='1 0 0 1' scale='-3 1 0.5'");
  const auto found = inertial(body_with("<geom type='mesh' mesh='m'/>", mesh));
  // The centre (-0.5, 1, 2) becomes (1, 0.5, 2), then (-3, 0.5, 1); the edges 2 3, 1, 4 0.5.
  expect_near(found, 12000, {-3, 0.5, 1}, box_inertia(Density{1000.0}, {6, 1, 2}).tensor());
}

TEST(MjcfMesh, ClassOfTheMeshAndSettingsOfTheCompiler) {
  const std::string classes =
      "<compiler exactmeshinertia='true' boundmass='1e6'/>"
      "<default><mesh scale='2 2 2'/><default class='k'><geom type='mesh' mesh='m'/></default>"
      "</default>";
  std::string flipped = kBox;  // one triangle
  flipped.replace(flipped.find("0 2 1 1 2 3"), 5, "0 1 2");
  const ParsedMjcf wrong = parse_text(body_with("<geom class='k'/>", classes + asset(flipped)));
  EXPECT_EQ(wrong.rules(), "mesh-mass-unknown:1");
  EXPECT_NE(wrong.first().find("orientation"), std::string::npos) << wrong.first();
  const auto found = inertial(body_with("<geom class='k' density='1'/>", classes + asset(kBox)));
  EXPECT_EQ(found.mass, 1e6);  // more than 64
  EXPECT_NEAR(found.X_LI.p[2], 4, 100 * kEps);
}

TEST(MjcfMesh, PrimitivesFittedToAMesh) {
  // The box that has the inertia of a box is that box.
  const std::string mesh = asset(kBox);
  expect_near(inertial(body_with("<geom type='box' mesh='m'/>", mesh)), 8000, {0.5, 1, 2},
              box_inertia(Density{1000.0}, {1, 2, 4}).tensor(), 1000 * kEps);
  const std::string aabb = "<compiler fitaabb='true'/>";
  expect_near(inertial(body_with("<geom type='box' mesh='m' mass='3' fitscale='2'/>", aabb + mesh)),
              3, {0.5, 1, 2}, box_inertia(Mass{3.0}, {2, 4, 8}).tensor(), 1000 * kEps);
  // Mean radius 0.75; half of the radius of a cap is taken from the half length 2.
  expect_near(inertial(body_with("<geom type='capsule' mesh='m'/>", mesh)),
              capsule_inertia(Density{1000.0}, 0.75, 3.25).mass(), {0.5, 1, 2},
              capsule_inertia(Density{1000.0}, 0.75, 3.25).tensor(), 1000 * kEps);
}

TEST(MjcfMesh, OnlyMeshesThatCountAreRead) {
  const std::string missing = asset("file='missing.stl'");
  for (const char* contents :
       {"<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/><geom type='mesh' mesh='m'/>",
        "<geom type='mesh' mesh='m'/><inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>",
        "<geom type='mesh' mesh='m' mass='0'/>", "<geom type='mesh' mesh='m' density='0'/>",
        "<geom type='sphere' mesh='m' density='0'/>", "<geom type='mesh' mesh='m' group='6'/>"}) {
    EXPECT_TRUE(parse_text(body_with(contents, missing)).diagnostics.empty()) << contents;
  }
  const std::string groups = "<compiler inertiagrouprange='0 1'/>";
  EXPECT_TRUE(parse_text(body_with("<geom type='mesh' mesh='m' group='2'/>", groups + missing))
                  .diagnostics.empty());
  const std::string no = "<compiler inertiafromgeom='false'/>";
  EXPECT_TRUE(
      parse_text(body_with("<geom type='mesh' mesh='m'/>", no + missing)).diagnostics.empty());
}

// A file beside the folder of the model exists, but is opened only if its folder is a root.
TEST(MjcfMesh, FilesOutsideTheFolderAreNamedWithTheirFolder) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "robot");
  std::filesystem::create_directories(folder.path() / "meshes");
  std::ofstream(folder.file("meshes/a.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                                "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const std::string text =
      body_with("<geom type='mesh' mesh='m'/>", asset("file='../meshes/a.obj'"));
  const std::string file = folder.file("robot/m.xml");
  Diagnostics refused, read;
  parse_mjcf(text, file, {}, refused);
  const std::string meshes = std::filesystem::canonical(folder.path() / "meshes").string();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].message,
            "mesh 'm': file '../meshes/a.obj' is outside the folder of the model and the given "
            "roots; to read it, give its folder as a root: " +
                meshes);
  const Description<double> robot = parse_mjcf(text, file, ReadOptions{{meshes}}, read);
  EXPECT_TRUE(read.empty());
  EXPECT_NEAR(robot.links.at(0).inertial.value().mass, 1000. / 6, 1e-9);
}

TEST(MjcfMesh, MissingMeshIsAnErrorOnceOrIgnored) {
  const std::string text = body_with("<geom type='mesh' mesh='m'/><geom type='mesh' mesh='m'/>",
                                     asset("file='parts/missing.stl'"));
  const ParsedMjcf refused = parse_text(text);
  ASSERT_EQ(refused.diagnostics.size(), 1u);
  EXPECT_EQ(refused.first(),
            "m.xml:1: error: mesh 'm': file 'parts/missing.stl' was not found in the folder of the "
            "model or the given roots [mesh-mass-unknown]");
  EXPECT_EQ(refused.diagnostics[0].reason, "mass and inertia of body 'b' depend on it");
  ReadOptions options;
  options.missing_meshes = MissingMeshes::ignore;
  const ParsedMjcf ignored = parse_text(text, options);
  EXPECT_EQ(ignored.rules(), "mesh-mass-ignored:1");
  EXPECT_EQ(ignored.diagnostics[0].severity, Diagnostic::Severity::warning);
  EXPECT_FALSE(ignored.description.links[0].inertial);
}

// The box is that of the other shapes, the origin and those of the children, at least 1 cm thick.
TEST(MjcfMesh, MissingMeshIsReplacedByABox) {
  ReadOptions options;
  options.missing_meshes = MissingMeshes::box;
  const std::string missing = asset("file='missing.stl'");
  const ParsedMjcf density = parse_text(
      body_with("<geom type='mesh' mesh='m'/><geom type='mesh' mesh='m'/><geom type='box' "
                "size='0.1 0.2 0.05' pos='0.1 0 0' mass='0'/><body pos='0.6 0 0'><geom "
                "size='0.1'/></body>",
                missing),
      options);
  ASSERT_EQ(density.diagnostics.size(), 2u);
  EXPECT_EQ(density.first(),
            "m.xml:1: warning: mesh 'm': file 'missing.stl' was not found in the folder of the "
            "model or the given roots; in body 'b' a box of 0.6 x 0.4 x 0.1 m at [0.3, 0, 0] has "
            "its mass, 24 kg [mesh-mass-box]");
  EXPECT_NE(density.diagnostics[1].message.find("part of the box of another mesh"),
            std::string::npos);
  const auto solid = [](const Vector3<double>& edges, double mass) {
    return Matrix3<double>((mass / 12 *
                            Vector3<double>(edges[1] * edges[1] + edges[2] * edges[2],
                                            edges[0] * edges[0] + edges[2] * edges[2],
                                            edges[0] * edges[0] + edges[1] * edges[1]))
                               .asDiagonal());
  };
  ASSERT_TRUE(density.description.links[0].inertial);
  expect_near(*density.description.links[0].inertial, 24, {0.3, 0, 0}, solid({0.6, 0.4, 0.1}, 24));
  // Masses that are given count each, whatever the box; nothing but the origin is known.
  const ParsedMjcf mass = parse_text(
      body_with("<geom type='mesh' mesh='m' mass='1'/><geom type='mesh' mesh='m' mass='2'/>",
                missing),
      options);
  ASSERT_TRUE(mass.description.links[0].inertial);
  expect_near(*mass.description.links[0].inertial, 3, {0, 0, 0}, solid({0.01, 0.01, 0.01}, 3));
  // Meshes that are found are not replaced.
  EXPECT_TRUE(parse_text(body_with("<geom type='mesh' mesh='m'/>", asset(kBox)), options)
                  .diagnostics.empty());
}

TEST(MjcfMesh, NamedRefusals) {
  const auto first = [](const std::string& attributes, const std::string& geom = "type='mesh'") {
    return parse_text(body_with("<geom mesh='m' " + geom + "/>", asset(attributes))).first();
  };
  const auto expect = [&](const std::string& found, const std::string& part) {
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expect(first("builtin='sphere' params='3'"), "(builtin='sphere') are not read");
  expect(first(""), "neither 'file' nor 'vertex'");
  expect(first("vertex='0 0 0 1'"), "attribute 'vertex' is not a list of finite numbers");
  expect(first("vertex='0 0 0 1 0 0 0 1 0 0 0 nan'"), "attribute 'vertex' is not a list");
  expect(first("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'"), "the index 4, expected 0 to 3");
  expect(first("vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 0.5'"), "the index 0.5");
  expect(first("vertex='0 0 0 1 0 0 0 1 0'"), "points is 3 points, expected at least 4");
  expect(first("vertex='0 0 0 1 0 0 0 1 0 1 1 0'"), "in one plane");
  expect(first(kBox + " scale='1 1 0'"), "the volume of the mesh is 0");
  expect(first(kBox + " scale='1e30 1e30 1e30'", "type='mesh' density='1e30' pos='1e30 0 0'"),
         "it is too large for its unit");
  expect(first(kBox + " refquat='0 0 0 0'"), "'refquat' is zero");
  expect(first(kBox + " inertia='convex' maxhullvert='6'"), "'maxhullvert' is 6");
  expect(first(kBox + " inertia='hollow'"), "attribute 'inertia' is 'hollow'");
  expect(first(kBox, "type='mesh' shellinertia='true'"), "[mesh-shell]");
  expect(first(kBox, "type='capsule' fromto='0 0 0 1 1 1'"), "[fitted-fromto]");
  expect(first(kBox, "type='mesh' mass='-1'"), "[geom-mass-negative]");
  EXPECT_EQ(first(kBox + " inertia='convex' maxhullvert='8'"), "nothing");
}

TEST(MjcfMesh, FilesAreFoundInTheMeshFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "parts");
  std::ofstream(folder.file("parts/t.obj")) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 6\n"
                                               "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder.file("parts/two.obj"))
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 6\nv 9 9 9\n"
         "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\no more\nf 1 2 5\n";
  std::ofstream(folder.file("parts/p.obj")) << "version https://git-lfs.github.com/spec/v1\n";
  const auto read = [&](const std::string& file) {
    return parse_text(
        body_with("<geom type='mesh' mesh='m'/><geom type='mesh' mesh='n'/>",
                  "<compiler meshdir='parts'/><asset><mesh name='m' file='" + file +
                      "'/><mesh name='n' file='" + file + "' scale='-1 1 1'/></asset>"),
        {}, folder.file("robot.xml"));
  };
  const ParsedMjcf good = read("t.obj");
  EXPECT_TRUE(good.diagnostics.empty()) << good.first();
  ASSERT_TRUE(good.description.links[0].inertial);
  EXPECT_NEAR(good.description.links[0].inertial->mass, 2000, 1e4 * kEps);
  EXPECT_NEAR(good.description.links[0].inertial->X_LI.p[0], 0, 10 * kEps);  // one is mirrored
  EXPECT_EQ(read("two.obj").rules(), "mesh-objects:1");
  EXPECT_NEAR(read("two.obj").description.links[0].inertial->mass, 2000, 1e4 * kEps);
  EXPECT_NE(read("p.obj").first().find("parts/p.obj: is a Git LFS pointer"), std::string::npos);
}

TEST(PrimitiveInertia, ShellsAreThinLayers) {
  using mjcf::GeomMass;
  using mjcf::primitive_inertia;
  using Shape = Geometry::Shape;
  const Vector3<double> half(0.1, 0.2, 0.3);
  const double layer = 1e-5;
  for (const Shape shape : {Shape::box, Shape::capsule, Shape::cylinder, Shape::sphere}) {
    // The half lengths of a capsule do not include the caps, which grow by themselves.
    Vector3<double> growth = Vector3<double>::Constant(layer);
    if (shape == Shape::capsule) growth[1] = 0;
    const GeomMass full{false, 1 / (2 * layer), false};
    const Inertia<double> expected = primitive_inertia(shape, half + growth, full) -
                                     primitive_inertia(shape, half - growth, full);
    const Inertia<double> found = primitive_inertia(shape, half, {false, 1, true});
    // The error is of second order in layer / size, 1e-4.
    EXPECT_NEAR(found.mass(), expected.mass(), 1e-7 * expected.mass());
    EXPECT_LT((found.tensor() - expected.tensor()).norm(), 1e-7 * expected.tensor().norm());
    const Inertia<double> two = primitive_inertia(shape, half, {true, 2, true});
    EXPECT_LT((two.tensor() - 2 / found.mass() * found.tensor()).norm(),
              10 * kEps * two.tensor().norm());
  }
  // A sphere as an ellipsoid: MuJoCo's layer of 1e-6 is outside of it.
  const auto sphere = primitive_inertia(Shape::sphere, {0.2, 0, 0}, {true, 2, true});
  const auto ellipsoid = primitive_inertia(Shape::ellipsoid, {0.2, 0.2, 0.2}, {true, 2, true});
  EXPECT_NEAR(ellipsoid.tensor()(0, 0) / sphere.tensor()(0, 0), 1 + 1e-6 / 0.2, 1e-9);
}

}  // namespace
}  // namespace limb::testing
