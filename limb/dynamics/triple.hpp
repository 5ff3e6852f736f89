#pragma once

#include "limb/model/canonical.hpp"

/// The small vocabulary of the fast algorithms: triples of numbers, planar rotations, and the
/// changes of frame of a canonical step. Entry by entry, so that compilers keep all in registers.
/// Derivations: docs/derivations/canonical_algorithms.md.
namespace limb::kernel {
#ifndef LIMB_INLINE  // `inline` builds faster and runs slower: see any_scalar.hpp
#define LIMB_INLINE inline __attribute__((always_inline))
#endif
template <typename T>
struct Triple {
  T x, y, z;
};

template <typename T>
LIMB_INLINE Triple<T> triple(const Vector3<T>& a) {
  return {a[0], a[1], a[2]};
}
template <typename T>
LIMB_INLINE Triple<T> operator+(const Triple<T>& a, const Triple<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T>
LIMB_INLINE Triple<T> operator-(const Triple<T>& a, const Triple<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
/// c + a x b
template <typename T>
LIMB_INLINE Triple<T> add_cross(const Triple<T>& c, const Triple<T>& a, const Triple<T>& b) {
  return {c.x + (a.y * b.z - a.z * b.y), c.y + (a.z * b.x - a.x * b.z),
          c.z + (a.x * b.y - a.y * b.x)};
}

/// (x, y) <- Rot (x, y) by the angle with cosine c and sine s.
template <typename T, typename C>
LIMB_INLINE void turn(T& x, T& y, const C& c, const C& s) {
  const T t = c * x - s * y;
  y = s * x + c * y;
  x = t;
}
/// (x, y) <- Rot^T (x, y)
template <typename T, typename C>
LIMB_INLINE void turn_back(T& x, T& y, const C& c, const C& s) {
  const T t = c * x + s * y;
  y = c * y - s * x;
  x = t;
}
/// Symmetric [xx xy; xy yy] <- Rot . Rot^T, with four products.
template <typename T, typename C>
LIMB_INLINE void turn_symmetric(T& xx, T& xy, T& yy, const C& c, const C& s) {
  const T k = s * (xx - yy) + (c + c) * xy;
  const T t = s * k;
  xy = c * k - xy;
  xx = xx - t;
  yy = yy + t;
}
/// General [a b; d e] <- Rot . Rot^T
template <typename T, typename C>
LIMB_INLINE void turn_square(T& a, T& b, T& d, T& e, const C& c, const C& s) {
  const T sum = b + d, difference = b - d;
  const T k = s * (a - e) + c * sum;
  const T t = s * k, u = c * k;
  const T turned = (u + u) - sum;
  a = a - t;
  e = e + t;
  b = T(0.5) * (turned + difference);
  d = T(0.5) * (turned - difference);
}

/// (c, s) of an angle and a number of quarter turns more, exactly.
template <typename T>
LIMB_INLINE void add_quarters(int quarters, T& c, T& s) {
  const T cosine = c, sine = s;
  if (quarters == 0) return;
  c = quarters == 1 ? T(-sine) : quarters == 2 ? T(-cosine) : sine;
  s = quarters == 1 ? cosine : quarters == 2 ? T(-sine) : T(-cosine);
}

/// The constant turn about x in a step's placement: any angle, or a number of quarter turns, which
/// costs nothing but signs.
template <typename C>
struct AnyTurn {
  const C &c, &s;
  template <typename T>
  LIMB_INLINE void operator()(T& y, T& z) const {
    turn(y, z, c, s);
  }
  template <typename T>
  LIMB_INLINE void back(T& y, T& z) const {
    turn_back(y, z, c, s);
  }
  template <typename T>
  LIMB_INLINE void symmetric(T& yy, T& yz, T& zz) const {
    turn_symmetric(yy, yz, zz, c, s);
  }
  template <typename T>
  LIMB_INLINE void square(T& a, T& b, T& d, T& e) const {
    turn_square(a, b, d, e, c, s);
  }
};

template <int kQuarters>
struct QuarterTurn {
  template <typename T>
  LIMB_INLINE void operator()(T& y, T& z) const {
    if constexpr (kQuarters == 1 || kQuarters == 3) {
      const T t = y;
      y = kQuarters == 1 ? T(-z) : z;
      z = kQuarters == 1 ? t : T(-t);
    } else if constexpr (kQuarters == 2) {
      y = -y;
      z = -z;
    }
  }
  template <typename T>
  LIMB_INLINE void back(T& y, T& z) const {
    QuarterTurn<(4 - kQuarters) % 4>()(y, z);
  }
  template <typename T>
  LIMB_INLINE void symmetric(T& yy, T& yz, T& zz) const {
    if constexpr (kQuarters % 2 == 1) {
      const T t = yy;
      yy = zz;
      zz = t;
      yz = -yz;
    }
  }
  template <typename T>
  LIMB_INLINE void square(T& a, T& b, T& d, T& e) const {
    if constexpr (kQuarters % 2 == 1) {
      const T t = a, u = b;
      a = e;
      e = t;
      b = -d;
      d = -u;
    }
  }
};

/// visit(turn) with the step's turn about x as a type of its own.
template <typename T, typename Visit>
LIMB_INLINE void with_alpha(const CanonicalStep<T>& step, const Visit& visit) {
  switch (step.alpha_quarter) {
    case 0:
      return visit(QuarterTurn<0>());
    case 1:
      return visit(QuarterTurn<1>());
    case 2:
      return visit(QuarterTurn<2>());
    case 3:
      return visit(QuarterTurn<3>());
    default:
      return visit(AnyTurn<T>{step.cos_alpha, step.sin_alpha});
  }
}

/// A vector of the parent in axes of a revolute step whose joint stands at (c, s).
template <typename T, typename Alpha>
LIMB_INLINE Triple<T> to_child(const CanonicalStep<T>& step, const Alpha& alpha, const T& c,
                               const T& s, Triple<T> v) {
  if (step.has_gamma) turn_back(v.x, v.y, step.cos_gamma, step.sin_gamma);
  alpha.back(v.y, v.z);
  turn_back(v.x, v.y, c, s);
  return v;
}
/// The other way.
template <typename T, typename Alpha>
LIMB_INLINE Triple<T> to_parent(const CanonicalStep<T>& step, const Alpha& alpha, const T& c,
                                const T& s, Triple<T> v) {
  turn(v.x, v.y, c, s);
  alpha(v.y, v.z);
  if (step.has_gamma) turn(v.x, v.y, step.cos_gamma, step.sin_gamma);
  return v;
}

/// R v
template <typename T>
LIMB_INLINE Triple<T> product(const Matrix3<T>& R, const Triple<T>& v) {
  return {R(0, 0) * v.x + R(0, 1) * v.y + R(0, 2) * v.z,
          R(1, 0) * v.x + R(1, 1) * v.y + R(1, 2) * v.z,
          R(2, 0) * v.x + R(2, 1) * v.y + R(2, 2) * v.z};
}
/// R^T v
template <typename T>
LIMB_INLINE Triple<T> transpose_product(const Matrix3<T>& R, const Triple<T>& v) {
  return {R(0, 0) * v.x + R(1, 0) * v.y + R(2, 0) * v.z,
          R(0, 1) * v.x + R(1, 1) * v.y + R(2, 1) * v.z,
          R(0, 2) * v.x + R(1, 2) * v.y + R(2, 2) * v.z};
}

/// U = [wd]x + [w]x [w]x: a point fixed at x in the body accelerates by a + U x.
template <typename T>
struct Turning {
  T xx, xy, xz, yx, yy, yz, zx, zy, zz;
};

template <typename T>
LIMB_INLINE Turning<T> turning(const Triple<T>& w, const Triple<T>& wd) {
  const T x2 = w.x * w.x, y2 = w.y * w.y, z2 = w.z * w.z;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {-(y2 + z2), xy - wd.z, xz + wd.y, xy + wd.z, -(x2 + z2),
          yz - wd.x,  xz - wd.y, yz + wd.x, -(x2 + y2)};
}

/// Column k of U.
template <typename T>
LIMB_INLINE Triple<T> column(const Turning<T>& U, int k) {
  if (k == 0) return {U.xx, U.yx, U.zx};
  if (k == 1) return {U.xy, U.yy, U.zy};
  return {U.xz, U.yz, U.zz};
}

/// U p
template <typename T>
LIMB_INLINE Triple<T> product(const Turning<T>& U, const Triple<T>& p) {
  return {U.xx * p.x + U.xy * p.y + U.xz * p.z, U.yx * p.x + U.yy * p.y + U.yz * p.z,
          U.zx * p.x + U.zy * p.y + U.zz * p.z};
}

}  // namespace limb::kernel
