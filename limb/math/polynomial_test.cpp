#include "limb/math/polynomial.hpp"

#include <gtest/gtest.h>

namespace limb {
namespace {

// All numbers are integers: exact.
TEST(Polynomial, DerivativesOfAQuintic) {
  const std::vector<double> c = {3, -2, 5, 7, -1, 2};
  const double x = -3;
  const auto p = evaluate_polynomial(c, x);
  EXPECT_EQ(p.value, 3 - 2 * x + 5 * x * x + 7 * x * x * x - x * x * x * x + 2 * x * x * x * x * x);
  EXPECT_EQ(p.first, -2 + 10 * x + 21 * x * x - 4 * x * x * x + 10 * x * x * x * x);
  EXPECT_EQ(p.second, 10 + 42 * x - 12 * x * x + 40 * x * x * x);
  EXPECT_EQ(p.third, 42 - 24 * x + 120 * x * x);
}

TEST(Polynomial, WithoutCoefficientsIsZero) {
  const auto p = evaluate_polynomial<double>({}, 2);
  EXPECT_EQ(p.value, 0);
  EXPECT_EQ(p.first, 0);
  EXPECT_EQ(p.second, 0);
  EXPECT_EQ(p.third, 0);
}

}  // namespace
}  // namespace limb
