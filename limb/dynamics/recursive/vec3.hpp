#pragma once

#include "limb/model/canonical/canonical.hpp"

/// Small types of the recursive algorithms: 3-vectors, planar rotations, and the frame changes of a
/// canonical joint. Written entry by entry, so that compilers keep everything in registers.
/// Derivations: docs/derivations/canonical_algorithms.md.
namespace limb::kernel {
#ifndef LIMB_INLINE  // `inline` builds faster and runs slower: see any_scalar.hpp
#define LIMB_INLINE inline __attribute__((always_inline))
#endif
template <typename T>
struct Vec3 {
  T x, y, z;
};

template <typename T>
LIMB_INLINE Vec3<T> vec3(const Vector3<T>& a) {
  return {a[0], a[1], a[2]};
}
template <typename T>
LIMB_INLINE Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <typename T>
LIMB_INLINE Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
/// c + a x b
template <typename T>
LIMB_INLINE Vec3<T> add_cross(const Vec3<T>& c, const Vec3<T>& a, const Vec3<T>& b) {
  return {c.x + (a.y * b.z - a.z * b.y), c.y + (a.z * b.x - a.x * b.z),
          c.z + (a.x * b.y - a.y * b.x)};
}

/// (x, y) <- Rot (x, y) by the angle with cosine c and sine s.
template <typename T, typename C>
LIMB_INLINE void rotate(T& x, T& y, const C& c, const C& s) {
  const T t = c * x - s * y;
  y = s * x + c * y;
  x = t;
}
/// (x, y) <- Rot^T (x, y)
template <typename T, typename C>
LIMB_INLINE void rotate_back(T& x, T& y, const C& c, const C& s) {
  const T t = c * x + s * y;
  y = c * y - s * x;
  x = t;
}
/// Symmetric [xx xy; xy yy] <- Rot . Rot^T, with four products.
template <typename T, typename C>
LIMB_INLINE void rotate_symmetric(T& xx, T& xy, T& yy, const C& c, const C& s) {
  const T k = s * (xx - yy) + (c + c) * xy;
  const T t = s * k;
  xy = c * k - xy;
  xx = xx - t;
  yy = yy + t;
}
/// General [a b; d e] <- Rot . Rot^T
template <typename T, typename C>
LIMB_INLINE void rotate_square(T& a, T& b, T& d, T& e, const C& c, const C& s) {
  const T sum = b + d, difference = b - d;
  const T k = s * (a - e) + c * sum;
  const T t = s * k, u = c * k;
  const T rotated_sum = (u + u) - sum;
  a = a - t;
  e = e + t;
  b = T(0.5) * (rotated_sum + difference);
  d = T(0.5) * (rotated_sum - difference);
}

/// Adds a number of quarter turns to the angle with cosine c and sine s, exactly.
template <typename T>
LIMB_INLINE void add_quarter_turns(int quarter_turns, T& c, T& s) {
  const T cosine = c, sine = s;
  if (quarter_turns == 0) return;
  c = quarter_turns == 1 ? T(-sine) : quarter_turns == 2 ? T(-cosine) : sine;
  s = quarter_turns == 1 ? cosine : quarter_turns == 2 ? T(-sine) : T(-cosine);
}

/// The constant rotation about x in the placement of a joint: by any angle, by a number of quarter
/// turns, which costs only sign changes, or by nearly a quarter turn.
template <typename C>
struct GeneralRotation {
  const C &c, &s;
  template <typename T>
  LIMB_INLINE void operator()(T& y, T& z) const {
    rotate(y, z, c, s);
  }
  template <typename T>
  LIMB_INLINE void inverse(T& y, T& z) const {
    rotate_back(y, z, c, s);
  }
  template <typename T>
  LIMB_INLINE void symmetric(T& yy, T& yz, T& zz) const {
    rotate_symmetric(yy, yz, zz, c, s);
  }
  template <typename T>
  LIMB_INLINE void square(T& a, T& b, T& d, T& e) const {
    rotate_square(a, b, d, e, c, s);
  }
};

template <int kQuarterTurns>
struct QuarterTurnRotation {
  template <typename T>
  LIMB_INLINE void operator()(T& y, T& z) const {
    if constexpr (kQuarterTurns == 1 || kQuarterTurns == 3) {
      const T t = y;
      y = kQuarterTurns == 1 ? T(-z) : z;
      z = kQuarterTurns == 1 ? t : T(-t);
    } else if constexpr (kQuarterTurns == 2) {
      y = -y;
      z = -z;
    }
  }
  template <typename T>
  LIMB_INLINE void inverse(T& y, T& z) const {
    QuarterTurnRotation<(4 - kQuarterTurns) % 4>()(y, z);
  }
  template <typename T>
  LIMB_INLINE void symmetric(T& yy, T& yz, T& zz) const {
    if constexpr (kQuarterTurns % 2 == 1) {
      const T t = yy;
      yy = zz;
      zz = t;
      yz = -yz;
    }
  }
  template <typename T>
  LIMB_INLINE void square(T& a, T& b, T& d, T& e) const {
    if constexpr (kQuarterTurns % 2 == 1) {
      const T t = a, u = b;
      a = e;
      e = t;
      b = -d;
      d = -u;
    }
  }
};

/// By an angle whose sine rounds to 1: half the products of a general rotation. c^2 is below the
/// rounding errors and left out.
template <typename C>
struct NearQuarterTurnRotation {
  const C& c;
  template <typename T>
  LIMB_INLINE void operator()(T& y, T& z) const {
    const T t = c * y - z;
    z = c * z + y;
    y = t;
  }
  template <typename T>
  LIMB_INLINE void inverse(T& y, T& z) const {
    const T t = c * y + z;
    z = c * z - y;
    y = t;
  }
  template <typename T>
  LIMB_INLINE void symmetric(T& yy, T& yz, T& zz) const {
    const T t = yy, u = (c + c) * yz;
    yz = c * (yy - zz) - yz;
    yy = zz - u;
    zz = t + u;
  }
  template <typename T>
  LIMB_INLINE void square(T& a, T& b, T& d, T& e) const {
    const T t = a, u = b, k = c * (b + d), l = c * (a - e);
    a = e - k;
    e = t + k;
    b = l - d;
    d = l - u;
  }
};

/// Calls visit(rotation) with the joint's rotation about x; each kind has its own type.
template <typename T, typename Visit>
LIMB_INLINE void with_alpha(const CanonicalJoint<T>& joint, const Visit& visit) {
  using AlphaKind = typename CanonicalJoint<T>::AlphaKind;
  switch (joint.alpha_kind) {
    case AlphaKind::zero:
      return visit(QuarterTurnRotation<0>());
    case AlphaKind::quarter_turn:
      return visit(QuarterTurnRotation<1>());
    case AlphaKind::half_turn:
      return visit(QuarterTurnRotation<2>());
    case AlphaKind::near_quarter_turn:
      return visit(NearQuarterTurnRotation<T>{joint.cos_alpha});
    case AlphaKind::general:
      break;
  }
  visit(GeneralRotation<T>{joint.cos_alpha, joint.sin_alpha});
}

/// A vector from the axes of the parent to those of a revolute joint at the angle of (c, s).
template <typename T, typename Alpha>
LIMB_INLINE Vec3<T> to_child(const CanonicalJoint<T>& joint, const Alpha& alpha, const T& c,
                             const T& s, Vec3<T> v) {
  if (joint.has_gamma) rotate_back(v.x, v.y, joint.cos_gamma, joint.sin_gamma);
  alpha.inverse(v.y, v.z);
  rotate_back(v.x, v.y, c, s);
  return v;
}
/// A vector from the axes of the joint to those of the parent.
template <typename T, typename Alpha>
LIMB_INLINE Vec3<T> to_parent(const CanonicalJoint<T>& joint, const Alpha& alpha, const T& c,
                              const T& s, Vec3<T> v) {
  rotate(v.x, v.y, c, s);
  alpha(v.y, v.z);
  if (joint.has_gamma) rotate(v.x, v.y, joint.cos_gamma, joint.sin_gamma);
  return v;
}

/// R v
template <typename T>
LIMB_INLINE Vec3<T> product(const Matrix3<T>& R, const Vec3<T>& v) {
  return {R(0, 0) * v.x + R(0, 1) * v.y + R(0, 2) * v.z,
          R(1, 0) * v.x + R(1, 1) * v.y + R(1, 2) * v.z,
          R(2, 0) * v.x + R(2, 1) * v.y + R(2, 2) * v.z};
}
/// R^T v
template <typename T>
LIMB_INLINE Vec3<T> transpose_product(const Matrix3<T>& R, const Vec3<T>& v) {
  return {R(0, 0) * v.x + R(1, 0) * v.y + R(2, 0) * v.z,
          R(0, 1) * v.x + R(1, 1) * v.y + R(2, 1) * v.z,
          R(0, 2) * v.x + R(1, 2) * v.y + R(2, 2) * v.z};
}

/// U = [wd]x + [w]x [w]x: a point fixed at x in the body has the acceleration a + U x.
template <typename T>
struct RotationalAcceleration {
  T xx, xy, xz, yx, yy, yz, zx, zy, zz;
};

template <typename T>
LIMB_INLINE RotationalAcceleration<T> rotational_acceleration(const Vec3<T>& w, const Vec3<T>& wd) {
  const T x2 = w.x * w.x, y2 = w.y * w.y, z2 = w.z * w.z;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  return {-(y2 + z2), xy - wd.z, xz + wd.y, xy + wd.z, -(x2 + z2),
          yz - wd.x,  xz - wd.y, yz + wd.x, -(x2 + y2)};
}

/// U p
template <typename T>
LIMB_INLINE Vec3<T> product(const RotationalAcceleration<T>& U, const Vec3<T>& p) {
  return {U.xx * p.x + U.xy * p.y + U.xz * p.z, U.yx * p.x + U.yy * p.y + U.yz * p.z,
          U.zx * p.x + U.zy * p.y + U.zz * p.z};
}

}  // namespace limb::kernel
