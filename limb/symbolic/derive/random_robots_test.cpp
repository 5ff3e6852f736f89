// Random small robots with symbolic parameters: trees of two and three joints of all types that
// have closed forms, joint frames rotated by quarter turns, other angles and symbolic angles,
// gravity in any direction, couplings, drives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/symbolic/derive/templates.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using limb::testing::ClosedForms;

/// The text of a recipe; every parameter has a random value.
std::string random_recipe(unsigned seed) {
  std::mt19937_64 engine(seed);
  const auto pick = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  std::string parameters = "[parameters]\n", body;
  const auto parameter = [&](const std::string& name) {
    parameters += fmt::format("{} = {}\n", name, 0.1 + 0.01 * pick(150));
    return fmt::format("\"{}\"", name);
  };
  const auto maybe = [&](const std::string& name) { return pick(2) == 0 ? "0" : parameter(name); };
  const auto vector = [&](const std::string& name) {
    const std::string x = maybe(name + "x"), y = maybe(name + "y"), z = maybe(name + "z");
    return fmt::format("[{}, {}, {}]", x, y, z);
  };
  const auto rotation = [&](const std::string& name) {
    std::vector<std::string> rpy = {"0", "0", "0"};
    static const std::vector<std::string> kQuarters = {"0", "\"pi/2\"", "\"-pi/2\"", "\"pi\""};
    for (std::string& angle : rpy) angle = kQuarters[static_cast<std::size_t>(pick(4))];
    static const std::vector<std::string> kOthers = {"\"pi/4\"", "\"-pi/3\"", "\"pi/9\"", "0.35"};
    const int odd = pick(5);
    if (odd < 3) {
      const bool symbol = pick(3) == 0;
      rpy[static_cast<std::size_t>(odd)] =
          symbol ? parameter(name) : kOthers[static_cast<std::size_t>(pick(4))];
    }
    return fmt::format("[{}, {}, {}]", rpy[0], rpy[1], rpy[2]);
  };
  const int n = 2 + pick(2);
  for (int i = 1; i <= n; ++i) {
    static const std::vector<std::string> kTypes = {"revolute",    "revolute",   "revolute",
                                                    "prismatic",   "continuous", "helical",
                                                    "cylindrical", "universal"};
    // Joints with two degrees of freedom only in robots of two joints, to keep the forms small.
    const std::string type = kTypes[static_cast<std::size_t>(pick(n == 2 ? 8 : 6))];
    body += fmt::format("[[link]]\nname = \"link{0}\"\nmass = {1}\ncom = {2}\n", i,
                        parameter(fmt::format("m{}", i)), vector(fmt::format("c{}", i)));
    body += "inertia_entries = {";
    for (const char* axes : {"xx", "yy", "zz", "xy", "xz", "yz"}) {
      const std::string name = fmt::format("I{}{}", axes, i);
      body += fmt::format("{} = {}{}", axes, axes[0] == axes[1] ? parameter(name) : maybe(name),
                          std::string(axes) == "yz" ? "}\n" : ", ");
    }
    const std::string parent = i == 1 || pick(4) == 0 ? "world" : fmt::format("link{}", i - 1);
    body += fmt::format(
        "[[joint]]\nname = \"joint{0}\"\ntype = \"{1}\"\nparent = \"{2}\"\n"
        "child = \"link{0}\"\nxyz = {3}\nrpy = {4}\n",
        i, type, parent, vector(fmt::format("l{}", i)), rotation(fmt::format("al{}", i)));
    static const std::vector<std::string> kAxes = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]",
                                                   "[0, -1, 0]", "[0.6, 0, 0.8]"};
    const int axis = pick(type == "universal" ? 4 : i == 1 ? 5 : 4);
    body += "axis = " + kAxes[static_cast<std::size_t>(axis)] + "\n";
    if (type == "universal") {
      body += "axis2 = " + kAxes[static_cast<std::size_t>((axis + 1) % 3)] + "\n";
    }
    if (type == "helical") body += "pitch = " + parameter(fmt::format("h{}", i)) + "\n";
    if (pick(3) == 0) body += "armature = " + parameter(fmt::format("J{}", i)) + "\n";
    if (pick(3) == 0) body += "damping = " + parameter(fmt::format("b{}", i)) + "\n";
    const bool single = type != "cylindrical" && type != "universal";
    if (i == 3 && single && pick(2) == 0 && body.find("\"cylindrical\"") == body.npos) {
      body +=
          "[[coupling]]\njoint = \"joint3\"\nterms = [{joint = \"joint1\", ratio = \"-1/2\"}, "
          "{joint = \"joint2\", ratio = 2}]\noffset = \"pi/6\"\n";
    }
  }
  const std::string gravity = vector("g");
  return fmt::format("name = \"random{}\"\ngravity = {}\n{}\n{}", seed, gravity, parameters, body);
}

