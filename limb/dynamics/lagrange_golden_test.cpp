// Recorded states of real robots from Pinocchio 3.7 (golden/README.md): bias, gravity, inverse and
// forward dynamics by the books' iterations, C v and dM/dt by the Coriolis matrix.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/dynamics/textbook/modern_robotics.hpp"
#include "limb/dynamics/torque_budget.hpp"
#include "limb/model/convert_pinocchio.hpp"
#include "limb/model/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Vector vector(const Json& j) {
  const auto numbers = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

Matrix matrix(const Json& j) {
  Matrix m(static_cast<Eigen::Index>(j.size()), static_cast<Eigen::Index>(j[0].size()));
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    m.row(r) = vector(j[static_cast<std::size_t>(r)]).transpose();
  }
  return m;
}

class Golden : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Robots, Golden,
                         ::testing::Values("anymal_b_ff", "anymal_b_fixed",
                                           "double_pendulum_continuous_fixed",
                                           "double_pendulum_fixed", "go2_ff", "hyq_ff", "hyq_fixed",
                                           "iiwa14_ff", "iiwa14_fixed", "panda_ff", "panda_fixed",
                                           "simple_humanoid_ff", "simple_humanoid_fixed",
                                           "talos_reduced_ff", "ur5_fixed"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(Golden, BooksAndLagrange) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no shared folder with golden values beside the checkout";
  std::ifstream in(shared / "golden" / (std::string(GetParam()) + ".json"));
  ASSERT_TRUE(in.good());
  const Json golden = Json::parse(in);
  const auto description = load_description((shared / golden["urdf"].get<std::string>()).string());
  const Model<double> model =
      build_model(description, golden["base"] == "fixed" ? Base::fixed : Base::free)
          .without_couplings();
  const PinocchioConvention convention(model, description);
  const int n = model.velocity_size();
  Kinematics<double> kinematics(model);
  LagrangeScratch<double> scratch(model);
  TorqueBudgetScratch<double> budget_scratch(model);
  TorqueBudget<double> budget(model);

  // Sums over up to 39 bodies in another order than the recorded program's; relative to the size
  // of the whole. Measured: at most 40 eps, for all but forward dynamics.
  double worst = 0, worst_forward = 0;
  const auto near = [&](const Matrix& found, const Matrix& expected, const char* what) {
    const double error = (found - expected).norm() / std::max(1.0, expected.norm());
    worst = std::max(worst, error);
    EXPECT_LT(error, 128 * kEps) << what;
  };
  // That one solves with M, whose condition number is up to 1e5 here. Measured: at most 5500 eps.
  const auto near_forward = [&](const Matrix& found, const Matrix& expected, const char* what) {
    const double error = (found - expected).norm() / std::max(1.0, expected.norm());
    worst_forward = std::max(worst_forward, error);
    EXPECT_LT(error, 1e-11) << what;
  };
  for (const Json& state : golden["states"]) {
    const Vector q = convention.q_from(vector(state["q"]));
    const Vector v = convention.v_from(q, vector(state["v"]));
    const Vector a = convention.a_from(q, v, vector(state["a"]));
    const Vector tau = convention.tau_from(q, vector(state["tau"]));
    const Vector rest = Vector::Zero(n);
    const auto to = [&](const Vector& x) { return convention.tau_to(q, x); };
    const Vector tau_rnea = vector(state["tau_rnea"]), nle = vector(state["nle"]),
                 g = vector(state["g"]);

    near(to(textbook::featherstone::rnea(model, q, v, a)), tau_rnea, "Featherstone");
    near(to(textbook::modern_robotics::inverse_dynamics(model, q, v, a)), tau_rnea, "Lynch");
    near(to(textbook::craig::inverse_dynamics(model, q, v, a)), tau_rnea, "Craig");
    near(to(textbook::featherstone::rnea(model, q, v, rest)), nle, "nle");
    near(to(textbook::lagrange::gravity(model, q)), g, "g");
    const Vector a_tau = textbook::featherstone::aba(model, q, v, tau);
    near_forward(convention.a_to(q, v, a_tau), vector(state["ddq_aba"]), "ddq_aba");

    const Json& fext = state["fext"];
    const FrameWrench<double> push[] = {
        {model.find_frame(fext["frame"].get<std::string>()),
         convention.wrench_from(Vector6<double>(vector(fext["f_local"])))}};
    const Vector tau_fext = vector(fext["tau_rnea"]);
    near(to(textbook::featherstone::rnea(model, q, v, a, push)), tau_fext, "wrench, Featherstone");
    near(to(textbook::craig::inverse_dynamics(model, q, v, a, push)), tau_fext, "wrench, Craig");
    const Vector a_push = textbook::featherstone::aba(model, q, v, tau, push);
    near_forward(convention.a_to(q, v, a_push), vector(fext["ddq_aba"]), "wrench, ddq_aba");
    forward_kinematics(model, q, v, a, kinematics);
    torque_budget(model, kinematics, budget_scratch, budget, push, JointEffects::none());
    near(to(budget.tau), tau_fext, "budget");
    near(to(budget.gravity), g, "gravity of the budget");

    Matrix C(n, n);
    coriolis_matrix(model, kinematics, scratch, C);
    near(to(C * v), nle - g, "C v");
    if (state.contains("M")) {
      near(convention.mass_matrix_to(q, textbook::featherstone::crba(model, q)), matrix(state["M"]),
           "M of composite bodies");
      near(convention.mass_matrix_to(q, textbook::lagrange::mass_matrix(model, q)),
           matrix(state["M"]), "M of Jacobians");
    }
    if (state.contains("C")) {
      const Matrix recorded = matrix(state["C"]);
      // The sum cancels most of C: its error is that of the terms of C, which are of size |M| |v|.
      const Matrix difference =
          convention.mass_matrix_to(q, C + C.transpose()) - recorded - recorded.transpose();
      near(difference / (matrix(state["M"]).norm() * v.norm()), Matrix::Zero(n, n), "dM/dt");
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst / kEps));
  RecordProperty("worst_forward_in_eps", std::to_string(worst_forward / kEps));
}

}  // namespace
}  // namespace limb
