// Quadratic programs: closed forms, random problems with known solutions, and reported failures.
#include "limb/control/qp/qp.hpp"

#include <gtest/gtest.h>

#include <random>

#include "limb/base/error.hpp"
#include "limb/math/testing/max_abs.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class QpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

MatrixX<double> random_matrix(std::mt19937_64& engine, int rows, int cols) {
  std::normal_distribution<double> normal;
  MatrixX<double> M(rows, cols);
  for (double& x : M.reshaped()) x = normal(engine);
  return M;
}

/// Writes a strictly convex problem whose solution is x, with multipliers y and z, by choosing g, b
/// and the bounds. The solution is unique.
void write_problem(Qp& qp, std::mt19937_64& engine, VectorX<double>& x, VectorX<double>& y,
                   VectorX<double>& z) {
  const int n = qp.variables(), e = qp.equalities(), m = qp.inequalities();
  const MatrixX<double> L = random_matrix(engine, n, n);
  qp.H() = L * L.transpose() + MatrixX<double>::Identity(n, n);
  qp.A() = random_matrix(engine, e, n);
  qp.C() = random_matrix(engine, m, n);
  x = random_matrix(engine, n, 1);
  y = random_matrix(engine, e, 1);
  z.setZero(m);
  qp.b() = qp.A() * x;
  const VectorX<double> Cx = qp.C() * x;
  std::uniform_real_distribution<double> gap(0.1, 1);
  for (int i = 0; i < m; ++i) {
    // At most n - e active constraints; otherwise the multipliers are not unique.
    const int kind = i < (n - e) / 2 ? i % 2 : 2 + i % 2;
    qp.lower()[i] = Cx[i] - gap(engine);
    qp.upper()[i] = kind == 3 ? kInfinity : Cx[i] + gap(engine);
    if (kind == 0) {
      qp.upper()[i] = Cx[i];
      z[i] = gap(engine);
    } else if (kind == 1) {
      qp.lower()[i] = Cx[i];
      z[i] = -gap(engine);
    }
  }
  qp.g() = -(qp.H() * x + qp.A().transpose() * y + qp.C().transpose() * z);
}

// Nearest point of a plane: x = p - n (n.p - d) / n.n.
TEST_F(QpTest, NearestPointOfAPlane) {
  Qp qp(3, 1, 0);
  const Vector3<double> p(1, 2, 3), n(1, -1, 2);
  qp.H().setIdentity();
  qp.g() = -p;
  qp.A() = n.transpose();
  qp.b()[0] = 0.5;
  ASSERT_EQ(qp.solve(), Status::ok);
  const Vector3<double> expected = p - n * ((n.dot(p) - 0.5) / n.squaredNorm());
  EXPECT_LT((qp.x() - expected).norm(), 1e-6);  // the tolerance of the options
}

// Nearest point of a box: each coordinate is clamped, and the multiplier is the clamped part.
TEST_F(QpTest, NearestPointOfABox) {
  Qp qp(3, 0, 3);
  const Vector3<double> p(-3, 0.25, 7);
  qp.H().setIdentity();
  qp.g() = -p;
  qp.C().setIdentity();
  qp.lower().setConstant(-1);
  qp.upper().setConstant(2);
  ASSERT_EQ(qp.solve(), Status::ok);
  EXPECT_LT((qp.x() - Vector3<double>(-1, 0.25, 2)).norm(), 1e-5);
  EXPECT_LT((qp.z() - Vector3<double>(-2, 0, 5)).norm(), 1e-5);
}

TEST_F(QpTest, FindsKnownSolutionsOfRandomProblems) {
  std::mt19937_64 engine(20);
  for (const auto& [n, e, m] : {std::array{4, 1, 3}, {12, 5, 20}, {30, 18, 44}, {60, 0, 100}}) {
    QpOptions options;
    options.tolerance = 1e-8;
    Qp qp(n, e, m, options);
    for (int trial = 0; trial < 10; ++trial) {
      VectorX<double> x, y, z;
      write_problem(qp, engine, x, y, z);
      ASSERT_EQ(qp.solve(), Status::ok) << n << " variables, trial " << trial;
      // H >= 1, so the error of x is at most that of the gradient times the condition of the active
      // rows, which is moderate for random rows.
      EXPECT_LT(max_abs(qp.x() - x), 1e-5);
      const QpResiduals r = qp.residuals();
      EXPECT_LE(r.stationarity, 2 * options.tolerance);
      EXPECT_LE(r.primal, 2 * options.tolerance);
      EXPECT_LE(r.dual, options.tolerance);
      // Multiplier times slack: each below the tolerance times the size of the other.
      EXPECT_LE(r.complementarity, 100 * options.tolerance);
    }
  }
}

TEST_F(QpTest, ResidualsDetectEveryKindOfError) {
  std::mt19937_64 engine(3);
  Qp qp(6, 2, 5);
  VectorX<double> x, y, z;
  write_problem(qp, engine, x, y, z);
  ASSERT_EQ(qp.solve(), Status::ok);
  qp.g()[0] += 1;
  EXPECT_NEAR(qp.residuals().stationarity, 1, 1e-5);
  qp.g()[0] -= 1;
  qp.b()[1] += 2;
  EXPECT_NEAR(qp.residuals().primal, 2, 1e-5);
  qp.b()[1] -= 2;
  const double bound = qp.upper()[0];  // active, with a positive multiplier
  qp.upper()[0] = bound + 3;
  EXPECT_NEAR(qp.residuals().complementarity, 3 * qp.z()[0], 1e-4);
  qp.upper()[0] = kInfinity;
  EXPECT_NEAR(qp.residuals().dual, qp.z()[0], 1e-12);
  qp.upper()[0] = bound - 3;
  EXPECT_NEAR(qp.residuals().primal, 3, 1e-5);
}

