#include "limb/math/log_cholesky.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "limb/base/testing/worst.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using namespace testing;
using testing::Dual;
using I = Inertia<double>;
using V3 = Vector3<double>;
using Theta = Vector10<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

// J = U U^T as the paper writes it, 4 x 4.
Matrix4<double> pseudo_by_definition(const Theta& t) {
  Matrix4<double> U;
  U << std::exp(t[1]), t[4], t[6], t[7],  //
      0, std::exp(t[2]), t[5], t[8],      //
      0, 0, std::exp(t[3]), t[9],         //
      0, 0, 0, 1;
  U *= std::exp(t[0]);
  return U * U.transpose();
}

TEST(LogCholesky, IsTheFactorOfThePseudoInertia) {
  Random random(61);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const Theta theta = random.vector<double, 10>(1.5);
    const Matrix4<double> expected = pseudo_by_definition(theta);
    const Matrix4<double> J = pseudo_inertia(inertia_from_log_cholesky(theta));
    EXPECT_LT((J - expected).norm(), 32 * eps * expected.norm());
  }
}

TEST(LogCholesky, ZeroIsAUnitMassWithUnitSecondMoments) {
  const I body = inertia_from_log_cholesky<double>(Theta::Zero());
  EXPECT_EQ(body.mass(), 1);
  EXPECT_EQ(body.first_moment(), V3::Zero());
  EXPECT_EQ(body.tensor(), Matrix3<double>(2 * Matrix3<double>::Identity()));
}

TEST(LogCholesky, OfABoxIsKnown) {
  // S_com = m/12 diag(edges^2): d = log(edge / sqrt(12)), s = 0; t the mass centre.
  const V3 edges(0.5, 0.3, 0.2), com(0.25, -0.5, 1);
  const I box = box_inertia(Mass{2.4}, edges).transformed({Matrix3<double>::Identity(), com});
  const Theta theta = log_cholesky(box);
  Theta expected;
  expected << std::log(2.4) / 2, (edges / std::sqrt(12.0)).array().log().matrix(), 0, 0, 0, com;
  // Moments about the centre are 1/150 of those about the origin: two digits cancel.
  EXPECT_LT((theta - expected).norm(), 500 * eps);
}

TEST(LogCholesky, AnyThetaIsConsistentAndRoundTrips) {
  Random random(62);
  SCOPED_TRACE(random.text());
  Worst worst;
  for (int k = 0; k < 2000; ++k) {
    const Theta theta = random.vector<double, 10>(1.5);
    const I body = inertia_from_log_cholesky(theta);
    const auto report = inertia_report(body);
    ASSERT_TRUE(report.consistent()) << report.text();
    worst.add((log_cholesky(body) - theta).norm());
  }
  RecordProperty("worst_in_eps", std::to_string(worst.value() / eps));
  // The factor is as ill-conditioned as J: second moments of exp(-3) to exp(3), shears of 1.5.
  EXPECT_LT(worst.value(), 1e5 * eps);
}

TEST(LogCholesky, EveryBodyRoundTrips) {
  Random random(63);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 500; ++k) {
    const I body = random.body();
    const I back = inertia_from_log_cholesky(log_cholesky(body));
    EXPECT_LT(relative_error(body, back), 64 * eps);
  }
}

TEST(LogCholesky, FloatRoundTrips) {
  Random random(64);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const Inertia<float> body = random.body().cast<float>();
    const Inertia<float> back = inertia_from_log_cholesky(log_cholesky(body));
    EXPECT_LT(relative_error(body, back), 64 * std::numeric_limits<float>::epsilon());
  }
}

TEST(LogCholesky, JacobianIsTheDerivative) {
  Random random(66);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 50; ++k) {
    const Theta theta = random.vector<double, 10>();
    const Eigen::Matrix<double, 10, 10> J = log_cholesky_jacobian<double>(theta);
    using Ten = limb::Dual<double, 10>;
    Vector10<Ten> dual;
    for (int i = 0; i < 10; ++i) {
      dual[i] = theta[i];
      dual[i].tangent[static_cast<std::size_t>(i)] = 1;
    }
    const Vector10<Ten> p = inertial_parameters(inertia_from_log_cholesky(dual));
    for (int r = 0; r < 10; ++r) {
      for (int c = 0; c < 10; ++c) {
        // Sums of six products of numbers up to e^4.
        EXPECT_NEAR(J(r, c), tangent_of(p[r], c), 16 * eps * J.norm()) << r << " by " << c;
      }
    }
    const Vector10<double> values = inertial_parameters(inertia_from_log_cholesky(theta));
    EXPECT_EQ(inertial_parameters(inertia_from_parameters(values)), values);
  }
}

TEST(LogCholesky, DerivativesOfTheTwoDirectionsAreInverse) {
  Random random(65);
  SCOPED_TRACE(random.text());
  const Theta theta = random.vector<double, 10>();
  for (int j = 0; j < 10; ++j) {
    Vector10<Dual> dual;
    for (int i = 0; i < 10; ++i) dual[i] = Dual(theta[i], i == j ? 1 : 0);
    const Inertia<Dual> body = inertia_from_log_cholesky(dual);
    // The mass is exp(2 alpha) and depends on nothing else.
    EXPECT_NEAR(body.mass().tangent[0], j == 0 ? 2 * std::exp(2 * theta[0]) : 0, 8 * eps);
    const Vector10<Dual> back = log_cholesky(body);
    for (int i = 0; i < 10; ++i) {
      // The same conditioning as the round trip above, here for a moderate body.
      EXPECT_NEAR(back[i].tangent[0], i == j ? 1 : 0, 1e4 * eps) << i << " by " << j;
    }
  }
}

TEST(LogCholeskyErrors, NameTheViolatedCondition) {
  const I rod = I::from_com(1, V3::Zero(), V3(0, 1, 1).asDiagonal());
  const std::string text = message([&] { log_cholesky(rod); });
  EXPECT_NE(text.find("log_cholesky: I is inconsistent [smallest principal moment about the mass "
                      "centre is 0, expected > 0 (0 to rounding: a point mass or a rod)"),
            std::string::npos)
      << text;
  const I negative(-1, V3::Zero(), Matrix3<double>::Identity());
  EXPECT_NE(message([&] { log_cholesky(negative); }).find("mass is -1, expected > 0"),
            std::string::npos);
  Theta theta = Theta::Zero();
  theta[0] = 400;
  EXPECT_EQ(message([&] { inertia_from_log_cholesky(theta); }),
            "inertia_from_log_cholesky: the inertia of theta = [400, 0, 0, 0, 0, 0, 0, 0, 0, 0] is "
            "beyond the number range [computation failed]");
  theta[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message([&] { inertia_from_log_cholesky(theta); }),
            "inertia_from_log_cholesky: theta is [nan, 0, 0, 0, 0, 0, 0, 0, 0, 0], expected finite "
            "numbers");
}

}  // namespace
}  // namespace limb
