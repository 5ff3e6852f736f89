// Gradients with multipliers against the matrices of first derivatives; second derivatives against
// finite differences of first ones, against each other, and against closed forms, on random trees
// of all joint types, with and without couplings, with external wrenches.
#include "limb/dynamics/derivatives/second_derivatives.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::example_wrenches;
using testing::message;
using testing::random_numbers;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
// Sums over some tens of bodies, in another order.
constexpr double kTolerance = 200 * kEps;
// Fourth-order differences: the rounding error of first derivatives, up to 2e-12 for mass matrices
// with a condition number of 5e4, is divided by a step large enough that the truncation error stays
// below it.
constexpr double kStep = 1e-4, kDifference = 1e-6;

double relative(const Matrix& x, const Matrix& y) {
  return (x - y).norm() / std::max(1.0, y.norm());
}

/// Derivatives by q, v and u, where u is a or tau.
struct Blocks {
  explicit Blocks(int n) : q(n, n), v(n, n), u(n, n) {}
  Matrix q, v, u;
};

/// The state moved along (dq, dv, du) by t.
Sample moved(const Sample& s, const Blocks& directions, double t) {
  Sample other = s;
  const Vector dq = directions.q.col(0), dv = directions.v.col(0), du = directions.u.col(0);
  integrate(s.model, s.q, t * dq, other.q);
  other.v += t * dv;
  other.a += t * du;
  other.tau += t * du;
  return other;
}

Blocks random_direction(const Sample& s, unsigned seed) {
  testing::Random random(seed);
  const int n = s.model.nv();
  Blocks d(n);
  for (Matrix* m : {&d.q, &d.v, &d.u}) m->col(0) = random_numbers(random, n);
  return d;
}

TEST(RneaGradient, IsTheDerivativesTimesTheMultipliers) {
  Worst worst;
  for (const Sample& s : testing::samples(8)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const auto external = example_wrenches(s.model);
    DerivativeWorkspace<double> work(s.model);
    Blocks d(n);
    rnea_derivatives(s.model, work, s.q, s.v, s.a, external, d.q, d.v, d.u);
    GradientWorkspace<double> gradient_work(s.model);
    Vector by_q(n), by_v(n), by_a(n);
    rnea_gradient(s.model, gradient_work, s.q, s.v, s.a, external, s.tau, by_q, by_v, by_a);
    worst.add(relative(by_q, d.q.transpose() * s.tau), relative(by_v, d.v.transpose() * s.tau),
              relative(by_a, d.u * s.tau));
  }
  EXPECT_LT(worst.value(), kTolerance);
  std::printf("worst %.0f eps\n", worst.value() / kEps);
}

TEST(SecondDerivatives, AlongADirectionAgreeWithDifferences) {
  Worst worst, worst_forward;
  unsigned seed = 1;
  for (const Sample& s : testing::samples(4)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const auto external = example_wrenches(s.model);
    const Blocks d = random_direction(s, seed++);
    SecondDerivativeWorkspace<double> work(s.model);
    DerivativeWorkspace<double> first(s.model);
    Blocks found(n), after(n), before(n);
    rnea_derivatives_along(s.model, work, s.q, s.v, s.a, external, d.q.col(0), d.v.col(0),
                           d.u.col(0), found.q, found.v, found.u);
    const auto compare = [&](const auto& at, Worst& largest) {
      Blocks far_after(n), far_before(n);
      at(moved(s, d, kStep), after);
      at(moved(s, d, -kStep), before);
      at(moved(s, d, 2 * kStep), far_after);
      at(moved(s, d, -2 * kStep), far_before);
      for (const auto matrix : {&Blocks::q, &Blocks::v, &Blocks::u}) {
        const Matrix near = after.*matrix - before.*matrix;
        const Matrix far = far_after.*matrix - far_before.*matrix;
        largest.add(relative(found.*matrix, (8 * near - far) / (12 * kStep)));
      }
    };
    compare(
        [&](const Sample& at, Blocks& out) {
          rnea_derivatives(at.model, first, at.q, at.v, at.a, external, out.q, out.v, out.u);
        },
        worst);
    ASSERT_TRUE(aba_derivatives_along(s.model, work, s.q, s.v, s.tau, external, d.q.col(0),
                                      d.v.col(0), d.u.col(0), found.q, found.v, found.u)
                    .ok());
    compare(
        [&](const Sample& at, Blocks& out) {
          Vector a(n);
          ASSERT_TRUE(
              aba_derivatives(at.model, first, at.q, at.v, at.tau, external, a, out.q, out.v, out.u)
                  .ok());
        },
        worst_forward);
  }
  EXPECT_LT(worst.value(), kDifference);
  EXPECT_LT(worst_forward.value(), kDifference);
  std::printf("worst %.1e, forward %.1e\n", worst.value(), worst_forward.value());
}

