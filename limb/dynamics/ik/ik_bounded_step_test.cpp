#include "limb/dynamics/ik/ik_bounded_step_impl.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "limb/dynamics/factor/singular_values_impl.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builder.hpp"

// The bounded step of inverse kinematics, and the singular values of its report.
namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

// Karush-Kuhn-Tucker conditions for random steps: inside the bounds, zero gradient in free
// directions, and at a bound a gradient that points into it.
TEST(BoundedStep, IsOptimal) {
  constexpr int n = 8;
  RobotBuilder<double> b("chain");
  b.link("l0");
  for (int i = 0; i < n; ++i) {
    b.link("l" + std::to_string(i + 1), 1.0, {0, 0, 0}, Matrix3<double>::Identity());
    b.joint("j" + std::to_string(i), Joint<double>::revolute(Vector3<double>::UnitZ()),
            "l" + std::to_string(i), "l" + std::to_string(i + 1));
    DofLimits<double> limits;
    limits.lower = -1;
    limits.upper = 1;
    b.limits({limits});
  }
  const Model<double> model = b.build();
  IkScratch<double> s(model, 1);
  ik::collect_limits(model, IkOptions<double>{}, s);
  testing::Random random(14);
  SCOPED_TRACE(random.text());
  int active = 0;
  for (int i = 0; i < 500; ++i) {
    const MatrixX<double> A =
        MatrixX<double>::NullaryExpr(n, n, [&] { return random.uniform(-1, 1); });
    const MatrixX<double> H = A.transpose() * A + 0.01 * MatrixX<double>::Identity(n, n);
    const VectorX<double> g = VectorX<double>::NullaryExpr(n, [&] { return random.normal(); });
    VectorX<double> q = VectorX<double>::NullaryExpr(n, [&] { return random.uniform(-1, 1); });
    if (i % 3 == 0) q[i % n] = 1;  // starts on a limit
    s.H = H;
    s.g = g;
    ik::bound_step(model, s, q);
    ASSERT_TRUE(ik::bounded_step(s));
    const VectorX<double> slope = H * s.d + g;
    for (int j = 0; j < n; ++j) {
      const double x = q[j] + s.d[j];
      ASSERT_LE(std::abs(x), 1 + 4 * kEps);
      // Condition numbers of up to 1e3 and eight unknowns.
      const double tolerance = 1e4 * kEps * (1 + g.norm());
      const bool at_lower = x<-1 + 1e-9, at_upper = x> 1 - 1e-9;
      active += at_lower || at_upper;
      EXPECT_TRUE(at_lower || slope[j] < tolerance);
      EXPECT_TRUE(at_upper || slope[j] > -tolerance);
    }
  }
  EXPECT_GT(active, 1000);  // of 4000: many limits are active
}

TEST(SingularValues, MatchEigen) {
  testing::Random random(15);
  SCOPED_TRACE(random.text());
  for (const auto& [m, n] : {std::pair{6, 7}, {3, 3}, {12, 37}, {6, 2}, {1, 4}}) {
    MatrixX<double> A = MatrixX<double>::NullaryExpr(m, n, [&] { return random.uniform(-1, 1); });
    if (m > 2) A.row(2) = A.row(0) * (1 + 1e-9) + 1e-10 * A.row(1);  // nearly dependent
    const VectorX<double> expected = Eigen::JacobiSVD<MatrixX<double>>(A).singularValues();
    VectorX<double> sigma(m);
    MatrixOut<double> rows = A;
    VectorOut<double> out = sigma;
    kernel::singular_values<double>(rows, out);
    // Both are backward stable: rounding of the entries, a few times.
    EXPECT_LT((sigma.head(expected.size()) - expected).norm(), 32 * kEps * expected[0]) << m;
  }
}

}  // namespace
}  // namespace limb
