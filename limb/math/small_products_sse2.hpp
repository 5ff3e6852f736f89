#pragma once

#include <emmintrin.h>

#include <Eigen/Core>

/// Some of the products of small_products.hpp for double, two numbers per instruction: x and y
/// share a register, z has its own. Operations and their order are those of the plain forms.
/// Written by hand because gcc 12, given the plain forms, pairs numbers across vectors and spends a
/// third of its instructions on moves. Every vector is stored and loaded in the same two parts: a
/// load that spans two recent stores waits until both have reached the cache.
namespace limb::small_products::sse2 {

struct Split {
  __m128d xy;
  double z;
};

[[gnu::always_inline]] inline Split load(const double* x) {
  return {_mm_loadu_pd(x), x[2]};
}

[[gnu::always_inline]] inline void store(const Split& a, Eigen::Vector3d& x) {
  _mm_storeu_pd(x.data(), a.xy);
  x[2] = a.z;
}

[[gnu::always_inline]] inline Split operator+(const Split& a, const Split& b) {
  return {a.xy + b.xy, a.z + b.z};
}

[[gnu::always_inline]] inline Split operator-(const Split& a, const Split& b) {
  return {a.xy - b.xy, a.z - b.z};
}

/// s x. The empty asm statement orders z after xy, so that z can overwrite ss without a copy.
[[gnu::always_inline]] inline Split scaled(double s, const double* x) {
  __m128d ss = _mm_set1_pd(s);
  const __m128d xy = ss * _mm_loadu_pd(x);
  asm("" : "+x"(ss) : "x"(xy));
  return {xy, ss[0] * x[2]};
}

/// R x
[[gnu::always_inline]] inline Split product(const Eigen::Matrix3d& R, const double* x) {
  const double* r = R.data();
  return scaled(x[0], r) + scaled(x[1], r + 3) + scaled(x[2], r + 6);
}

/// R x + c
[[gnu::always_inline]] inline Split affine(const Eigen::Matrix3d& R, const double* x,
                                           const Split& c) {
  const double* r = R.data();
  return (c + scaled(x[0], r)) + (scaled(x[1], r + 3) + scaled(x[2], r + 6));
}

/// a x b: with t = a_z b - b_z a the first two are (-t_y, t_x).
[[gnu::always_inline]] inline Split cross(const Eigen::Vector3d& a, const Split& b) {
  const __m128d t = _mm_set1_pd(a[2]) * b.xy - _mm_set1_pd(b.z) * _mm_loadu_pd(a.data());
  return {_mm_xor_pd(_mm_shuffle_pd(t, t, 1), _mm_set_pd(0.0, -0.0)),
          a[0] * b.xy[1] - a[1] * b.xy[0]};
}

}  // namespace limb::small_products::sse2
