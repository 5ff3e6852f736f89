// Derivatives of inverse and forward dynamics on random trees of all joint types, coupled and not,
// against dual numbers through the same algorithms (exact to rounding), and identities.
#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/derivatives/aba_derivatives_impl.hpp"
#include "limb/dynamics/identify/regressor.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::Dual;
using testing::example_wrenches;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Sums over some tens of bodies, in another order than in the recursion. Worst seen: 6 eps.
constexpr double kTolerance = 100 * kEps;

struct Derivatives {
  explicit Derivatives(int n) : dq(n, n), dv(n, n), da(n, n) {}
  Matrix dq, dv, da;
};

/// Random trees of all joint types, some with armature, damping and friction.
std::vector<Sample> robots(unsigned seeds) {
  std::vector<Sample> all = testing::samples(seeds);
  for (Sample& driven : testing::driven_samples(6)) all.push_back(std::move(driven));
  return all;
}

/// Column by column, by rnea with dual numbers.
Derivatives by_duals(const Sample& s, bool with_wrenches) {
  const int n = s.model.nv();
  const Model<Dual> model = s.model.cast<Dual>();
  Workspace<Dual> work(model);
  std::vector<FrameWrench<Dual>> external;
  if (with_wrenches) {
    for (const FrameWrench<double>& w : example_wrenches(s.model)) {
      external.push_back({w.frame, Force<Dual>::from_vector(w.F_F.vector().cast<Dual>())});
    }
  }
  const Vector zero = Vector::Zero(n);
  const VectorX<Dual> q = testing::dual_position(model, s.q, zero);
  const VectorX<Dual> v = testing::dual_vector(s.v, zero), a = testing::dual_vector(s.a, zero);
  VectorX<Dual> tau(n);
  Derivatives d(n);
  for (int k = 0; k < n; ++k) {
    const Vector unit = Vector::Unit(n, k);
    rnea<Dual>(model, work, testing::dual_position(model, s.q, unit), v, a, external, tau);
    d.dq.col(k) = testing::derivative(tau);
    rnea<Dual>(model, work, q, testing::dual_vector(s.v, unit), a, external, tau);
    d.dv.col(k) = testing::derivative(tau);
    rnea<Dual>(model, work, q, v, testing::dual_vector(s.a, unit), external, tau);
    d.da.col(k) = testing::derivative(tau);
  }
  return d;
}

TEST(RneaDerivatives, AgreeWithDualNumbers) {
  Worst worst;
  for (const Sample& s : robots(8)) {
    SCOPED_TRACE(s.name);
    DerivativeWorkspace<double> work(s.model);
    Derivatives d(s.model.nv());
    for (const bool with_wrenches : {false, true}) {
      if (with_wrenches) {
        rnea_derivatives(s.model, work, s.q, s.v, s.a, example_wrenches(s.model), d.dq, d.dv, d.da);
      } else {
        rnea_derivatives(s.model, work, s.q, s.v, s.a, d.dq, d.dv, d.da);
      }
      const Derivatives expected = by_duals(s, with_wrenches);
      EXPECT_LT(testing::relative(d.dq, expected.dq), kTolerance) << with_wrenches;
      EXPECT_LT(testing::relative(d.dv, expected.dv), kTolerance) << with_wrenches;
      EXPECT_LT(testing::relative(d.da, expected.da), kTolerance) << with_wrenches;
      worst.add(testing::relative(d.dq, expected.dq), testing::relative(d.dv, expected.dv),
                testing::relative(d.da, expected.da));
    }
  }
  std::printf("worst %.0f eps\n", worst.value() / kEps);
}

TEST(RneaDerivatives, DtauDaIsTheMassMatrix) {
  for (const Sample& s : robots(3)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    DerivativeWorkspace<double> work(s.model);
    Derivatives d(n);
    rnea_derivatives(s.model, work, s.q, s.v, s.a, d.dq, d.dv, d.da);
    Matrix M(n, n);
    Workspace<double> tree(s.model);
    crba(s.model, tree, s.q, M);
    EXPECT_LT(testing::relative(d.da, M), kTolerance);
  }
}