/// Sum over i of lambda_i times tensor entry (i, j, k), as a matrix by j and k.
Matrix contract(const Vector& lambda, const SecondDerivative<double>& tensor) {
  const int n = tensor.size();
  Matrix sum(n, n);
  for (int k = 0; k < n; ++k) sum.col(k) = tensor.along(k).transpose() * lambda;
  return sum;
}

TEST(SecondDerivatives, HessiansAreTheTensorsTimesTheMultipliers) {
  Worst worst, worst_forward;
  for (const Sample& s : testing::samples(3, 8)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const auto external = example_wrenches(s.model);
    SecondDerivativeWorkspace<double> work(s.model);
    SecondDerivatives<double> all(n);
    Matrix qq(n, n), qv(n, n), vv(n, n), qu(n, n);
    const auto compare = [&](Worst& largest) {
      const Matrix both = contract(s.a, all.qq), squares = contract(s.a, all.vv);
      largest.add(relative(qq, (both + both.transpose()) / 2),
                  relative(qv, contract(s.a, all.vq).transpose()), relative(vv, squares),
                  relative(qu, contract(s.a, all.uq).transpose()));
    };
    rnea_second_derivatives(s.model, work, s.q, s.v, s.a, external, all);
    rnea_hessian(s.model, work, s.q, s.v, s.a, external, s.a, qq, qv, vv, qu);
    compare(worst);
    ASSERT_TRUE(aba_second_derivatives(s.model, work, s.q, s.v, s.tau, external, all).ok());
    ASSERT_TRUE(aba_hessian(s.model, work, s.q, s.v, s.tau, external, s.a, qq, qv, vv, qu).ok());
    compare(worst_forward);
  }
  EXPECT_LT(worst.value(), kTolerance);
  // M^-1 twice, with a condition number up to 1e4.
  EXPECT_LT(worst_forward.value(), 1e6 * kTolerance);
  std::printf("worst %.0f eps, forward %.0f eps\n", worst.value() / kEps,
              worst_forward.value() / kEps);
}

// The Hessian by q is the second derivative along the curve integrate(q, t x).
TEST(SecondDerivatives, HessianIsTheSecondDerivativeAlongTheCurve) {
  for (const Sample& s : testing::samples(2)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    SecondDerivativeWorkspace<double> work(s.model);
    Workspace<double> tree(s.model);
    Matrix qq(n, n), qv(n, n), vv(n, n), qa(n, n);
    rnea_hessian(s.model, work, s.q, s.v, s.a, s.tau, qq, qv, vv, qa);
    const Blocks d = random_direction(s, 3);
    const Vector x = d.q.col(0);
    const auto f = [&](double t) {
      Vector q(s.q.size()), tau(n);
      integrate(s.model, s.q, t * x, q);
      rnea(s.model, tree, q, s.v, s.a, tau);
      return tau.dot(s.tau);
    };
    const double h = 1e-3, expected = x.dot(qq * x);
    // h^2 times a fourth derivative, of order 1e2 times the second one.
    EXPECT_NEAR((f(h) - 2 * f(0) + f(-h)) / (h * h), expected,
                200 * h * h * (1 + std::abs(expected) + qq.norm()));
    EXPECT_EQ(qq, Matrix(qq.transpose()));
    EXPECT_EQ(vv, Matrix(vv.transpose()));
  }
}

