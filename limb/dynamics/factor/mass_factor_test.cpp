// M = L^T D L on trees of all joint types, coupled and not: against the matrix itself, against aba,
// and against inverses recorded from Pinocchio.
#include "limb/dynamics/factor/mass_factor.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/golden.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Dual;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

TEST(MassFactor, ProductOfFactorsIsTheMatrix) {
  for (const Sample& s : testing::samples(12)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    Workspace<double> work(s.model);
    Matrix M(n, n);
    crba(s.model, work, s.q, M);
    MassFactor<double> factor(s.model);
    EXPECT_TRUE(factorize_mass(s.model, M, factor).ok());
    Matrix L = Matrix::Identity(n, n);
    const auto& F = factor.packed();
    int entries = 0;
    for (int k = 0; k < n; ++k) {
      for (int m = 0; m + 1 < F.depth[F.at(k)]; ++m) L(k, F.path_of(k)[m]) = F.row(k)[m];
      entries += F.depth[F.at(k)];
    }
    // Backward error of a factorization by sums of a dozen products; worst seen 2 eps.
    EXPECT_LT((L.transpose() * F.D.asDiagonal() * L - M).norm(), 16 * kEps * M.norm());
    // One entry per pair of velocities on one path of the tree; dense for a coupled robot.
    int pairs = 0;
    std::vector<int> path_nv(s.model.bodies().size(), 0);  // velocities from the root to each body
    for (std::size_t i = 1; i < path_nv.size(); ++i) {
      const Body<double>& body = s.model.bodies()[i];
      path_nv[i] = path_nv[static_cast<std::size_t>(body.parent.value())];
      for (int k = 0; k < body.joint.nv(); ++k) pairs += ++path_nv[i];
    }
    EXPECT_EQ(entries, s.model.coupling().is_identity() ? pairs : n * (n + 1) / 2);
  }
}

// The condition number of M enters, as in the test of aba: worst seen 300 eps.
TEST(MassFactor, SolutionAgreesWithAba) {
  for (const Sample& s : testing::samples(25)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    Workspace<double> work(s.model);
    MassFactor<double> factor(s.model);
    Vector h(n), a(n), expected(n);
    bias(s.model, work, s.q, s.v, h);
    EXPECT_TRUE(factorize_mass(s.model, work, s.q, factor).ok());
    solve_mass(factor, s.tau - h, a);
    EXPECT_TRUE(aba(s.model, work, s.q, s.v, s.tau, expected).ok());
    EXPECT_LT(testing::relative(a, expected), 1e4 * kEps);

    // In place, and with several columns.
    Vector x = s.tau - h;
    solve_mass(factor, x, x);
    EXPECT_EQ(x, a);
    Matrix X(n, 2);
    X << s.tau - h, s.tau;
    solve_mass_columns(factor, X, X);
    EXPECT_EQ(X.col(0), a);

    Matrix inverse = Matrix::Constant(n, n, 7), M(n, n);
    EXPECT_TRUE(mass_inverse(s.model, work, s.q, factor, inverse).ok());
    EXPECT_EQ(inverse, Matrix(inverse.transpose()));
    crba(s.model, work, s.q, M);
    EXPECT_LT((M * inverse - Matrix::Identity(n, n)).norm(),
              16 * n * kEps * M.norm() * inverse.norm());
    EXPECT_LT(testing::relative(inverse * (s.tau - h), expected), 1e4 * kEps);
  }
}

// d(M^-1 b)/dt by dual numbers against a central difference; truncation h^2 and rounding eps/h
// balance at about 1e-9 of the size, worst seen 2e-8.
TEST(MassFactor, WorksWithDualNumbers) {
  for (const Model<double>& model : testing::random_robots(3)) {
    const testing::State s = testing::random_state(model, 4);
    const int n = model.nv();
    const Model<Dual> dual_model = model.cast<Dual>();
    Workspace<Dual> dual_work(dual_model);
    MassFactor<Dual> dual_factor(dual_model);
    VectorX<Dual> x(n);
    EXPECT_TRUE(factorize_mass<Dual>(dual_model, dual_work,
                                     testing::dual_position(dual_model, s.q, s.v), dual_factor)
                    .ok());
    solve_mass<Dual>(dual_factor, testing::dual_vector(s.a, Vector::Zero(n)), x);

    Workspace<double> work(model);
    MassFactor<double> factor(model);
    const auto at = [&](double t) {
      Vector q(model.nq()), y(n);
      integrate(model, s.q, t * s.v, q);
      factorize_mass(model, work, q, factor);
      solve_mass(factor, s.a, y);
      return y;
    };
    EXPECT_LT(testing::relative(testing::value(x), at(0)), 1e3 * kEps);
    EXPECT_LT(testing::relative(testing::derivative(x), (at(1e-5) - at(-1e-5)) / 2e-5), 1e-6);
  }
}

