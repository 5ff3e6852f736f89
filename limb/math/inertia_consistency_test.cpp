#include "limb/math/inertia_consistency.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "limb/math/inertia_solids.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using namespace testing;
using I = Inertia<double>;
using V3 = Vector3<double>;
using M3 = Matrix3<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

I body_with_moments(double a, double b, double c) {
  return I::from_com(1, V3::Zero(), V3(a, b, c).asDiagonal());
}

bool same_bits(const I& a, const I& b) {
  const auto same = [](const double* x, const double* y, std::size_t n) {
    return std::memcmp(x, y, n * sizeof(double)) == 0;
  };
  return same(&a.mass(), &b.mass(), 1) &&
         same(a.first_moment().data(), b.first_moment().data(), 3) &&
         same(a.tensor().data(), b.tensor().data(), 9);
}

TEST(Pseudo, IsTheSumOfHomogeneousPoints) {
  Random random(71);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const auto points = random.points(6);
    Matrix4<double> expected = Matrix4<double>::Zero();
    for (const auto& [m, p] : points) expected += m * p.homogeneous() * p.homogeneous().transpose();
    const I body = I::from_point_masses(points);
    EXPECT_LT((pseudo_inertia(body) - expected).norm(), 32 * eps * expected.norm());
    EXPECT_LT(relative_error(body, inertia_from_pseudo(expected)), 32 * eps);
    EXPECT_LT(relative_error(body, inertia_from_pseudo(pseudo_inertia(body))), 8 * eps);
  }
}

TEST(Pseudo, RejectsAnAsymmetricMatrix) {
  Matrix4<double> J = Matrix4<double>::Identity();
  J(0, 3) = 1;
  EXPECT_EQ(message([&] { inertia_from_pseudo(J); }),
            "inertia_from_pseudo: J is [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], off by 1, "
            "expected a symmetric matrix");
}

TEST(Report, GivesTheValueOfEachCondition) {
  const auto report = inertia_report(box_inertia(Mass{2.4}, {0.5, 0.3, 0.2}));
  EXPECT_TRUE(report.consistent());
  EXPECT_TRUE(report.realizable());
  EXPECT_EQ(report.mass, 2.4);
  EXPECT_LT((report.moments - V3(0.026, 0.058, 0.068)).norm(), 8 * eps);
  EXPECT_EQ(report.smallest_moment(), report.moments[0]);
  EXPECT_NEAR(report.triangle_margin, 0.016, 8 * eps);
  EXPECT_NEAR(report.pseudo_eigenvalue, 0.008, 8 * eps);  // m h^2 / 12
  EXPECT_EQ(report.text(), "");
}

TEST(Report, SolidsAreConsistentInEveryPoseAndUnit) {
  Random random(72);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 500; ++k) {
    const double size = std::pow(10, random.uniform(-6, 3)),
                 mass = std::pow(10, random.uniform(-9, 6));
    const auto box = box_inertia(Mass{mass}, {size, 0.1 * size, 0.02 * size});
    Pose<double> X = random.pose<double>(2);
    X.p *= 100 * size;
    const auto report = inertia_report(box.transformed(X));
    EXPECT_TRUE(report.consistent()) << report.text();
  }
}

TEST(Report, LimitingCasesAreRealizableButNotConsistent) {
  Random random(73);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 300; ++k) {
    const Pose<double> X = random.pose<double>(2);
    const double m = random.uniform(0.1, 5), a = random.uniform(0.1, 2), b = random.uniform(0.1, 2);
    const I point = I::point_mass(m, random.vector<double>());
    const I rod = I::from_com(m, V3::Zero(), V3(0, a, a).asDiagonal()).transformed(X);
    const I plate = I::from_com(m, V3::Zero(), V3(a, b, a + b).asDiagonal()).transformed(X);
    for (const I& limit : {point, rod, plate}) {
      const auto report = inertia_report(limit);
      EXPECT_FALSE(report.consistent());
      EXPECT_TRUE(report.realizable()) << report.text();
      EXPECT_NE(report.text().find("0 to rounding"), std::string::npos) << report.text();
    }
    EXPECT_EQ(inertia_report(point).violations.size(), 3u);
    EXPECT_EQ(inertia_report(rod).violations.size(), 3u);
    EXPECT_EQ(inertia_report(plate).violations.size(), 2u);  // its moments are positive
  }
  EXPECT_TRUE(inertia_report(I()).realizable());
  EXPECT_FALSE(inertia_report(I()).consistent());
  EXPECT_FALSE(inertia_report(I(0, V3(1, 0, 0), M3::Identity())).realizable());
}