// For a floating base the two orders differ by the derivative along the Lie bracket of the
// directions.
TEST(SecondDerivatives, OrdersDifferByTheBracket) {
  const Model<double> model = load_model("builtin:quadruped");
  const Sample s = testing::sample_of("quadruped", model, 4);
  const int n = model.nv();
  SecondDerivativeWorkspace<double> work(model);
  SecondDerivatives<double> all(n);
  rnea_second_derivatives(model, work, s.q, s.v, s.a, all);
  DerivativeWorkspace<double> first(model);
  Blocks d(n);
  rnea_derivatives(model, first, s.q, s.v, s.a, d.q, d.v, d.u);
  Worst size;
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) {
      Vector along = Vector::Zero(n);
      if (j < 6 && k < 6) {
        const auto unit = [](int i) {
          return Motion<double>::from_vector(Vector6<double>::Unit(i));
        };
        along.head<6>() = cross(unit(k), unit(j)).vector();
      }
      const Vector found = all.qq.along(k).col(j) - all.qq.along(j).col(k);
      EXPECT_LT((found - d.q * along).norm(), 1e3 * kEps * d.q.norm()) << j << ' ' << k;
      size.add(found.norm());
    }
  }
  EXPECT_GT(size.value(), 1);
}

// I a + k sin(q) = tau: second derivatives -k sin(q) and k sin(q) / I.
TEST(SecondDerivatives, Pendulum) {
  const Model<double> model = load_model("builtin:pendulum");
  SecondDerivativeWorkspace<double> work(model);
  Workspace<double> tree(model);
  const auto one = [](double x) { return Vector::Constant(1, x); };
  Vector k_sin(1);
  gravity(model, tree, one(0.7), k_sin);
  Matrix qq(1, 1), qv(1, 1), vv(1, 1), qu(1, 1);
  rnea_hessian(model, work, one(0.7), one(1.1), one(0.4), one(2), qq, qv, vv, qu);
  EXPECT_NEAR(qq(0, 0), -2 * k_sin[0], 16 * kEps * std::abs(k_sin[0]));
  EXPECT_EQ(qv(0, 0), 0);
  EXPECT_EQ(vv(0, 0), 0);
  EXPECT_EQ(qu(0, 0), 0);
  GradientWorkspace<double> gradient_work(model);
  Vector by_q(1), by_v(1), inertia(1);
  rnea_gradient(model, gradient_work, one(0.7), one(1.1), one(0.4), one(1), by_q, by_v, inertia);
  ASSERT_TRUE(aba_hessian(model, work, one(0.7), one(1.1), one(3), one(1), qq, qv, vv, qu).ok());
  EXPECT_NEAR(qq(0, 0), k_sin[0] / inertia[0], 16 * kEps * std::abs(qq(0, 0)));
}

TEST(SecondDerivatives, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  for (const char* name : {"builtin:humanoid", "builtin:belt-leg"}) {
    const Model<double> model = load_model(name);
    const Sample s = testing::sample_of(name, model, 2);
    const int n = model.nv();
    SecondDerivativeWorkspace<double> work(model);
    GradientWorkspace<double> gradient_work(model);
    SecondDerivatives<double> all(n);
    Matrix a(n, n), b(n, n), c(n, n), d(n, n);
    Vector x(n), y(n), z(n);
    const auto external = example_wrenches(model);
    EXPECT_EQ(
        testing::allocations([&] {
          rnea_gradient(model, gradient_work, s.q, s.v, s.a, external, s.tau, x, y, z);
          rnea_derivatives_along(model, work, s.q, s.v, s.a, external, s.v, s.a, s.tau, a, b, c);
          aba_derivatives_along(model, work, s.q, s.v, s.tau, external, s.v, s.a, s.tau, a, b, c);
          rnea_hessian(model, work, s.q, s.v, s.a, external, s.tau, a, b, c, d);
          aba_hessian(model, work, s.q, s.v, s.a, external, s.tau, a, b, c, d);
          rnea_second_derivatives(model, work, s.q, s.v, s.a, external, all);
          aba_second_derivatives(model, work, s.q, s.v, s.tau, external, all);
        }),
        0)
        << name;
  }
}

