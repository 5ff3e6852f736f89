// The small products, whose double version computes two numbers per instruction, against the plain
// version in a wider scalar.
#include "limb/math/small_products.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::Random;

template <typename T>
struct Results {
  Vector3<T> affine, free, bound, f, n;
};

/// A is a general matrix, not a rotation, so that errors in different entries cannot cancel.
struct Inputs {
  Matrix3<double> A;
  Vector3<double> p, x, y;
  double m;

  template <typename T>
  Results<T> results() const {
    const Matrix3<T> A_T = A.cast<T>();
    const Vector3<T> p_T = p.cast<T>(), x_T = x.cast<T>(), y_T = y.cast<T>();
    Results<T> r;
    r.affine = small_products::affine<T>(A_T, x_T, p_T);
    small_products::change_frame<T>(A_T, p_T, x_T, y_T, r.free, r.bound);
    small_products::momentum<T>(T(m), p_T, A_T, x_T, y_T, r.f, r.n);
    return r;
  }
};

template <typename T>
class SmallProducts : public ::testing::Test {};
using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(SmallProducts, Reals);

// Integers up to 9 give integers below 2^24: no rounding, so no tolerance.
TYPED_TEST(SmallProducts, AreExactOnIntegers) {
  using T = TypeParam;
  Random random(31);
  const auto integer = [&random] { return std::floor(random.uniform(-9, 10)); };
  for (int i = 0; i < 200; ++i) {
    Inputs in;
    for (double& entry : in.A.reshaped()) entry = integer();
    for (Vector3<double>* v : {&in.p, &in.x, &in.y}) *v = {integer(), integer(), integer()};
    in.m = integer();
    const Results<T> r = in.results<T>();
    const Vector3<double> free = in.A * in.x;
    EXPECT_EQ(r.affine.template cast<double>(), in.A * in.x + in.p);
    EXPECT_EQ(r.free.template cast<double>(), free);
    EXPECT_EQ(r.bound.template cast<double>(), in.A * in.y + in.p.cross(free));
    EXPECT_EQ(r.f.template cast<double>(), in.m * in.x - in.p.cross(in.y));
    EXPECT_EQ(r.n.template cast<double>(), in.A * in.y + in.p.cross(in.x));
  }
}

// Each result is a sum of at most five terms of size up to 3, each of at most three roundings.
TYPED_TEST(SmallProducts, AgreeWithAWiderScalar) {
  using T = TypeParam;
  const double tolerance = 8 * double(std::numeric_limits<T>::epsilon());
  Random random(32);
  const auto narrow = [](const auto& x) { return x.template cast<T>().template cast<double>(); };
  for (int i = 0; i < 200; ++i) {
    Inputs in{narrow(random.vector<double, 9>()).reshaped(3, 3), narrow(random.vector<double>()),
              narrow(random.vector<double>()), narrow(random.vector<double>()), 0.5};
    const Results<T> r = in.results<T>();
    const Results<long double> wide = in.results<long double>();
    const auto error = [](const Vector3<T>& a, const Vector3<long double>& b) {
      return double((a.template cast<long double>() - b).norm());
    };
    EXPECT_LT(error(r.affine, wide.affine), tolerance);
    EXPECT_LT(error(r.free, wide.free), tolerance);
    EXPECT_LT(error(r.bound, wide.bound), tolerance);
    EXPECT_LT(error(r.f, wide.f), tolerance);
    EXPECT_LT(error(r.n, wide.n), tolerance);
  }
}

}  // namespace
}  // namespace limb
