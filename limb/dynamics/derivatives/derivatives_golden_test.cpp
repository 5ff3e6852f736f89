// Derivatives of inverse and forward dynamics and the torque regressor against values of real
// robots recorded from Pinocchio 3.7 (golden/README.md).
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/identify/regressor.hpp"
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

TEST_P(Golden, DerivativesAndRegressor) {
  const auto description = load_description(urdf_);
  const Model<double> model = build_model(description, base()).without_couplings();
  const PinocchioConvention convention(model, description);
  const int n = model.nv();
  DerivativeWorkspace<double> work(model);
  Matrix dq(n, n), dv(n, n), da(n, n);
  Vector ddq(n);
  Worst inverse, forward;
  int compared = 0;
  const auto error_of = [&](const Matrix& found, const Json& recorded) {
    const Matrix expected = matrix_of(recorded);
    ++compared;
    return (found - expected).norm() / std::max(1.0, expected.norm());
  };
  // Sums over up to 39 bodies in another order than Pinocchio's. Worst seen: 7 eps.
  const auto near = [&](const Matrix& found, const Json& recorded, const char* what) {
    const double error = error_of(found, recorded);
    inverse.add(error);
    EXPECT_LT(error, 64 * kEps) << what;
  };
  // Through the inverse of M, whose condition number is up to 1e5. Worst seen: 4997 eps.
  const auto near_forward = [&](const Matrix& found, const Json& recorded, const char* what) {
    const double error = error_of(found, recorded);
    forward.add(error);
    EXPECT_LT(error, 16384 * kEps) << what;
  };
  const JointEffects none = JointEffects::none();
  for (const Json& state : golden_["states"]) {
    if (!state["full"].get<bool>()) continue;  // recorded without the large matrices
    const Vector q = convention.q_from(vector_of(state["q"]));
    const Vector v = convention.v_from(q, vector_of(state["v"]));
    const Vector a = convention.a_from(q, v, vector_of(state["a"]));
    const Vector tau = convention.tau_from(q, vector_of(state["tau"]));
    const auto to = [&](const Matrix& x) { return convention.mass_matrix_to(q, x); };
    rnea_derivatives(model, work, q, v, a, dq, dv, da, none);
    near(to(dq), state["dtau_dq"], "dtau_dq");
    near(to(dv), state["dtau_dv"], "dtau_dv");
    near(to(da), state["M"], "dtau_da");
    ASSERT_TRUE(aba_derivatives(model, work, q, v, tau, ddq, dq, dv, da, none).ok());
    near_forward(to(dq), state["ddq_dq"], "da_dq");
    near_forward(to(dv), state["ddq_dv"], "da_dv");
    near_forward(to(da), state["Minv"], "da_dtau");
    EXPECT_EQ(state.contains("regressor"), n <= 9);  // as golden/README.md says
    if (!state.contains("regressor")) continue;
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, v, a, kinematics);
    RegressorScratch<double> scratch(model);
    Matrix Y(n, parameter_count(model)), ordered(n, Y.cols());
    torque_regressor(model, kinematics, scratch, Y);
    // Columns in the order of the recorded joints, rows in that of their velocities.
    int index = 0;
    for (const auto& joint : convention.joints()) {
      ordered.middleCols<10>(10 * index++) = Y.middleCols<10>(10 * (joint.body.value() - 1));
    }
    Matrix rows(n, Y.cols());
    for (Eigen::Index c = 0; c < Y.cols(); ++c) rows.col(c) = convention.tau_to(q, ordered.col(c));
    near(rows, state["regressor"], "regressor");
  }
  EXPECT_GT(compared, 0);
  std::printf("%s: worst %.0f eps, forward dynamics %.0f eps, of %d matrices\n", GetParam(),
              inverse.value() / kEps, forward.value() / kEps, compared);
}

}  // namespace
}  // namespace limb