TEST(SecondDerivatives, Facade) {
  for (const Sample& s : testing::samples(1)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    Robot robot(s.model);
    robot.set_state(s.q, s.v, s.a);
    const auto external = example_wrenches(s.model);
    for (const FrameWrench<double>& w : external) {
      robot.set_external(s.model.frame(w.frame).name, w.F_F);
    }
    SecondDerivativeWorkspace<double> work(s.model);
    Matrix qq(n, n), qv(n, n), vv(n, n), qu(n, n);
    rnea_hessian(s.model, work, s.q, s.v, s.a, external, s.tau, qq, qv, vv, qu);
    // The robot normalizes quaternions again.
    EXPECT_LT(relative(robot.rnea_hessian(s.tau).qq, qq), kTolerance);
    EXPECT_LT(relative(robot.rnea_hessian(s.tau).qu, qu), kTolerance);
    const long before = robot.evaluations();
    robot.rnea_hessian(s.tau);
    EXPECT_EQ(robot.evaluations(), before);
    for (const Vector& lambda : {s.v, s.a}) {  // other multipliers give other results
      aba_hessian(s.model, work, s.q, s.v, s.tau, external, lambda, qq, qv, vv, qu);
      EXPECT_LT(relative(robot.aba_hessian(s.tau, lambda).qv, qv), 1e6 * kTolerance);
    }
    EXPECT_EQ(robot.evaluations(), before + 2);
    EXPECT_NE(message([&] {
                robot.aba_hessian(s.tau, Vector::Zero(n + 1));
              }).find("Robot::aba_hessian: lambda has"),
              std::string::npos);
  }
}

TEST(SecondDerivatives, SingularMassMatrix) {
  RobotBuilder<double> robot("massless");
  robot.link("base").link("arm");
  robot.joint("hinge", Joint<double>::revolute(Vector3<double>::UnitZ()), "base", "arm");
  const Model<double> model = robot.build();
  SecondDerivativeWorkspace<double> work(model);
  Matrix a(1, 1), b(1, 1), c(1, 1), d(1, 1);
  const Vector x = Vector::Zero(1);
  EXPECT_EQ(aba_hessian(model, work, x, x, x, x, a, b, c, d).velocity, 0);
  EXPECT_TRUE(std::isnan(a(0, 0)) && std::isnan(d(0, 0)));
  EXPECT_EQ(aba_derivatives_along(model, work, x, x, x, x, x, x, a, b, c).velocity, 0);
  EXPECT_TRUE(std::isnan(c(0, 0)));
  SecondDerivatives<double> all(1);
  EXPECT_EQ(aba_second_derivatives(model, work, x, x, x, all).velocity, 0);
  EXPECT_TRUE(std::isnan(all.vv(0, 0, 0)));
}

TEST(SecondDerivatives, BadInput) {
  const Model<double> model = load_model("builtin:2r"), other = load_model("builtin:pendulum");
  SecondDerivativeWorkspace<double> work(model);
  const Vector x = Vector::Zero(2), wrong = Vector::Zero(3);
  Matrix good(2, 2), bad(2, 3);
  EXPECT_EQ(message([&] { rnea_hessian(model, work, x, x, x, x, good, good, bad, good); }),
            "rnea_hessian: vv is 2 x 3, expected 2 x 2");
  EXPECT_NE(message([&] {
              aba_hessian(model, work, x, x, x, wrong, good, good, good, good);
            }).find("aba_hessian: lambda has 3 entries, expected 2"),
            std::string::npos);
  EXPECT_NE(message([&] {
              rnea_derivatives_along(model, work, x, x, x, wrong, x, x, good, good, good);
            }).find("dq has 3 entries, expected 2"),
            std::string::npos);
  SecondDerivatives<double> small(1);
  EXPECT_NE(message([&] {
              rnea_second_derivatives(model, work, x, x, x, small);
            }).find("rnea_second_derivatives: out has 1 entries, expected 2"),
            std::string::npos);
  GradientWorkspace<double> of_other(other);
  Vector a(2), b(2), c(2);
  EXPECT_EQ(message([&] { rnea_gradient(model, of_other, x, x, x, x, a, b, c); }),
            "rnea_gradient: the workspace was made for another model");
  const FrameWrench<double> unknown{FrameId(99), {}};
  EXPECT_NE(message([&] {
              rnea_hessian(model, work, x, x, x, std::span(&unknown, 1), x, good, good, good, good);
            }).find("frame of external wrench 0 is 99"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
