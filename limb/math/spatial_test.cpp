#include "limb/math/spatial.hpp"

#include <gtest/gtest.h>

#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"

namespace limb {
namespace {

// The wrong kinds must not compile; a requires-expression is how a test can say so.
template <typename A, typename B>
constexpr bool can_add = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
constexpr bool can_cross = requires(A a, B b) {
  cross(a, b);
};
template <typename A, typename B>
constexpr bool can_pair = requires(A a, B b) {
  dot(a, b);
};
template <typename A, typename B>
constexpr bool can_multiply = requires(A a, B b) {
  a* b;
};

using M = Motion<double>;
using F = Force<double>;

static_assert(can_add<M, M> && can_add<F, F> && !can_add<M, F> && !can_add<F, M>);
static_assert(can_cross<M, M> && can_cross<M, F> && !can_cross<F, F> && !can_cross<F, M>);
static_assert(can_pair<M, F> && can_pair<F, M> && !can_pair<M, M> && !can_pair<F, F>);
static_assert(can_multiply<Inertia<double>, M> && !can_multiply<Inertia<double>, F>);
static_assert(!can_multiply<M, M> && !can_multiply<M, F>);
static_assert(!std::is_convertible_v<M, F> && !std::is_convertible_v<F, M>);

TEST(Smoke, ExpLog) {
  const M V{{0.1, 0.2, 0.3}, {0.3, -0.5, 0.7}};
  EXPECT_LT((se3::log(se3::exp(V)) - V).vector().norm(), 1e-15);
}

}  // namespace
}  // namespace limb