std::string recipe_file(unsigned seed) {
  static const limb::testing::TemporaryFolder folder;
  const std::string path = folder.file(fmt::format("random_{}.toml", seed));
  std::ofstream(path) << random_recipe(seed);
  return path;
}

class RandomRobot : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRobot, ::testing::Range(1u, 56u));

TEST_P(RandomRobot, BothMethodsGiveTheSamePolynomials) {
  const ClosedForms f(recipe_file(GetParam()));
  for (Eigen::Index i = 0; i < f.newton_euler.size(); ++i) {
    ASSERT_EQ(f.lagrange.tau[i], f.newton_euler[i]) << "seed " << GetParam() << ", joint " << i;
  }
  // M by the composite rigid body algorithm, with the same scalar.
  Workspace<P> work(f.robot.model);
  Matrix M = Matrix::Constant(f.lagrange.M.rows(), f.lagrange.M.cols(), P(0));
  crba(f.robot.model, work, f.robot.q(), M);
  EXPECT_EQ(M, f.lagrange.M);
  const ClosedForm other = closed_form_from_torques(f.robot, f.newton_euler);
  EXPECT_EQ(other.M, f.lagrange.M);
  EXPECT_EQ(other.V, f.lagrange.V);
  EXPECT_EQ(other.G, f.lagrange.G);
}

TEST_P(RandomRobot, IdentitiesHoldAsPolynomials) {
  const ClosedForms f(recipe_file(GetParam()));
  const ClosedForm& form = f.lagrange;
  const Eigen::Index n = form.M.rows();
  const Matrix transposed = form.M.transpose();
  EXPECT_EQ(form.M, transposed);
  const P L = form.K - form.P;
  P power, loss;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Coordinate& c = f.robot.coordinates[static_cast<std::size_t>(i)];
    // d/dt dL/dqd - dL/dq
    EXPECT_EQ(rate(differentiate(L, c.v)) - differentiate(L, c.q) + form.damping[i], form.tau[i]);
    // dM/dt - 2 C is skew.
    for (Eigen::Index j = 0; j < n; ++j) {
      const P a = rate(form.M(i, j)) - P(2) * form.C(i, j);
      const P b = rate(form.M(j, i)) - P(2) * form.C(j, i);
      EXPECT_TRUE((a + b).is_zero());
    }
    power += form.tau[i] * P::symbol(f.robot.ring, c.v);
    loss += form.damping[i] * P::symbol(f.robot.ring, c.v);
  }
  // d(K + P)/dt is the power of the torques minus that of the dampers.
  EXPECT_EQ(rate(form.K + form.P), power - loss);
  // V from its centrifugal and Coriolis parts.
  const Vector v = f.robot.v();
  Vector squares(n), pairs(n * (n - 1) / 2);
  for (Eigen::Index i = 0; i < n; ++i) squares[i] = v[i] * v[i];
  velocity_products<P>(v, pairs);
  const Vector centrifugal = form.centrifugal.lazyProduct(squares);
  const Vector coriolis = form.coriolis.lazyProduct(pairs);
  EXPECT_EQ(Vector(centrifugal + coriolis), form.V);
}

// The numeric algorithms at the same values, on a model read independently.
TEST_P(RandomRobot, MatchesNumericRnea) {
  const std::string path = recipe_file(GetParam());
  const ClosedForms f(path);
  const Model<double> model = load_model(path);
  std::mt19937_64 engine(GetParam());
  std::vector<double> x = limb::testing::random_values(*f.robot.ring, engine);
  const std::vector<double> known = known_values(*f.robot.ring);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (f.robot.ring->symbols()[i].kind == Symbol::Kind::parameter) x[i] = known[i];
  }
  const Eigen::Index n = model.nv();
  ASSERT_EQ(n, static_cast<Eigen::Index>(f.robot.coordinates.size()));
  Eigen::VectorXd q(n), v(n), a(n), tau(n), found(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Coordinate& c = f.robot.coordinates[static_cast<std::size_t>(i)];
    q[i] = x[c.q];
    v[i] = x[c.v];
    a[i] = x[c.a];
    found[i] = evaluate(f.lagrange.tau[i], x);
  }
  Workspace<double> work(model);
  rnea(model, work, q, v, a, tau);
  // Up to a thousand terms of the size of tau: 1e-12 is a few thousand eps.
  EXPECT_LT((found - tau).norm(), 1e-12 * (1 + tau.norm())) << "seed " << GetParam();
}

}  // namespace
}  // namespace limb::symbolic