// In the last entry, where a maximum by comparison would drop it.
TEST_F(QpTest, ResidualsOfUndefinedNumbersAreUndefined) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::mt19937_64 engine(3);
  Qp qp(6, 2, 5);
  VectorX<double> x, y, z;
  write_problem(qp, engine, x, y, z);
  ASSERT_EQ(qp.solve(), Status::ok);
  qp.g()[5] = kNan;
  EXPECT_TRUE(std::isnan(qp.residuals().stationarity));
  EXPECT_LT(qp.residuals().primal, 1e-5);
  qp.upper()[4] = kNan;
  EXPECT_TRUE(std::isnan(qp.residuals().primal));
}

TEST_F(QpTest, FailuresAreReportedAndDoNotAffectLaterSolves) {
  std::mt19937_64 engine(5);
  Qp qp(4, 1, 3);
  VectorX<double> x, y, z;
  const auto solves_again = [&] {
    write_problem(qp, engine, x, y, z);
    return qp.solve() == Status::ok && (qp.x() - x).norm() < 1e-4;
  };
  ASSERT_TRUE(solves_again());

  // x0 = 1 and x0 <= 0.
  qp.A().setZero();
  qp.A()(0, 0) = 1;
  qp.b()[0] = 1;
  qp.C().setZero();
  qp.C()(0, 0) = 1;
  qp.lower().setConstant(-kInfinity);
  qp.upper().setConstant(kInfinity);
  qp.upper()[0] = 0;
  EXPECT_EQ(qp.solve(), Status::primal_infeasible);
  EXPECT_TRUE(solves_again());

  qp.lower()[1] = 2;
  qp.upper()[1] = 1;
  EXPECT_EQ(qp.solve(), Status::primal_infeasible);
  EXPECT_TRUE(solves_again());

  // Unbounded below along x1.
  qp.H().setZero();
  qp.H()(0, 0) = 1;
  qp.g().setZero();
  qp.g()[1] = 1;
  qp.A() << 1, 0, 0, 0;
  qp.b()[0] = 1;
  qp.C().setZero();
  qp.C().leftCols(1).setOnes();
  qp.lower().setConstant(-5);
  qp.upper().setConstant(5);
  EXPECT_EQ(qp.solve(), Status::dual_infeasible);
  EXPECT_TRUE(solves_again());

  qp.g()[2] = std::nan("");
  EXPECT_EQ(qp.solve(), Status::not_finite);
  EXPECT_TRUE(solves_again());
}

TEST_F(QpTest, IterationLimit) {
  std::mt19937_64 engine(6);
  QpOptions options;
  options.tolerance = 1e-14;  // out of reach
  options.max_outer = 3;
  options.max_inner = 4;
  Qp qp(30, 10, 40, options);
  VectorX<double> x, y, z;
  write_problem(qp, engine, x, y, z);
  EXPECT_EQ(qp.solve(), Status::iteration_limit);
  EXPECT_LE(qp.iterations(), 12);
}

// The clock is checked after four multiplier updates: by then the time is over.
TEST_F(QpTest, TimeLimit) {
  std::mt19937_64 engine(12);
  QpOptions options;
  options.tolerance = 1e-15;  // out of reach
  options.max_outer = 100;
  VectorX<double> x, y, z;
  Qp unlimited(60, 10, 80, options);
  write_problem(unlimited, engine, x, y, z);
  EXPECT_EQ(unlimited.solve(), Status::iteration_limit);
  options.time_limit = 1e-6;
  Qp qp(60, 10, 80, options);
  write_problem(qp, engine, x, y, z);
  EXPECT_EQ(qp.solve(), Status::iteration_limit);
  EXPECT_LE(qp.iterations(), 4 * options.max_inner);
  EXPECT_LT(qp.iterations(), unlimited.iterations() / 2);
  EXPECT_LT((qp.x() - x).norm(), 1e-2);  // still near the solution
  EXPECT_LT(qp.residuals().primal, 1e-2);
  options.tolerance = 1e-6;
  options.time_limit = 10;  // in slices, and solved
  Qp sliced(60, 10, 80, options);
  for (int trial = 0; trial < 5; ++trial) {
    write_problem(sliced, engine, x, y, z);
    ASSERT_EQ(sliced.solve(), Status::ok);
    EXPECT_LT((sliced.x() - x).norm(), 1e-3);
  }
}

TEST_F(QpTest, WarmStartsFromThePreviousSolution) {
  std::mt19937_64 engine(7);
  Qp qp(30, 12, 40);
  VectorX<double> x, y, z;
  write_problem(qp, engine, x, y, z);
  ASSERT_EQ(qp.solve(), Status::ok);
  const int cold = qp.iterations();
  qp.g() *= 1.0001;
  ASSERT_EQ(qp.solve(), Status::ok);
  EXPECT_LT(qp.iterations(), cold);
}

TEST(Qp, InvalidSizesAndOptionsThrow) {
  if (!Qp::available()) {
    EXPECT_THROW(Qp(1, 0, 0), Error);
    return;
  }
  EXPECT_THROW(Qp(0, 0, 0), Error);
  EXPECT_THROW(Qp(1, -1, 0), Error);
  QpOptions options;
  options.tolerance = 0;
  EXPECT_THROW(Qp(1, 0, 0, options), Error);
}

}  // namespace
}  // namespace limb
