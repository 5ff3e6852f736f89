#pragma once

#include "limb/math/scalar.hpp"

#ifdef __SSE2__
#include "limb/math/small_products_sse2.hpp"
#endif

/// Products of 3-vectors and 3 x 3 matrices, entry by entry: gcc keeps these in registers, where
/// some Eigen expressions pass a vector through memory (written in halves, read as a whole: a stall
/// of about 4 ns on x86). Which form is used where was measured with bench/math_bench.cpp.
namespace limb::small_products {

/// R x
template <typename T>
Vector3<T> product(const Matrix3<T>& R, const Vector3<T>& x) {
  return {R(0, 0) * x[0] + R(0, 1) * x[1] + R(0, 2) * x[2],
          R(1, 0) * x[0] + R(1, 1) * x[1] + R(1, 2) * x[2],
          R(2, 0) * x[0] + R(2, 1) * x[1] + R(2, 2) * x[2]};
}

/// R^T x
template <typename T>
Vector3<T> transpose_product(const Matrix3<T>& R, const Vector3<T>& x) {
  return {R(0, 0) * x[0] + R(1, 0) * x[1] + R(2, 0) * x[2],
          R(0, 1) * x[0] + R(1, 1) * x[1] + R(2, 1) * x[2],
          R(0, 2) * x[0] + R(1, 2) * x[1] + R(2, 2) * x[2]};
}

/// a x b
template <typename T>
Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// c + a x b
template <typename T>
Vector3<T> add_cross(const Vector3<T>& c, const Vector3<T>& a, const Vector3<T>& b) {
  return {c[0] + (a[1] * b[2] - a[2] * b[1]), c[1] + (a[2] * b[0] - a[0] * b[2]),
          c[2] + (a[0] * b[1] - a[1] * b[0])};
}

/// R x + c, summed as (c + R_0 x_0) + (R_1 x_1 + R_2 x_2): a chain of two additions instead of
/// three from left to right, which shortens the latency along a chain of bodies.
template <typename T>
Vector3<T> affine(const Matrix3<T>& R, const Vector3<T>& x, const Vector3<T>& c) {
  return {(c[0] + R(0, 0) * x[0]) + (R(0, 1) * x[1] + R(0, 2) * x[2]),
          (c[1] + R(1, 0) * x[0]) + (R(1, 1) * x[1] + R(1, 2) * x[2]),
          (c[2] + R(2, 0) * x[0]) + (R(2, 1) * x[1] + R(2, 2) * x[2])};
}

/// free = R free_B and bound = R bound_B + p x free: the change of frame for motions (w is the free
/// vector) and forces (f is). Output arguments, as a returned pair would be copied.
template <typename T>
void change_frame(const Matrix3<T>& R, const Vector3<T>& p, const Vector3<T>& free_B,
                  const Vector3<T>& bound_B, Vector3<T>& free, Vector3<T>& bound) {
  free = product<T>(R, free_B);
  bound = affine<T>(R, bound_B, cross<T>(p, free));
}

/// f = m v - h x w and n = I w + h x v: the momentum of a body with mass m, first moment h and
/// tensor I about the origin.
template <typename T>
void momentum(const T& m, const Vector3<T>& h, const Matrix3<T>& I, const Vector3<T>& v,
              const Vector3<T>& w, Vector3<T>& f, Vector3<T>& n) {
  f = add_cross<T>(m * v, w, h);
  n = affine<T>(I, w, cross<T>(h, v));
}

#ifdef __SSE2__

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
  const sse2::Split rotated = sse2::product(R, free_B.data());
  sse2::store(rotated, free);
  sse2::store(sse2::affine(R, bound_B.data(), sse2::cross(p, rotated)), bound);
}

template <>
[[gnu::always_inline]] inline void momentum(const double& m, const Vector3<double>& h,
                                            const Matrix3<double>& I, const Vector3<double>& v,
                                            const Vector3<double>& w, Vector3<double>& f,
                                            Vector3<double>& n) {
  sse2::store(sse2::scaled(m, v.data()) - sse2::cross(h, sse2::load(w.data())), f);
  sse2::store(sse2::affine(I, w.data(), sse2::cross(h, sse2::load(v.data()))), n);
}

#endif

}  // namespace limb::small_products
