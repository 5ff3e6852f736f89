#include "limb/math/inertia.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/math/testing/scalars.hpp"

namespace limb {
namespace {

using namespace testing;
using I = Inertia<double>;
using V3 = Vector3<double>;
using M3 = Matrix3<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

M3 diagonal(double a, double b, double c) {
  return V3(a, b, c).asDiagonal();
}

// The tensor of one point by the definition, entry by entry.
M3 tensor_by_definition(const std::vector<PointMass<double>>& points) {
  M3 sum = M3::Zero();
  for (const auto& [m, p] : points) {
    const double x = p.x(), y = p.y(), z = p.z();
    sum += m * (M3() << y * y + z * z, -x * y, -x * z, -x * y, x * x + z * z, -y * z, -x * z,
                -y * z, x * x + y * y)
                   .finished();
  }
  return sum;
}

TEST(Tensor, BothSignConventionsGiveTheSameMatrix) {
  const M3 entries = tensor_from_entries(1.0, 2.0, 3.0, -0.1, -0.2, -0.3);
  EXPECT_EQ(entries, tensor_from_products(1.0, 2.0, 3.0, 0.1, 0.2, 0.3));
  EXPECT_EQ(entries(0, 1), -0.1);
  EXPECT_EQ(entries(0, 2), -0.2);
  EXPECT_EQ(entries(1, 2), -0.3);
  EXPECT_EQ(entries, entries.transpose());
}

TEST(Tensor, UnitPointTensorIsMinusTheSquareOfTheCrossMatrix) {
  const V3 d(0.5, -0.25, 2);
  EXPECT_EQ(unit_point_tensor(d), M3(-skew(d) * skew(d)));
}

TEST(Tensor, SecondMomentsAndTensorAreInverse) {
  Random random(11);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const auto points = random.points(5);
    M3 S = M3::Zero();
    for (const auto& [m, p] : points) S += m * p * p.transpose();
    const M3 tensor = tensor_by_definition(points);
    // Sums of five terms and a trace: about ten roundings.
    EXPECT_LT((tensor_from_second_moments(S) - tensor).norm(), 16 * eps * tensor.norm());
    EXPECT_LT((second_moments(tensor) - S).norm(), 16 * eps * tensor.norm());
  }
}

TEST(Tensor, PrincipalAxesRebuildTheTensorAndAreRightHanded) {
  Random random(12);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const M3 tensor = random.body().tensor();
    const auto [moments, R] = principal_axes(tensor);
    EXPECT_LE(moments[0], moments[1]);
    EXPECT_LE(moments[1], moments[2]);
    // An iterative solver: a few roundings per element and iteration.
    EXPECT_NEAR(R.determinant(), 1, 64 * eps);
    EXPECT_LT((R * moments.asDiagonal() * R.transpose() - tensor).norm(), 64 * eps * tensor.norm());
  }
}

TEST(Tensor, PrincipalAxesOfFloat) {
  const Matrix3<float> tensor = Random(13).body().tensor().cast<float>();
  const auto [moments, R] = principal_axes(tensor);
  const float feps = std::numeric_limits<float>::epsilon();
  EXPECT_LT((R * moments.asDiagonal() * R.transpose() - tensor).norm(), 64 * feps * tensor.norm());
}

TEST(Inertia, PointMassesSumToTheDefinition) {
  Random random(14);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const auto points = random.points(20);
    const I body = I::from_point_masses(points);
    double mass = 0;
    V3 first = V3::Zero();
    for (const auto& point : points) {
      mass += point.mass;
      first += point.mass * point.position;
    }
    const I expected(mass, first, tensor_by_definition(points));
    // Twenty additions in either order.
    EXPECT_LT(relative_error(body, expected), 64 * eps);
  }
}

TEST(Inertia, SumIsTheUnionOfPointsAndDifferenceRemovesThem) {
  Random random(15);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    auto points = random.points(7);
    const auto others = random.points(4);
    const I a = I::from_point_masses(points), b = I::from_point_masses(others);
    points.insert(points.end(), others.begin(), others.end());
    const I both = I::from_point_masses(points);
    EXPECT_LT(relative_error(both, a + b), 32 * eps);
    EXPECT_LT(relative_error(both, (both - b) + b), 8 * eps);
    EXPECT_LT(relative_error(a, both - b), 256 * eps);  // up to ten-fold cancellation
  }
}

TEST(Inertia, TransformedEqualsTransformedPoints) {
  Random random(16);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    auto points = random.points(6);
    const Pose<double> X = random.pose<double>(2);
    const I moved = I::from_point_masses(points).transformed(X);
    for (auto& point : points) point.position = X * point.position;
    // Positions of a few metres, moments that partly cancel.
    EXPECT_LT(relative_error(I::from_point_masses(points), moved), 128 * eps);
  }
}

TEST(Inertia, TransformedIsTheDualAdjointSandwich) {
  Random random(17);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const I body = random.body();
    const Pose<double> X = random.pose<double>(2);
    const Matrix6<double> sandwich = X.dual_adjoint() * body.matrix() * X.inverse().adjoint();
    const Matrix6<double> moved = body.transformed(X).matrix();
    EXPECT_LT((moved - sandwich).norm(), 64 * eps * moved.norm());
  }
}

TEST(Inertia, TransformedRoundTrip) {
  Random random(18);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const I body = random.body();
    const Pose<double> X = random.pose<double>(2);
    const I back = body.transformed(X).transformed(X.inverse());
    // |p| is at most 3.5 m: m |p|^2 is about ten times the tensor and cancels.
    EXPECT_LT((back.tensor() - body.tensor()).norm(), 512 * eps * body.tensor().norm());
    EXPECT_LT((back.first_moment() - body.first_moment()).norm(), 64 * eps * body.mass());
    EXPECT_EQ(back.mass(), body.mass());
  }
}

