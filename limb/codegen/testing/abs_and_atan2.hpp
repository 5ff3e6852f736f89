#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "limb/codegen/record/jacobian.hpp"
#include "limb/codegen/record/trace.hpp"

/// |x|, atan2(y, x) and their derivatives, for tests of all back ends.
namespace limb::testing {

/// p = (x, y) -> |x|, d|x|/dx, atan2(y, x), its derivatives by x and by y.
inline codegen::Trace abs_and_atan2_trace() {
  codegen::Tracer tracer("corners");
  const VectorX<Traced> p = tracer.input("p", 2);
  VectorX<Traced> f(2), r(5);
  f << abs(p[0]), atan2(p[1], p[0]);
  const MatrixX<Traced> J = codegen::jacobian(f, codegen::unit_directions(p));
  r << f[0], J(0, 0), f[1], J(1, 0), J(1, 1);
  tracer.output("r", r);
  return tracer.finish();
}

/// All quadrants, both axes, the origin last.
template <typename T>
std::vector<T> abs_and_atan2_points() {
  std::vector<T> points;
  for (const double length : {1e-3, 1.0, 2.5e4}) {
    for (const double x : {0.0, 0.25, 1.0, -0.25, -1.0}) {
      for (const double y : {0.0, 0.75, 1.0, -0.75, -1.0}) {
        if (x != 0 || y != 0) points.insert(points.end(), {T(length * x), T(length * y)});
      }
    }
  }
  points.insert(points.end(), {T(0), T(0)});
  return points;
}

/// Compares with d|x|/dx = sign x, 1 at 0; d atan2 = (x dy - y dx) / (x^2 + y^2), not a number at
/// the origin, where atan2 is 0.
template <typename T>
void expect_abs_and_atan2(const std::vector<T>& points, const std::vector<T>& found) {
  ASSERT_EQ(found.size(), points.size() / 2 * 5);
  // Three units in the last place for the angle; three roundings for its derivatives, and as many
  // for the expected ones.
  const auto expect_near = [](T x, double y) {
    EXPECT_LE(std::abs(double(x) - y), 4 * double(std::numeric_limits<T>::epsilon()) * std::abs(y));
  };
  for (std::size_t i = 0; i < points.size() / 2; ++i) {
    const double x = points[2 * i], y = points[2 * i + 1], square = x * x + y * y;
    SCOPED_TRACE(::testing::Message() << "x = " << x << ", y = " << y);
    EXPECT_EQ(double(found[5 * i]), std::abs(x));
    EXPECT_EQ(double(found[5 * i + 1]), x < 0 ? -1 : 1);
    expect_near(found[5 * i + 2], std::atan2(y, x));
    if (square > 0) {
      expect_near(found[5 * i + 3], -y / square);
      expect_near(found[5 * i + 4], x / square);
    } else {
      EXPECT_EQ(found[5 * i + 2], T(0));
      EXPECT_TRUE(std::isnan(found[5 * i + 3]) && std::isnan(found[5 * i + 4]));
    }
  }
}

}  // namespace limb::testing
