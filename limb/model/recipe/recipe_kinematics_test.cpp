// The same robot written in standard DH, modified DH, screw axes and explicit placements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limb/math/testing/random.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/testing/description_dynamics.hpp"

namespace limb {
namespace {

Description<double> in_models(const std::string& name) {
  return read_recipe(fmt::format("{}/testing/{}.toml", LIMB_MODELS, name));
}

/// Compares joint axes as lines in the world, link inertias in the world, and tool poses.
void expect_same_robot(const Description<double>& a, const Description<double>& b, unsigned seed) {
  testing::Random random(seed);
  const int n = testing::moving_joints(a);
  ASSERT_EQ(n, testing::moving_joints(b));
  // Chains of up to 7 products of poses of size ~1; measured below 3e-15.
  const double tolerance = 1e-14;
  EXPECT_LT((a.gravity - b.gravity).norm(), tolerance);
  for (int trial = 0; trial < 20; ++trial) {
    VectorX<double> q(n);
    for (int i = 0; i < n; ++i) q[i] = random.uniform(-3, 3);
    const auto wa = testing::forward_kinematics(a, q), wb = testing::forward_kinematics(b, q);
    for (std::size_t i = 0; i < wa.joints.size(); ++i) {
      SCOPED_TRACE(fmt::format("seed {} joint {}", seed, i));
      EXPECT_EQ(wa.joints[i].name, wb.joints[i].name);
      const Vector3<double>& axis = wa.joints[i].axis_W;
      EXPECT_LT((axis - wb.joints[i].axis_W).norm(), tolerance);
      EXPECT_LT(axis.cross(wa.joints[i].point_W - wb.joints[i].point_W).norm(), tolerance);
      EXPECT_LT((wa.links[i].com_W - wb.links[i].com_W).norm(), tolerance);
      const auto matrix = wa.links[i].I_W.matrix();
      EXPECT_LT((matrix - wb.links[i].I_W.matrix()).norm(), tolerance * matrix.norm());
    }
    ASSERT_EQ(a.frames.size(), 1u);
    ASSERT_EQ(b.frames.size(), 1u);
    const Pose<double> ta = wa.links.back().X_WL * a.frames[0].X_LF;
    const Pose<double> tb = wb.links.back().X_WL * b.frames[0].X_LF;
    EXPECT_LT((ta.matrix() - tb.matrix()).norm(), tolerance);
  }
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    ASSERT_EQ(a.joints[i].limits.size(), b.joints[i].limits.size());
    for (std::size_t k = 0; k < a.joints[i].limits.size(); ++k) {
      EXPECT_EQ(a.joints[i].limits[k].lower, b.joints[i].limits[k].lower);
      EXPECT_EQ(a.joints[i].limits[k].velocity, b.joints[i].limits[k].velocity);
    }
  }
}

TEST(RecipeKinematics, Arm7IsTheSameRobotInFourForms) {
  const auto arm = read_builtin("arm7");  // modified DH
  expect_same_robot(arm, in_models("arm7_standard_dh"), 1);
  expect_same_robot(arm, in_models("arm7_screw"), 2);
  expect_same_robot(arm, in_models("arm7_explicit"), 3);
}

TEST(RecipeKinematics, Planar2RIsTheSameRobotInFourForms) {
  const auto arm = read_builtin("2r");  // standard DH
  expect_same_robot(arm, in_models("2r_modified_dh"), 4);
  expect_same_robot(arm, in_models("2r_screw"), 5);
  expect_same_robot(arm, in_models("2r_explicit"), 6);
}

Description<double> parse(const std::string& text) {
  Diagnostics diagnostics;
  auto d = parse_recipe<double>("name = \"robot\"\n" + text, "r.toml", {}, diagnostics);
  for (const auto& diagnostic : diagnostics) ADD_FAILURE() << diagnostic.text();
  return d;
}

/// The 4 x 4 matrix of a DH row as in the textbooks.
Matrix4<double> craig_row(double alpha, double a, double d, double theta) {
  const double ct = std::cos(theta), st = std::sin(theta), ca = std::cos(alpha),
               sa = std::sin(alpha);
  Matrix4<double> X;
  X << ct, -st, 0, a, st * ca, ct * ca, -sa, -sa * d, st * sa, ct * sa, ca, ca * d, 0, 0, 0, 1;
  return X;
}
Matrix4<double> spong_row(double alpha, double a, double d, double theta) {
  const double ct = std::cos(theta), st = std::sin(theta), ca = std::cos(alpha),
               sa = std::sin(alpha);
  Matrix4<double> X;
  X << ct, -st * ca, st * sa, a * ct, st, ct * ca, -ct * sa, a * st, 0, sa, ca, d, 0, 0, 0, 1;
  return X;
}

// Entry by entry against the matrices of [Craig 2005, Sec. 3.4] and [Spong 2006, Sec. 3.2].
TEST(RecipeKinematics, DhRowsMatchTheTextbookMatrices) {
  const std::string rows[] = {"standard_dh", "modified_dh"};
  for (const std::string& form : rows) {
    const auto d = parse(
        fmt::format("[[{0}]]\ntype = \"revolute\"\ntheta = 0.3\nd = 0.4\na = 0.5\nalpha = 0.6\n"
                    "[[{0}]]\ntype = \"prismatic\"\ntheta = -1.1\nd = 0.2\na = -0.7\nalpha = 2.5\n",
                    form));
    const auto row = form == "standard_dh" ? spong_row : craig_row;
    const auto w = testing::forward_kinematics(d, Eigen::Vector2d(0.9, 0.35));
    const Matrix4<double> expected =
        row(0.6, 0.5, 0.4, 0.3 + 0.9) * row(2.5, -0.7, 0.2 + 0.35, -1.1);
    // Two products of entries below 1; 8 eps.
    EXPECT_LT((w.links[1].X_WL.matrix() - expected).norm(), 2e-15) << form;
  }
}

// X(q) = exp(S1 q1) ... exp(Sn qn) M, [Lynch & Park 2017, Sec. 4.1.1], random screws.
TEST(RecipeKinematics, ScrewsAreTheProductOfExponentials) {
  testing::Random random(7);
  std::string text;
  std::vector<Motion<double>> screws;
  std::vector<Pose<double>> home;
  const auto vec = [](const Vector3<double>& v) {
    return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]);
  };
  const auto placed = [&vec](const Pose<double>& X) {
    return fmt::format("{{xyz = {}, matrix = [{}, {}, {}]}}", vec(X.p), vec(X.R.row(0)),
                       vec(X.R.row(1)), vec(X.R.row(2)));
  };
  const std::string types[] = {"revolute", "prismatic", "helical", "revolute", "continuous"};
  for (const std::string& type : types) {
    const Vector3<double> w = random.direction<double>(), q = random.vector<double>();
    const double pitch = type == "helical" ? 0.3 : 0;
    home.push_back(random.pose<double>());
    text += fmt::format("[[screw]]\ntype = \"{}\"\n", type);
    if (type == "prismatic") {
      screws.push_back({w, Vector3<double>::Zero()});
      text += fmt::format("v = {}\n", vec(w));
    } else {
      screws.push_back({-w.cross(q) + pitch * w, w});
      const bool point = type == "continuous";
      text += fmt::format("w = {}\n{} = {}\n", vec(w), point ? "q" : "v",
                          vec(point ? q : screws.back().v));
    }
    text += fmt::format("home = {}\n", placed(home.back()));
  }
  const Pose<double> base = random.pose<double>();
  const auto d = parse(fmt::format("base = {}\n{}", placed(base), text));
  for (int trial = 0; trial < 10; ++trial) {
    VectorX<double> q(5);
    for (int i = 0; i < 5; ++i) q[i] = random.uniform(-2, 2);
    const auto w = testing::forward_kinematics(d, q);
    Pose<double> X = base;
    for (int i = 0; i < 5; ++i) {
      const auto k = static_cast<std::size_t>(i);
      X = X * se3::exp<double>(screws[k] * q[i]);
      // Five products of poses whose entries reach 5; measured below 3e-15.
      EXPECT_LT((w.links[k].X_WL.matrix() - (X * home[k]).matrix()).norm(), 3e-14) << "seed 7";
    }
  }
}

TEST(RecipeKinematics, RowsMayBranch) {
  const auto d = parse(R"(
[[modified_dh]]
type = "revolute"
link = "trunk"
[[modified_dh]]
type = "revolute"
a = 1
[[modified_dh]]
type = "revolute"
parent = "trunk"
a = -1
)");
  EXPECT_EQ(d.joints[1].parent, "trunk");
  EXPECT_EQ(d.joints[2].parent, "trunk");
  EXPECT_EQ(d.joints[2].child, "link3");
}

}  // namespace
}  // namespace limb