TEST(Inertia, TensorAboutAPointIsTwoParallelAxisShifts) {
  Random random(19);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const I body = random.body();
    const V3 point = random.vector<double>(3);
    const M3 at_com = parallel_axis_to_com<double>(body.tensor(), body.mass(), body.com());
    const M3 expected = parallel_axis_from_com<double>(at_com, body.mass(), point - body.com());
    EXPECT_LT((body.tensor_about(point) - expected).norm(), 64 * eps * expected.norm());
    EXPECT_LT((body.tensor_about(body.com()) - body.tensor_about_com()).norm(),
              64 * eps * body.tensor().norm());
    EXPECT_EQ(body.tensor_about(V3::Zero()), body.tensor());
  }
}

TEST(Inertia, MasslessBodyHasATensorAboutAnyPoint) {
  const I rotor(0.0, V3::Zero(), diagonal(1, 2, 3));
  EXPECT_EQ(rotor.tensor_about(V3(4, 5, 6)), rotor.tensor());
}

TEST(Inertia, FromComAndFromOriginAgree) {
  Random random(20);
  SCOPED_TRACE(random.text());
  const I body = random.body();
  const I a = I::from_com(body.mass(), body.com(), body.tensor_about_com());
  const I b = I::from_origin(body.mass(), body.com(), body.tensor());
  EXPECT_LT(relative_error(body, a), 32 * eps);
  EXPECT_LT(relative_error(body, b), 32 * eps);
}

TEST(Inertia, KineticEnergyIsFrameInvariantAndTheSumOverPoints) {
  Random random(21);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 200; ++k) {
    const auto points = random.points(6);
    const I body = I::from_point_masses(points);
    const Motion<double> V = random.motion<double>(2);
    const Pose<double> X = random.pose<double>(2);
    double energy = 0;
    for (const auto& [m, p] : points) energy += 0.5 * m * (V.v + V.w.cross(p)).squaredNorm();
    // Terms of both signs about as large as the scale (|v| + |w| |p|)^2 m.
    const double scale = body.mass() * 100;
    EXPECT_NEAR(kinetic_energy(body, V), energy, 4 * eps * scale);
    EXPECT_NEAR(kinetic_energy(body.transformed(X), X.act(V)), energy, 4 * eps * scale);
  }
}

TEST(Inertia, TimesMotionIsTheMatrixTimesTheVectorAndSymmetric) {
  Random random(22);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 100; ++k) {
    const I body = random.body();
    const Motion<double> V = random.motion<double>(2), U = random.motion<double>(2);
    const Vector6<double> P = body.matrix() * V.vector();
    EXPECT_LT(((body * V).vector() - P).norm(),
              32 * eps * body.matrix().norm() * V.vector().norm());
    EXPECT_NEAR(dot(U, body * V), dot(V, body * U), 64 * eps * body.matrix().norm() * 50);
  }
}

TEST(Inertia, FloatFollowsDouble) {
  Random random(23);
  SCOPED_TRACE(random.text());
  const float feps = std::numeric_limits<float>::epsilon();
  for (int k = 0; k < 100; ++k) {
    const I body = random.body();
    const Pose<double> X = random.pose<double>(2);
    const auto f = body.cast<float>().transformed(X.cast<float>());
    EXPECT_LT(relative_error(body.transformed(X), f.cast<double>()), 32 * feps);
  }
}

TEST(Inertia, PrintsItsTenNumbers) {
  std::ostringstream out;
  out << I(2, V3(1, 0, 0), diagonal(1, 2, 3));
  EXPECT_NE(out.str().find("mass = 2, first moment = 1 0 0"), std::string::npos) << out.str();
}

TEST(InertiaErrors, NameCallArgumentFoundAndExpected) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const M3 one = M3::Identity();
  EXPECT_EQ(message([&] { I::from_com(-1, V3::Zero(), one); }),
            "Inertia::from_com: mass is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] { I::from_origin(nan, V3::Zero(), one); }),
            "Inertia::from_origin: mass is nan, expected >= 0 and finite");
  EXPECT_EQ(message([&] { I::from_com(1, V3(0, nan, 0), one); }),
            "Inertia::from_com: com is [0, nan, 0], expected finite numbers");
  EXPECT_EQ(message([&] { I::point_mass(-2, V3::Zero()); }),
            "Inertia::from_com: mass is -2, expected >= 0 and finite");
  M3 skewed = one;
  skewed(0, 1) = 0.5;
  EXPECT_EQ(message([&] { I::from_com(1, V3::Zero(), skewed); }),
            "Inertia::from_com: tensor is [1, 0.5, 0, 0, 1, 0, 0, 0, 1], off by 0.5, expected a "
            "symmetric matrix");
  EXPECT_EQ(message([&] { principal_axes(skewed); }).substr(0, 20), "principal_axes: I is");
  skewed(0, 1) = skewed(1, 0) = nan;
  EXPECT_EQ(message([&] { I::from_origin(1, V3::Zero(), skewed); }),
            "Inertia::from_origin: tensor is [1, nan, 0, nan, 1, 0, 0, 0, 1], expected finite "
            "numbers");
  EXPECT_EQ(message([&] { (void)I().com(); }), "Inertia::com: mass is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { (void)I().tensor_about_com(); }),
            "Inertia::com: mass is 0, expected > 0 and finite");
}

}  // namespace
}  // namespace limb
