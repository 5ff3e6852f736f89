// Recursive forms agree with the numeric algorithms, for all joint types and sizes.
#include "limb/symbolic/derive/recursive_form.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/recipe/write_recipe.hpp"
#include "limb/model/testing/random_tree.hpp"
#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/derive/traced.hpp"

namespace limb::symbolic {
namespace {

/// Compares M, V, G, tau of the form with the numeric algorithms at random states.
void expect_numbers(const std::string& path, const RecursiveForm& form,
                    Base base = Base::described) {
  const Model<double> model = load_model(path, base);
  ASSERT_EQ(form.nv, model.nv());
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> number(-1, 1);
  Workspace<double> work(model);
  for (int round = 0; round < 3; ++round) {
    std::unordered_map<std::string, double> inputs;
    for (std::size_t i = 0; i < form.parameters.size(); ++i)
      inputs[form.parameters[i]] = form.defaults[i];
    // random_configuration() also gives unit quaternions, but not for coupled models.
    Eigen::VectorXd q = model.coupling().is_identity()
                            ? Eigen::VectorXd(model.random_configuration(engine))
                            : Eigen::VectorXd(model.nq());
    if (!model.coupling().is_identity()) {
      for (double& x : q) x = number(engine);
    }
    Eigen::VectorXd v(form.nv), a(form.nv), tau(form.nv), g(form.nv), h(form.nv);
    for (int i = 0; i < form.nv; ++i) {
      v[i] = number(engine);
      a[i] = number(engine);
    }
    for (int i = 0; i < form.nq; ++i) inputs["q" + std::to_string(i + 1)] = q[i];
    for (int i = 0; i < form.nv; ++i) {
      inputs["qd" + std::to_string(i + 1)] = v[i];
      inputs["qdd" + std::to_string(i + 1)] = a[i];
    }
    const auto results = evaluate(form, inputs);
    ASSERT_EQ(results.size(), 4u);
    const auto vector = [&](std::size_t k) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(results[k].data(), form.nv));
    };
    const JointEffects effects{.armature = true, .damping = true, .friction = false};
    rnea(model, work, q, v, a, tau, effects);
    gravity(model, work, q, g);
    bias(model, work, q, v, h, JointEffects::none());
    Eigen::MatrixXd M(form.nv, form.nv);
    crba(model, work, q, M);
    // The same sums in nearly the same order; trees of 30 joints lose a few hundred eps.
    const double tolerance = 1e-12;
    EXPECT_LT((vector(3) - tau).norm(), tolerance * (1 + tau.norm())) << path;
    EXPECT_LT((vector(2) - g).norm(), tolerance * (1 + g.norm())) << path;
    EXPECT_LT((vector(1) - (h - g)).norm(), tolerance * (1 + h.norm() + g.norm())) << path;
    const Eigen::MatrixXd found =
        Eigen::Map<const Eigen::MatrixXd>(results[0].data(), form.nv, form.nv);
    EXPECT_LT((found - M).norm(), tolerance * (1 + M.norm())) << path;
  }
}

// Constants are computed at once, each by its own function.
TEST(Traced, ConstantsAreFolded) {
  const Traced a(0.6), b(-2.5);
  EXPECT_EQ((a + b).constant(), 0.6 + -2.5);
  EXPECT_EQ((a - b).constant(), 0.6 - -2.5);
  EXPECT_EQ((a * b).constant(), 0.6 * -2.5);
  EXPECT_EQ((a / b).constant(), 0.6 / -2.5);
  EXPECT_EQ((-a).constant(), -0.6);
  EXPECT_EQ(sin(a).constant(), std::sin(0.6));
  EXPECT_EQ(cos(a).constant(), std::cos(0.6));
  EXPECT_EQ(sqrt(a).constant(), std::sqrt(0.6));
}

TEST(RecursiveForm, EveryBuiltinRobot) {
  for (const std::string& name : builtin_names()) {
    const std::string path = "builtin:" + name;
    const RecursiveForm form = derive_recursive(path);
    expect_numbers(path, form);
    RecordProperty(name, static_cast<int>(form.size()));
  }
}

TEST(RecursiveForm, AllJointTypesOnRandomTrees) {
  const limb::testing::TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    limb::testing::RandomTreeOptions options{.joints = 12};
    options.with_couplings = seed % 2 == 0;
    const std::string path = folder.file(std::to_string(seed) + ".toml");
    std::ofstream(path) << write_recipe(limb::testing::random_tree(seed, options));
    RecursiveOptions numbers;
    numbers.robot.parameters = Parameters::numbers;
    expect_numbers(path, derive_recursive(path, numbers));
    if (!options.with_couplings) {
      numbers.robot.base = Base::free;
      expect_numbers(path, derive_recursive(path, numbers), Base::free);
    }
  }
}

// All numbers of an arm become symbols, with the numbers as defaults.
TEST(RecursiveForm, ParametersMayBeSymbols) {
  RecursiveOptions symbols;
  symbols.robot.parameters = Parameters::symbols;
  const RecursiveForm form = derive_recursive("builtin:arm6", symbols);
  EXPECT_GT(form.parameters.size(), 30u);
  expect_numbers("builtin:arm6", form);
}

TEST(RecursiveForm, ComputesOnlyRequestedQuantities) {
  RecursiveOptions gravity_only;
  gravity_only.M = gravity_only.V = gravity_only.tau = false;
  const RecursiveForm form = derive_recursive("builtin:2r", gravity_only);
  ASSERT_EQ(form.outputs.size(), 1u);
  EXPECT_EQ(form.outputs[0].name, "G");
  const std::string text = to_text(form);
  EXPECT_EQ(text.find("qd"), std::string::npos);
  EXPECT_LT(form.size(), derive_recursive("builtin:2r").size());
}

TEST(Tape, FoldsConstantsAndSharesSubexpressions) {
  Tape tape;
  const Recording recording(tape);
  const Traced x = Traced::input("x"), y = Traced::input("y");
  EXPECT_EQ((x + y).node(), (y + x).node());
  EXPECT_EQ((x * Traced(0)).constant(), 0);
  EXPECT_TRUE((x - x).is_constant());
  EXPECT_EQ((x * Traced(1)).node(), x.node());
  EXPECT_EQ((x + (-y)).node(), (x - y).node());
  EXPECT_EQ((-(-x)).node(), x.node());
  EXPECT_EQ(((-x) * y).node(), (-(x * y)).node());
  EXPECT_EQ(Traced::input("x").node(), x.node());
  EXPECT_EQ((Traced(2) * Traced(3)).constant(), 6);
}

TEST(Tape, ReportsErrors) {
  using limb::testing::message;
  EXPECT_EQ(message([] { Traced::input("x"); }),
            "symbolic: no tape to record on, expected a Recording");
  EXPECT_EQ(message([] { select(Traced(1) < Traced(2), Traced(1), Traced(2)); }),
            "symbolic: a branch on a value has no recursive form [computation failed]");
}

}  // namespace
}  // namespace limb::symbolic
