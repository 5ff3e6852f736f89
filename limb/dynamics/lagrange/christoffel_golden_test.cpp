// Recorded states of real robots from Pinocchio 3.7 (golden/README.md): bias, gravity, inverse and
// forward dynamics by the textbook algorithms, C v and dM/dt by the Coriolis matrix.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/dynamics/textbook/modern_robotics.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/golden.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::matrix_of;
using testing::vector_of;
constexpr double kEps = std::numeric_limits<double>::epsilon();

class Golden : public testing::GoldenTest {};
INSTANTIATE_TEST_SUITE_P(Robots, Golden, testing::golden_files(), testing::golden_name);

TEST_P(Golden, TextbookAndLagrange) {
  const auto description = load_description(urdf_);
  const Model<double> model = build_model(description, base()).without_couplings();
  const PinocchioConvention convention(model, description);
  const int n = model.nv();
  Kinematics<double> kinematics(model);
  LagrangeScratch<double> scratch(model);
  TorqueBudgetScratch<double> budget_scratch(model);
  TorqueBudget<double> budget(model);

  // Sums over up to 39 bodies in another order than Pinocchio's; relative to the norm of the whole.
  // Measured: at most 40 eps, for all but forward dynamics.
  Worst worst, worst_forward;
  const auto near = [&](const Matrix& found, const Matrix& expected, const char* what) {
    const double error = (found - expected).norm() / std::max(1.0, expected.norm());
    worst.add(error);
    EXPECT_LT(error, 128 * kEps) << what;
  };
  // Forward dynamics solves with M, whose condition number is up to 1e5 here. Measured: at most
  // 5500 eps.
  const auto near_forward = [&](const Matrix& found, const Matrix& expected, const char* what) {
    const double error = (found - expected).norm() / std::max(1.0, expected.norm());
    worst_forward.add(error);
    EXPECT_LT(error, 1e-11) << what;
  };
  for (const Json& state : golden_["states"]) {
    const Vector q = convention.q_from(vector_of(state["q"]));
    const Vector v = convention.v_from(q, vector_of(state["v"]));
    const Vector a = convention.a_from(q, v, vector_of(state["a"]));
    const Vector tau = convention.tau_from(q, vector_of(state["tau"]));
    const Vector rest = Vector::Zero(n);
    const auto to = [&](const Vector& x) { return convention.tau_to(q, x); };
    const Vector tau_rnea = vector_of(state["tau_rnea"]), nle = vector_of(state["nle"]),
                 g = vector_of(state["g"]);

    near(to(textbook::featherstone::rnea(model, q, v, a)), tau_rnea, "Featherstone");
    near(to(textbook::modern_robotics::inverse_dynamics(model, q, v, a)), tau_rnea, "Lynch");
    near(to(textbook::craig::inverse_dynamics(model, q, v, a)), tau_rnea, "Craig");
    near(to(textbook::featherstone::rnea(model, q, v, rest)), nle, "nle");
    near(to(textbook::lagrange::gravity(model, q)), g, "g");
    const Vector a_tau = textbook::featherstone::aba(model, q, v, tau);
    near_forward(convention.a_to(q, v, a_tau), vector_of(state["ddq_aba"]), "ddq_aba");

    const Json& fext = state["fext"];
    const FrameWrench<double> push[] = {
        {model.find_frame(fext["frame"].get<std::string>()),
         convention.wrench_from(Vector6<double>(vector_of(fext["f_local"])))}};
    const Vector tau_fext = vector_of(fext["tau_rnea"]);
    near(to(textbook::featherstone::rnea(model, q, v, a, push)), tau_fext, "wrench, Featherstone");
    near(to(textbook::craig::inverse_dynamics(model, q, v, a, push)), tau_fext, "wrench, Craig");
    const Vector a_push = textbook::featherstone::aba(model, q, v, tau, push);
    near_forward(convention.a_to(q, v, a_push), vector_of(fext["ddq_aba"]), "wrench, ddq_aba");
    forward_kinematics(model, q, v, a, kinematics);
    torque_budget(model, kinematics, budget_scratch, push, budget, JointEffects::none());
    near(to(budget.tau), tau_fext, "budget");
    near(to(budget.gravity), g, "gravity of the budget");

    Matrix C(n, n);
    coriolis_matrix(model, kinematics, scratch, C);
    near(to(C * v), nle - g, "C v");
    if (state.contains("M")) {
      near(convention.mass_matrix_to(q, textbook::featherstone::crba(model, q)),
           matrix_of(state["M"]), "M of composite bodies");
      near(convention.mass_matrix_to(q, textbook::lagrange::mass_matrix(model, q)),
           matrix_of(state["M"]), "M of Jacobians");
    }
    if (state.contains("C")) {
      const Matrix recorded = matrix_of(state["C"]);
      // The sum cancels most of C: its error is that of the terms of C, which are of size |M| |v|.
      const Matrix difference =
          convention.mass_matrix_to(q, C + C.transpose()) - recorded - recorded.transpose();
      near(difference / (matrix_of(state["M"]).norm() * v.norm()), Matrix::Zero(n, n), "dM/dt");
    }
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
  RecordProperty("worst_forward_in_eps", std::to_string(worst_forward.value() / kEps));
}

}  // namespace
}  // namespace limb
