#include "limb/dynamics/identify/log_cholesky_regressor.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;
using testing::relative;
using testing::Sample;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// dtau/dtheta by central differences of tau = Y p(theta), at the theta of the robot.
TEST(LogCholeskyRegressor, IsTheDerivative) {
  for (const Sample& s : testing::samples(3)) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv(), count = parameter_count(s.model);
    Vector p(count), theta(count), back(count);
    inertial_parameters(s.model, p);
    log_cholesky_parameters(s.model, theta);
    parameters_from_log_cholesky<double>(theta, back);
    // Square roots of small differences of moments: the condition number of a flat body.
    EXPECT_LT(relative(back, p), 1e4 * kEps);
    log_cholesky_from_parameters<double>(p, back);
    EXPECT_EQ(back, theta);

    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, s.v, s.a, k);
    RegressorScratch<double> scratch(s.model);
    Matrix Y(n, count);
    torque_regressor(s.model, k, scratch, Y);
    Matrix by_theta = Y;
    EXPECT_EQ(testing::allocations([&] { regressor_by_log_cholesky<double>(theta, by_theta); }), 0);
    testing::Random random(5);
    const Vector d = testing::random_numbers(random, count);
    const auto torque = [&](double t) {
      parameters_from_log_cholesky<double>(theta + t * d, back);
      return Vector(Y * back);
    };
    const double h = 1e-5;
    // h^2 times third derivatives: eight times the values.
    EXPECT_LT(relative(by_theta * d, (torque(h) - torque(-h)) / (2 * h)), 1e-8);
  }
}

TEST(LogCholeskyRegressor, BadInput) {
  Vector five(5), ten(10), twenty(20);
  EXPECT_EQ(message([&] { parameters_from_log_cholesky<double>(five, five); }),
            "parameters_from_log_cholesky: size of theta is 5, expected a multiple of ten");
  EXPECT_EQ(message([&] { log_cholesky_from_parameters<double>(twenty, ten); }),
            "log_cholesky_from_parameters: theta has 10 entries, expected 20");
  Vector p = Vector::Zero(20);
  p[0] = p[4] = p[6] = p[9] = 1;  // the second body has no mass
  EXPECT_EQ(message([&] {
              log_cholesky_from_parameters<double>(p, twenty);
            }).find("log_cholesky_from_parameters: body 2: log_cholesky: "),
            0u);
  Matrix Y(3, 9);
  EXPECT_EQ(message([&] { regressor_by_log_cholesky<double>(ten, Y); }),
            "regressor_by_log_cholesky: columns of Y has 9 entries, expected 10");
}

}  // namespace
}  // namespace limb