TEST(Report, NamesTheViolatedConditionAndItsValue) {
  const auto triangle = inertia_report(body_with_moments(1, 2, 4));
  EXPECT_FALSE(triangle.realizable());
  ASSERT_EQ(triangle.violations.size(), 2u);
  EXPECT_EQ(triangle.violations[0], "I1 + I2 - I3 of the principal moments is -1, expected > 0");
  EXPECT_EQ(triangle.violations[1],
            "smallest eigenvalue of the pseudo-inertia is -0.5, expected > 0");

  const auto moment = inertia_report(body_with_moments(-0.25, 2, 2));
  ASSERT_EQ(moment.violations.size(), 3u);
  EXPECT_EQ(moment.violations[0],
            "smallest principal moment about the mass centre is -0.25, expected > 0");

  const auto mass = inertia_report(I(-2, V3::Zero(), M3::Identity()));
  EXPECT_EQ(mass.text(),
            "mass is -2, expected > 0; smallest eigenvalue of the pseudo-inertia is -2, expected "
            "> 0");

  M3 skewed = M3::Identity();
  skewed(0, 1) = 0.125;
  const auto asymmetric = inertia_report(I(1, V3::Zero(), skewed));
  EXPECT_EQ(asymmetric.text(), "tensor is not symmetric, off by 0.125");
  EXPECT_FALSE(asymmetric.realizable());

  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto unknown = inertia_report(I(nan, V3::Zero(), M3::Identity()));
  EXPECT_EQ(unknown.text(),
            "mass nan, first moment [0, 0, 0], tensor [1, 0, 0, 0, 1, 0, 0, 0, 1]: expected finite "
            "numbers");
  EXPECT_FALSE(unknown.realizable());
}

TEST(Report, FloatHasItsOwnTolerance) {
  Random random(74);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 300; ++k) {
    const Inertia<float> solid = random.body().cast<float>();
    EXPECT_TRUE(inertia_report(solid).consistent()) << inertia_report(solid).text();
    const I rod =
        I::from_com(1, V3::Zero(), V3(0, 1, 1).asDiagonal()).transformed(random.pose<double>(2));
    const auto report = inertia_report(rod.cast<float>());
    EXPECT_TRUE(report.realizable() && !report.consistent()) << report.text();
  }
}

TEST(Check, ThrowsTheReport) {
  EXPECT_EQ(message([] { check_consistent("rnea", "inertia", body_with_moments(1, 2, 4)); }),
            "rnea: inertia is inconsistent [I1 + I2 - I3 of the principal moments is -1, expected "
            "> 0; smallest eigenvalue of the pseudo-inertia is -0.5, expected > 0], expected the "
            "inertia of a solid body (nearest_consistent() repairs a tensor)");
  EXPECT_EQ(message([] { check_consistent("rnea", "inertia", body_with_moments(2, 2, 3)); }),
            "no error");
  EXPECT_EQ(message([] { check_realizable("rnea", "inertia", body_with_moments(0, 2, 2)); }),
            "no error");
  EXPECT_EQ(message([] {
              check_realizable("rnea", "inertia", body_with_moments(1, 2, 4));
            }).substr(0, 31),
            "rnea: inertia is inconsistent [");
}

M3 central_moments(const I& body) {
  return second_moments<double>(body.tensor_about_com());
}

double smallest(const M3& S) {
  return Eigen::SelfAdjointEigenSolver<M3>(S).eigenvalues()[0];
}

// A body whose second moments are perturbed until at least one is negative.
I inconsistent_body(Random& random) {
  for (int tries = 0; tries < 1000; ++tries) {
    M3 noise;
    noise << random.vector<double>(3), random.vector<double>(3), random.vector<double>(3);
    const I body = random.body();
    const M3 S = central_moments(body) + noise + noise.transpose();
    if (smallest(S) < -0.01) {
      return I::from_com(body.mass(), body.com(), tensor_from_second_moments(S));
    }
  }
  throw std::runtime_error("no inconsistent body found");
}

TEST(Nearest, ReturnsAConsistentBodyBitForBit) {
  Random random(75);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const I body = random.body();
    EXPECT_TRUE(same_bits(body, nearest_consistent(body)));
  }
}

