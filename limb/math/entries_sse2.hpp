#pragma once

#include <emmintrin.h>

#include "limb/math/entries.hpp"

/// Some of these products for double, two numbers an instruction: x and y share a register, z has
/// its own. Operations and their order are those of the plain forms. Written out because gcc 12,
/// given the plain forms, pairs numbers across vectors and spends a third of its instructions on
/// moving them about. Every vector is stored and loaded in the same two parts: a load that needs
/// two fresh stores waits for both to reach the cache.
namespace limb::entries {
namespace sse2 {

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

/// s x. The empty statement makes z wait for xy, so that z can overwrite ss and needs no copy.
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

}  // namespace sse2

template <>
[[gnu::always_inline]] inline Vector3<double> affine(const Matrix3<double>& R,
                                                     const Vector3<double>& x,
                                                     const Vector3<double>& c) {
  Vector3<double> y;
  sse2::store(sse2::affine(R, x.data(), sse2::load(c.data())), y);
  return y;
}

template <>
[[gnu::always_inline]] inline void change_frame(const Matrix3<double>& R, const Vector3<double>& p,
                                                const Vector3<double>& free_B,
                                                const Vector3<double>& bound_B,
                                                Vector3<double>& free, Vector3<double>& bound) {
  const sse2::Split turned = sse2::product(R, free_B.data());
  sse2::store(turned, free);
  sse2::store(sse2::affine(R, bound_B.data(), sse2::cross(p, turned)), bound);
}

template <>
[[gnu::always_inline]] inline void momentum(const double& m, const Vector3<double>& h,
                                            const Matrix3<double>& I, const Vector3<double>& v,
                                            const Vector3<double>& w, Vector3<double>& f,
                                            Vector3<double>& n) {
  sse2::store(sse2::scaled(m, v.data()) - sse2::cross(h, sse2::load(w.data())), f);
  sse2::store(sse2::affine(I, w.data(), sse2::cross(h, sse2::load(v.data()))), n);
}

}  // namespace limb::entries