TEST(MassFactor, ReportsASingularMatrix) {
  Description<double> robot = testing::random_tree(
      3, {.joints = 4, .types = {JointType::revolute}, .root = JointType::fixed});
  JointDescription<double> tip;
  tip.name = "tip";
  tip.type = JointType::revolute;
  tip.parent = robot.links.back().name;
  tip.child = "massless";
  robot.joints.push_back(tip);
  robot.links.emplace_back().name = "massless";
  const Model<double> model = build_model(robot);
  const int n = model.uncoupled_nv();
  Workspace<double> work(model);
  MassFactor<double> factor(model);
  Matrix inverse(n, n);
  EXPECT_EQ(mass_inverse(model, work, Vector::Zero(n), factor, inverse).velocity,
            model.body(model.find_body("tip")).v_start);
  EXPECT_TRUE(inverse.array().isNaN().all());
  Vector x = Vector::Zero(n);
  EXPECT_EQ(testing::message([&] { solve_mass(factor, x, x); }),
            "solve_mass: no nonsingular mass matrix has been factored; call factorize_mass first");
}

TEST(MassFactor, NamesTheArgumentOfTheWrongSize) {
  const Model<double> arm = load_model("builtin:arm7"), leg = load_model("builtin:2r");
  Workspace<double> work(arm);
  MassFactor<double> factor(arm), other(leg);
  const Vector q = Vector::Zero(7), b = Vector::Zero(6);
  Vector x(7);
  EXPECT_EQ(testing::message([&] { factorize_mass(arm, work, q, other); }),
            "factorize_mass: factor is of size 2, expected 7 (make it from the same model)");
  EXPECT_EQ(testing::message([&] { factorize_mass(arm, work, b, factor); }).substr(0, 32),
            "factorize_mass: q has 6 entries,");
  EXPECT_EQ(testing::message([&] { factorize_mass(arm, Matrix::Zero(7, 6), factor); }),
            "factorize_mass: M is 7 x 6, expected 7 x 7");
  factorize_mass(arm, work, q, factor);
  EXPECT_EQ(testing::message([&] { solve_mass(factor, b, x); }),
            "solve_mass: b has 6 entries, expected 7");
}

class Golden : public testing::GoldenTest {};
INSTANTIATE_TEST_SUITE_P(Robots, Golden, testing::golden_files(), testing::golden_name);

TEST_P(Golden, InverseMassMatrix) {
  const Model<double> model = load_model(urdf_, base()).without_couplings();
  std::vector<std::string> names;
  for (const auto& joint : golden_["joints"]) names.push_back(joint["name"]);
  const PinocchioConvention to(model, names);
  const int n = model.nv();
  Workspace<double> work(model);
  MassFactor<double> factor(model);
  Matrix inverse(n, n);
  Worst worst;
  int compared = 0;
  for (const auto& state : golden_["states"]) {
    if (!state["full"].get<bool>()) continue;  // recorded without the large matrices
    const Vector q = to.q_from(testing::vector_of(state["q"]));
    EXPECT_TRUE(mass_inverse(model, work, q, factor, inverse, JointEffects::none()).ok());
    Matrix found(n, n);  // forces and accelerations in Pinocchio's order
    for (int c = 0; c < n; ++c) {
      found.col(c) = to.v_to(q, inverse * to.tau_from(q, Vector::Unit(n, c)));
    }
    const Matrix expected = testing::matrix_of(state["Minv"]);
    worst.add((found - expected).norm() / expected.norm());
    ++compared;
  }
  EXPECT_GT(compared, 0);
  // Relative to the largest entries; the condition number of M (1e3 to 1e5) enters. Worst seen:
  // 5038 eps.
  EXPECT_LT(worst.value(), 16384 * kEps);
  RecordProperty("worst_eps", static_cast<int>(worst.value() / kEps));
  std::printf("%s: worst %.0f eps\n", GetParam(), worst.value() / kEps);
}

}  // namespace
}  // namespace limb