TEST(Nearest, KeepsMassAndCentreAndIsConsistentAndIdempotent) {
  Random random(76);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 300; ++k) {
    const I body = inconsistent_body(random);
    ASSERT_FALSE(inertia_report(body).realizable());
    const I repaired = nearest_consistent(body);
    EXPECT_EQ(repaired.mass(), body.mass());
    EXPECT_EQ(repaired.first_moment(), body.first_moment());
    EXPECT_TRUE(inertia_report(repaired).consistent()) << inertia_report(repaired).text();
    EXPECT_TRUE(same_bits(repaired, nearest_consistent(repaired)));
  }
}

TEST(Nearest, NoConsistentCandidateIsNearer) {
  Random random(77);
  SCOPED_TRACE(random.text());
  const double floor = 0.01;
  for (int k = 0; k < 50; ++k) {
    const I body = inconsistent_body(random);
    const M3 S = central_moments(body);
    const double least =
        floor * Eigen::SelfAdjointEigenSolver<M3>(S).eigenvalues().cwiseAbs().sum();
    const M3 repaired = central_moments(nearest_consistent(body, floor));
    const double distance = (repaired - S).norm(), rounding = 64 * eps * body.tensor().norm();
    EXPECT_GT(smallest(repaired), least - rounding);
    EXPECT_GT(distance, 0.01);
    for (int j = 0; j < 400; ++j) {
      // Candidates near the result and far from it, all with eigenvalues >= least: the floor plus
      // a positive semidefinite matrix, mixed with the result (the set is convex).
      M3 A;
      A << random.vector<double>(), random.vector<double>(), random.vector<double>();
      const M3 far =
          std::pow(10, random.uniform(-3, 1)) * A * A.transpose() + least * M3::Identity();
      const double t = std::pow(10, random.uniform(-6, 0));
      const M3 candidate = (1 - t) * repaired + t * far;
      ASSERT_GT(smallest(candidate), least - rounding);
      EXPECT_GE((candidate - S).norm(), distance - rounding);
      // The variational inequality of the projection onto a convex set.
      EXPECT_LE((S - repaired).cwiseProduct(far - repaired).sum(),
                rounding * (far - repaired).norm() + rounding * distance);
    }
  }
}

TEST(Nearest, ClampsTheEigenvaluesOfAKnownCase) {
  // Moments 1, 2, 4: second moments 2.5, 1.5, -0.5, so the floor is a tenth of 4.5.
  const I repaired = nearest_consistent(body_with_moments(1, 2, 4), 0.1);
  const M3 expected = V3(2.5, 1.5, 0.45).asDiagonal();
  EXPECT_LT((central_moments(repaired) - expected).norm(), 8 * eps);
}

TEST(Nearest, MakesLimitingCasesConsistent) {
  const I rod = body_with_moments(0, 2, 2);
  const I repaired = nearest_consistent(rod);
  EXPECT_TRUE(inertia_report(repaired).consistent());
  EXPECT_LT(relative_error(rod, repaired), 4 * std::sqrt(eps));
  const I point = nearest_consistent(I::point_mass(2, V3(1, 2, 3)));
  EXPECT_TRUE(inertia_report(point).consistent()) << inertia_report(point).text();
}

TEST(Nearest, RepairsFloat) {
  Random random(78);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const auto repaired = nearest_consistent(inconsistent_body(random).cast<float>());
    EXPECT_TRUE(inertia_report(repaired).consistent()) << inertia_report(repaired).text();
  }
}

TEST(NearestErrors, NameCallArgumentFoundAndExpected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const M3 one = M3::Identity();
  EXPECT_EQ(message([&] { nearest_consistent(I(-1, V3::Zero(), one)); }),
            "nearest_consistent: mass is -1, expected > 0 and finite");
  EXPECT_EQ(message([&] { nearest_consistent(I(0, V3::Zero(), one)); }),
            "nearest_consistent: mass is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { nearest_consistent(I(1, V3(nan, 0, 0), one)); }),
            "nearest_consistent: first moment is [nan, 0, 0], expected finite numbers");
  EXPECT_EQ(message([&] { nearest_consistent(I(1, V3::Zero(), nan * one)); }).substr(0, 29),
            "nearest_consistent: tensor is");
  EXPECT_EQ(message([&] { nearest_consistent(I(1, V3::Zero(), one), 0.0); }),
            "nearest_consistent: floor is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { nearest_consistent(I::point_mass(1, V3::Zero())); }),
            "nearest_consistent: inertia is a point mass at the origin, expected a body of some "
            "size (give it the tensor of a small ball)");
}

}  // namespace
}  // namespace limb