TEST(AbaDerivatives, InvertThoseOfInverseDynamics) {
  for (const Sample& s : robots(6)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    DerivativeWorkspace<double> work(s.model);
    Workspace<double> tree(s.model);
    for (const bool with_wrenches : {false, true}) {
      Derivatives inverse(n), forward(n);
      Vector a(n), expected(n);
      const auto external = example_wrenches(s.model);
      if (with_wrenches) {
        EXPECT_TRUE(aba(s.model, tree, s.q, s.v, s.tau, external, expected).ok());
        EXPECT_TRUE(aba_derivatives(s.model, work, s.q, s.v, s.tau, external, a, forward.dq,
                                    forward.dv, forward.da)
                        .ok());
        rnea_derivatives(s.model, work, s.q, s.v, a, external, inverse.dq, inverse.dv, inverse.da);
      } else {
        EXPECT_TRUE(aba(s.model, tree, s.q, s.v, s.tau, expected).ok());
        EXPECT_TRUE(
            aba_derivatives(s.model, work, s.q, s.v, s.tau, a, forward.dq, forward.dv, forward.da)
                .ok());
        rnea_derivatives(s.model, work, s.q, s.v, a, inverse.dq, inverse.dv, inverse.da);
      }
      // Through the inverse of a mass matrix with a condition number up to 1e4.
      const double solved = 1e4 * kTolerance;
      EXPECT_LT(testing::relative(a, expected), solved);
      EXPECT_LT(testing::relative(inverse.da * forward.dq, -inverse.dq), solved);
      EXPECT_LT(testing::relative(inverse.da * forward.dv, -inverse.dv), solved);
      EXPECT_LT(testing::relative(inverse.da * forward.da, Matrix::Identity(n, n)), solved);
    }
  }
}

TEST(AbaDerivatives, ReportVelocityWithoutInertia) {
  RobotBuilder<double> robot("massless");
  robot.link("base").link("arm");
  robot.joint("hinge", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "arm");
  const Model<double> model = robot.build();
  DerivativeWorkspace<double> work(model);
  Derivatives d(1);
  Vector a(1);
  const Vector x = Vector::Zero(1);
  EXPECT_EQ(aba_derivatives(model, work, x, x, x, a, d.dq, d.dv, d.da).velocity, 0);
  for (const double number : {a[0], d.dq(0, 0), d.dv(0, 0), d.da(0, 0)}) {
    EXPECT_TRUE(std::isnan(number));
  }
}

// Results written to blocks of larger matrices, of equal or different strides: the same values, and
// nothing outside the blocks is changed.
TEST(Derivatives, WriteOnlyTheirBlocks) {
  for (const Sample& s : testing::samples(2)) {
    // Rows of dv and da beyond those of dq: strides that differ in any combination.
    for (const auto& [wider_v, wider_a] : {std::pair{0, 0}, {1, 2}, {0, 1}, {1, 0}}) {
      SCOPED_TRACE(s.name + ", " + std::to_string(wider_v) + ", " + std::to_string(wider_a));
      const int n = s.model.nv();
      DerivativeWorkspace<double> work(s.model);
      Derivatives inverse(n), forward(n);
      Vector a(n), a_inside(n);
      rnea_derivatives(s.model, work, s.q, s.v, s.a, inverse.dq, inverse.dv, inverse.da);
      aba_derivatives(s.model, work, s.q, s.v, s.tau, a, forward.dq, forward.dv, forward.da);
      constexpr double kUntouched = 12345;
      Matrix q = Matrix::Constant(n + 3, n + 2, kUntouched);
      Matrix v = Matrix::Constant(n + 3 + wider_v, n + 2, kUntouched);
      Matrix x = Matrix::Constant(n + 3 + wider_a, n + 2, kUntouched);
      const auto expect = [&](const Derivatives& d) {
        const auto check = [&](Matrix& whole, const Matrix& part) {
          EXPECT_EQ(whole.block(1, 1, n, n), part);
          whole.block(1, 1, n, n).setConstant(kUntouched);
          EXPECT_TRUE((whole.array() == kUntouched).all());
        };
        check(q, d.dq);
        check(v, d.dv);
        check(x, d.da);
      };
      rnea_derivatives(s.model, work, s.q, s.v, s.a, q.block(1, 1, n, n), v.block(1, 1, n, n),
                       x.block(1, 1, n, n));
      expect(inverse);
      aba_derivatives(s.model, work, s.q, s.v, s.tau, a_inside, q.block(1, 1, n, n),
                      v.block(1, 1, n, n), x.block(1, 1, n, n));
      expect(forward);
      EXPECT_EQ(a_inside, a);
    }
  }
}

// Closed form: m l^2 qdd + m g l sin q = tau.
TEST(Derivatives, Pendulum) {
  const Model<double> model = load_model("builtin:pendulum");
  DerivativeWorkspace<double> work(model);
  Derivatives d(1);
  const Vector q = Vector::Constant(1, 0.7), v = Vector::Constant(1, 1.1);
  const Vector a = Vector::Constant(1, 0.4);
  Vector g_up(1);
  rnea_derivatives(model, work, q, v, a, d.dq, d.dv, d.da, JointEffects::none());
  Workspace<double> tree(model);
  gravity(model, tree, q, g_up);
  // g(q) = k sin q: its derivative is k cos q.
  EXPECT_NEAR(d.dq(0, 0), g_up[0] / std::tan(0.7), 8 * kEps * std::abs(d.dq(0, 0)));
  EXPECT_EQ(d.dv(0, 0), 0);
}

