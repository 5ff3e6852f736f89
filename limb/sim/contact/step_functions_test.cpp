// Compiled functions of a step against the templates, on random trees of all joint types and on the
// built-in robots.
#include "limb/sim/contact/step_functions.hpp"

#include <gtest/gtest.h>

#include "limb/codegen/program.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr JointEffects kEffects = {true, true, false};
constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<testing::Sample> robots() {
  std::vector<testing::Sample> all = testing::samples(4);
  for (auto& sample : testing::driven_samples(4)) all.push_back(std::move(sample));
  for (const char* name : {"builtin:arm7", "builtin:quadruped", "builtin:humanoid"}) {
    all.push_back(testing::sample_of(name, load_model(name), 3));
  }
  return all;
}

double distance(const Vector& a, const Vector& b) {
  return (a - b).norm() / (1 + b.norm());
}

TEST(StepFunctions, AgreeWithTheTemplates) {
  if (!codegen::why_no_machine_code().empty()) GTEST_SKIP() << codegen::why_no_machine_code();
  int factored = 0;
  for (const testing::Sample& sample : robots()) {
    SCOPED_TRACE(sample.name);
    const Model<double>& model = sample.model;
    const int n = model.nv();
    StepFunctions functions(model, kEffects);
    functions.add_poses();
    Workspace<double> work(model, Loops::open);

    // Bodies of these robots are within metres of each other; sums of at most 20 poses.
    const double tolerance = 1e3 * kEps;
    Vector tau(n), expected_tau(n);
    bias<double>(model, work, sample.q, sample.v, expected_tau, kEffects);
    functions.bias(sample.q, sample.v, tau);
    EXPECT_LT(distance(tau, expected_tau), tolerance);
    Kinematics<double> kinematics(model), expected(model);
    forward_kinematics(model, sample.q, expected);
    const auto check_poses = [&] {
      for (std::size_t i = 1; i < expected.X_WB.size(); ++i) {
        EXPECT_LT((kinematics.X_WB[i].R - expected.X_WB[i].R).norm(), tolerance);
        EXPECT_LT((kinematics.X_WB[i].p - expected.X_WB[i].p).norm(), tolerance);
      }
      for (std::size_t j = 0; j < expected.S_W.size(); ++j) {
        EXPECT_LT((kinematics.S_W[j].vector() - expected.S_W[j].vector()).norm(), tolerance);
      }
    };
    ASSERT_TRUE(functions.poses(sample.q, kinematics));
    check_poses();

    const Vector added = sample.tau.cwiseAbs();
    MassFactor<double> factor(model);
    const bool plain = model.coupling().is_identity();
    ASSERT_EQ(
        functions.factorize(sample.q, plain ? added : Vector::Zero(model.uncoupled_nv()), factor),
        plain);
    if (!plain) continue;
    ++factored;
    Matrix M(n, n);
    crba<double>(model, work, sample.q, M, {true, false, false});
    M.diagonal() += added;
    MassFactor<double> expected_factor(model);
    ASSERT_TRUE(factorize_mass<double>(model, M, expected_factor).ok());
    // The errors of a factor and a solution grow with the condition number of M, here up to 1e4.
    const double conditioned = 1e4 * tolerance;
    const auto check_factor = [&] {
      const auto &F = factor.packed(), &E = expected_factor.packed();
      EXPECT_LT(distance(F.D, E.D), conditioned);
      EXPECT_LT(distance(F.inverse, E.inverse), conditioned);
      for (int k = 0; k < n; ++k) {
        for (int m = 0; m < F.depth[F.at(k)]; ++m) {
          EXPECT_NEAR(F.row(k)[m], E.row(k)[m], conditioned * (1 + std::abs(E.row(k)[m])));
        }
      }
    };
    check_factor();
    Vector x(n), forward(n);
    ASSERT_TRUE(functions.solve(factor, sample.tau, x));
    EXPECT_LT(distance(M * x, sample.tau), conditioned);
    ASSERT_TRUE(functions.solve_forward(factor, sample.tau, forward));
    Vector expected_forward = sample.tau;
    kernel::solve_forward(expected_factor.packed(), n, expected_forward.data());
    EXPECT_LT(distance(forward, expected_forward), conditioned);

    // The same in one function.
    for (const bool with_poses : {false, true}) {
      tau.setZero();
      kinematics = Kinematics<double>(model);
      factor = MassFactor<double>(model);
      ASSERT_TRUE(functions.begin(sample.q, sample.v, added, factor, tau,
                                  with_poses ? &kinematics : nullptr));
      EXPECT_LT(distance(tau, expected_tau), tolerance);
      check_factor();
      if (with_poses) check_poses();
    }
  }
  EXPECT_GT(factored, 10);
}

TEST(StepFunctions, LeaveASingularMassMatrixToTheTemplates) {
  if (!codegen::why_no_machine_code().empty()) GTEST_SKIP() << codegen::why_no_machine_code();
  RobotBuilder<double> robot("massless");
  robot.link("arm", 1, {0.5, 0, 0}, 0.1 * Matrix3<double>::Identity());
  robot.link("tip", 0, {0, 0, 0}, Matrix3<double>::Zero());
  robot.joint("shoulder", Joint<double>::revolute({0, 0, 1}), "world", "arm");
  robot.joint("wrist", Joint<double>::revolute({0, 1, 0}), "arm", "tip");
  const Model<double> model = robot.build();
  const StepFunctions functions(model, kEffects);
  MassFactor<double> factor(model);
  const Vector zero = Vector::Zero(2);
  Vector tau(2);
  EXPECT_FALSE(functions.factorize(zero, zero, factor));
  EXPECT_FALSE(factor.is_ready());
  EXPECT_FALSE(functions.begin(zero, zero, zero, factor, tau, nullptr));
  EXPECT_FALSE(functions.solve(factor, zero, tau));
  EXPECT_TRUE(functions.factorize(zero, Vector::Constant(2, 0.1), factor));
}

}  // namespace
}  // namespace limb
