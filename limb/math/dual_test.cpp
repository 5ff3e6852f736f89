// Dual numbers and the complex step: every function against its textbook derivative, second
// derivatives by nesting, decisions by the value, and use inside Eigen.
#include "limb/math/dual.hpp"

#include <gtest/gtest.h>

#include "limb/math/complex_step.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Complex = ComplexStep<double>;
using Second = Dual<Dual<double, 1>, 1>;
using testing::Random;

constexpr double kEps = std::numeric_limits<double>::epsilon();

// Like double: trivially copyable, constructible from numbers, usable in branches.
static_assert(std::is_trivially_copyable_v<Dual<double, 4>> && std::is_trivial_v<Complex>);
static_assert(sizeof(Dual<double, 4>) == 5 * sizeof(double));
static_assert(Branching<Dual<float, 2>> && Branching<Complex> && Branching<Second>);
static_assert(!Real<Complex> && !Real<Dual<double, 1>>);

/// Checks a function at x against its first and second derivative, given by hand.
template <typename F>
void expect_derivatives(const char* name, double x, const F& f, double value, double first,
                        double second) {
  SCOPED_TRACE(name);
  // A handful of roundings of the formulas on both sides; 1/s^3 of asin and sqrt scale the last.
  const double tolerance = 32 * kEps * (1 + std::abs(value) + std::abs(first) + std::abs(second));
  const Dual<double, 2> a = f(Dual<double, 2>(x, {1, -3}));
  EXPECT_EQ(a.value, value);
  EXPECT_NEAR(a.tangent[0], first, tolerance);
  EXPECT_NEAR(a.tangent[1], -3 * first, 3 * tolerance);
  Complex z(x);
  set_tangent(z, 0, 1.0);
  const Complex b = f(z);
  EXPECT_NEAR(b.real, value, tolerance);
  EXPECT_NEAR(tangent_of(b, 0), first, tolerance);
  const Second c = f(Second({x, 1}, {1, 0}));
  EXPECT_EQ(c.value.value, value);
  EXPECT_NEAR(c.value.tangent[0], first, tolerance);
  EXPECT_NEAR(c.tangent[0].value, first, tolerance);
  EXPECT_NEAR(c.tangent[0].tangent[0], second, tolerance);
}

TEST(DerivativeScalars, FunctionsHaveTextbookDerivatives) {
  for (const double x : {0.3, 0.71}) {
    const double s = std::sin(x), c = std::cos(x), t = std::tan(x), h = std::tanh(x);
    const double root = std::sqrt(x), r = std::sqrt(1 - x * x), e = std::exp(x);
    const auto check = [&](const char* name, const auto& f, double value, double first,
                           double second) { expect_derivatives(name, x, f, value, first, second); };
    check(
        "sin", [](const auto& a) { return sin(a); }, s, c, -s);
    check(
        "cos", [](const auto& a) { return cos(a); }, c, -s, -c);
    check(
        "tan", [](const auto& a) { return tan(a); }, t, 1 + t * t, 2 * t * (1 + t * t));
    check(
        "asin", [](const auto& a) { return asin(a); }, std::asin(x), 1 / r, x / (r * r * r));
    check(
        "acos", [](const auto& a) { return acos(a); }, std::acos(x), -1 / r, -x / (r * r * r));
    const double over = 1 / (1 + x * x);
    check(
        "atan", [](const auto& a) { return atan(a); }, std::atan(x), over, -2 * x * over * over);
    check(
        "exp", [](const auto& a) { return exp(a); }, e, e, e);
    check(
        "log", [](const auto& a) { return log(a); }, std::log(x), 1 / x, -1 / (x * x));
    check(
        "tanh", [](const auto& a) { return tanh(a); }, h, 1 - h * h, -2 * h * (1 - h * h));
    check(
        "sqrt", [](const auto& a) { return sqrt(a); }, root, 0.5 / root, -0.25 / (x * root));
    check(
        "pow", [](const auto& a) { return pow(a, 2.5); }, std::pow(x, 2.5), 2.5 * std::pow(x, 1.5),
        3.75 * std::pow(x, 0.5));
    check(
        "cube", [](const auto& a) { return a * a * a; }, x * x * x, 3 * x * x, 6 * x);
    check(
        "with numbers", [](const auto& a) { return 2 - (3 * a + 1) / 4 * 2.0; },
        2 - (3 * x + 1) / 4 * 2.0, -1.5, 0);
    check(
        "quotient", [](const auto& a) { return 1.0 / a; }, 1 / x, -1 / (x * x), 2 / (x * x * x));
    check(
        "sin(x)/x", [](const auto& a) { return sin(a) / a; }, s / x, (c - s / x) / x,
        -s / x - 2 * (c - s / x) / (x * x));
    check(
        "abs", [](const auto& a) { return abs(-a) + abs(a); }, 2 * x, 2, 0);
    check(
        "atan2", [](const auto& a) { return atan2(sin(a), cos(a)); }, std::atan2(s, c), 1, 0);
    check(
        "hypot", [](const auto& a) { return hypot(a, a); }, std::sqrt(x * x + x * x),
        std::sqrt(2.0), 0);
  }
}