// The same templates with another scalar: second derivatives along a line, by dual numbers, against
// finite differences of first derivatives.
TEST(Derivatives, OfDualNumbersAreSecondDerivatives) {
  const Sample s = testing::samples(1)[2];
  const int n = s.model.nv();
  testing::Random random(3);
  const Vector dq = testing::random_numbers(random, n), dv = testing::random_numbers(random, n);
  const Vector dtau = testing::random_numbers(random, n);
  const Model<Dual> model = s.model.cast<Dual>();
  DerivativeWorkspace<Dual> work(model);
  MatrixX<Dual> by_q(n, n), by_v(n, n), by_tau(n, n);
  VectorX<Dual> a(n);
  aba_derivatives<Dual>(model, work, testing::dual_position(model, s.q, dq),
                        testing::dual_vector(s.v, dv), testing::dual_vector(s.tau, dtau),
                        std::vector<FrameWrench<Dual>>(), a, by_q, by_v, by_tau);
  DerivativeWorkspace<double> double_work(s.model);
  const auto at = [&](double h) {
    Derivatives d(n);
    Vector a_h(n);
    aba_derivatives(s.model, double_work,
                    testing::integrate_configuration<double>(s.model, s.q, h * dq), s.v + h * dv,
                    s.tau + h * dtau, a_h, d.dq, d.dv, d.da);
    return d;
  };
  const double h = 1e-4;
  const Derivatives left = at(-h), right = at(h);
  // Truncation error h^2, rounding error eps / h.
  const double tolerance = 1e-6;
  const auto second = [&](const MatrixX<Dual>& x) {
    return Matrix(x.unaryExpr([](const Dual& y) { return y.tangent[0]; }));
  };
  EXPECT_LT(testing::relative(second(by_q), (right.dq - left.dq) / (2 * h)), tolerance);
  EXPECT_LT(testing::relative(second(by_v), (right.dv - left.dv) / (2 * h)), tolerance);
  EXPECT_LT(testing::relative(second(by_tau), (right.da - left.da) / (2 * h)), tolerance);
}

TEST(Derivatives, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  for (const char* name : {"builtin:humanoid", "builtin:belt-leg"}) {
    const Model<double> model = load_model(name);
    const Sample s = testing::sample_of(name, model, 2);
    const int n = model.nv();
    DerivativeWorkspace<double> work(model);
    Derivatives d(n);
    Vector a(n);
    const auto external = example_wrenches(model);
    EXPECT_EQ(testing::allocations([&] {
                rnea_derivatives(model, work, s.q, s.v, s.a, d.dq, d.dv, d.da);
                rnea_derivatives(model, work, s.q, s.v, s.a, external, d.dq, d.dv, d.da);
                aba_derivatives(model, work, s.q, s.v, s.tau, a, d.dq, d.dv, d.da);
                aba_derivatives(model, work, s.q, s.v, s.tau, external, a, d.dq, d.dv, d.da);
              }),
              0)
        << name;
  }
}

TEST(Derivatives, Facade) {
  for (const Sample& s : testing::samples(1)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    Robot robot(s.model);
    robot.set_state(s.q, s.v, s.a);
    DerivativeWorkspace<double> work(s.model);
    Derivatives d(n);
    Vector a(n);
    rnea_derivatives(s.model, work, s.q, s.v, s.a, d.dq, d.dv, d.da);
    EXPECT_EQ(robot.rnea_derivatives().dtau_dq, d.dq);
    EXPECT_EQ(robot.rnea_derivatives().dtau_da, d.da);
    const auto external = example_wrenches(s.model);
    for (const FrameWrench<double>& w : external) {
      robot.set_external(s.model.frame(w.frame).name, w.F_F);
    }
    rnea_derivatives(s.model, work, s.q, s.v, s.a, external, d.dq, d.dv, d.da);
    EXPECT_EQ(robot.rnea_derivatives().dtau_dq, d.dq);
    aba_derivatives(s.model, work, s.q, s.v, s.tau, external, a, d.dq, d.dv, d.da);
    EXPECT_EQ(robot.aba_derivatives(s.tau).da_dq, d.dq);
    EXPECT_EQ(robot.aba_derivatives(s.tau).a, a);
    EXPECT_EQ(robot.regressor().cols(), parameter_count(s.model));
  }
}

TEST(Derivatives, BadInput) {
  const Model<double> model = load_model("builtin:2r");
  DerivativeWorkspace<double> work(model);
  const Vector x = Vector::Zero(2);
  Vector a(2);
  Matrix good(2, 2), bad(2, 3);
  EXPECT_EQ(testing::message([&] { rnea_derivatives(model, work, x, x, x, good, bad, good); }),
            "rnea_derivatives: dtau_dv is 2 x 3, expected 2 x 2");
  EXPECT_EQ(testing::message([&] { aba_derivatives(model, work, x, x, x, a, good, good, bad); }),
            "aba_derivatives: da_dtau is 2 x 3, expected 2 x 2");
  EXPECT_NE(testing::message([&] {
              aba_derivatives(model, work, x, x, Vector::Zero(3), a, good, good, good);
            }).find("tau has 3 entries, expected 2"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