TEST(DerivativeScalars, DecisionsDependOnTheValueOnly) {
  const Dual<double, 1> small(1, 100), large(2, -100);
  EXPECT_TRUE(small < large && large > small && small <= large && large >= small);
  EXPECT_TRUE(small == (Dual<double, 1>(1, 7)) && small != large);
  EXPECT_EQ(choose(
                small < large, [] { return 1; }, [] { return 2; }),
            1);
  const Complex low(1, 5), high(2, -5);
  EXPECT_TRUE(low < high && high > low && low <= high && high >= low && low != high);
  EXPECT_EQ(std::max(low, high).real, 2);
  EXPECT_TRUE(isfinite(small) && !isfinite(small / 0) && isfinite(low) && !isfinite(low / 0.0));
}

// Every tangent is the derivative along one direction: R(w + t d) for several d at once.
TEST(DerivativeScalars, TangentsDoNotMix) {
  Random random(71);
  SCOPED_TRACE(random.text());
  for (int k = 0; k < 20; ++k) {
    const Vector3<double> w = random.vector<double, 3>();
    Vector3<Dual<double, 3>> dual;
    for (int i = 0; i < 3; ++i) {
      dual[i] = w[i];
      dual[i].tangent[static_cast<std::size_t>(i)] = 1;
    }
    const Matrix3<Dual<double, 3>> R = so3::exp<Dual<double, 3>>(dual);
    for (int direction = 0; direction < 3; ++direction) {
      Vector3<Complex> z;
      for (int i = 0; i < 3; ++i) {
        z[i] = w[i];
        set_tangent(z[i], 0, i == direction ? 1.0 : 0.0);
      }
      const Matrix3<Complex> expected = so3::exp<Complex>(z);
      for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(R.data()[i].value, expected.data()[i].real);
        // The same formula in another arithmetic.
        EXPECT_NEAR(tangent_of(R.data()[i], direction), tangent_of(expected.data()[i], 0),
                    16 * kEps);
      }
    }
  }
}

TEST(DerivativeScalars, WorkInsideEigen) {
  const auto check = [](auto scalar) {
    using S = decltype(scalar);
    Eigen::Matrix2d W;
    W << 2, 1, 1, 3;
    VectorX<S> x(2);
    x << S(0.5), S(-1.0);
    set_tangent(x[0], 0, 1.0);
    const VectorX<S> y = 2.0 * (W * x) - x / 4;
    EXPECT_NEAR(tangent_of(y[0], 0), 3.75, 8 * kEps);
    EXPECT_NEAR(tangent_of(y[1], 0), 2, 8 * kEps);
    const S cost = 0.5 * x.dot(W * x) + x.norm() + x.squaredNorm();
    // W x + x / |x| + 2 x
    EXPECT_NEAR(tangent_of(cost, 0), 0 + 0.5 / std::sqrt(1.25) + 1, 16 * kEps);
    MatrixX<S> M = W.template cast<S>();
    M(0, 0) *= x[0];
    EXPECT_NEAR(tangent_of(M.inverse()(1, 1), 0), 2 * -1.0 / 4, 64 * kEps);
    M.setIdentity();
    EXPECT_TRUE(M.trace() == S(2));
  };
  check(Dual<double, 2>(0));
  check(Complex(0));
}

// The fast sines of the values, in groups of four and a remainder.
TEST(DerivativeScalars, ManySinesAtOnce) {
  constexpr int n = 6;
  Dual<double, 2> angle[8], sine[8], cosine[8];
  for (int i = 0; i < n; ++i) angle[i] = {0.4 * i - 1, {1.0 + i, -2}};
  sincos(angle, sine, cosine, n);
  for (int i = 0; i < n; ++i) {
    const Dual<double, 2> s = sin(angle[i]), c = cos(angle[i]);
    EXPECT_NEAR(sine[i].value, s.value, 2 * kEps);
    EXPECT_NEAR(cosine[i].tangent[0], c.tangent[0], 4 * kEps * n);
    EXPECT_NEAR(sine[i].tangent[1], s.tangent[1], 4 * kEps);
  }
}

}  // namespace
}  // namespace limb
