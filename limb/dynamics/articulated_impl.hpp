#pragma once

#include "limb/dynamics/place_impl.hpp"

/// Articulated inertias: (n; f) = [A B; B^T C] (wd; a), and how they lose a freedom and change
/// frame.
namespace limb::kernel {

template <typename T>
using Articulated = typename Workspace<T>::Articulated;

/// A step's own mass: A = tr(S) 1 - S, B = [h]x, C = m 1.
template <typename T>
Articulated<T> own_articulated(const CanonicalStep<T>& step) {
  const Matrix3<T>& S = step.second_moments;
  const Vector3<T>& h = step.first_moment;
  const T &m = step.mass, o = T(0);
  return {S(1, 1) + S(2, 2),
          -S(1, 0),
          -S(2, 0),
          S(0, 0) + S(2, 2),
          -S(2, 1),
          S(0, 0) + S(1, 1),
          {o, -h[2], h[1], h[2], o, -h[0], -h[1], h[0], o},
          m,
          o,
          o,
          m,
          o,
          m};
}

/// Force that accelerates the articulated body by (a, wd).
template <typename T>
LIMB_INLINE Pair<T> force_of(const Articulated<T>& I, const Triple<T>& a, const Triple<T>& wd) {
  const T* B = I.B;
  return {{B[0] * wd.x + B[3] * wd.y + B[6] * wd.z + (I.C_xx * a.x + I.C_xy * a.y + I.C_xz * a.z),
           B[1] * wd.x + B[4] * wd.y + B[7] * wd.z + (I.C_xy * a.x + I.C_yy * a.y + I.C_yz * a.z),
           B[2] * wd.x + B[5] * wd.y + B[8] * wd.z + (I.C_xz * a.x + I.C_yz * a.y + I.C_zz * a.z)},
          {I.A_xx * wd.x + I.A_xy * wd.y + I.A_xz * wd.z + (B[0] * a.x + B[1] * a.y + B[2] * a.z),
           I.A_xy * wd.x + I.A_yy * wd.y + I.A_yz * wd.z + (B[3] * a.x + B[4] * a.y + B[5] * a.z),
           I.A_xz * wd.x + I.A_yz * wd.y + I.A_zz * wd.z + (B[6] * a.x + B[7] * a.y + B[8] * a.z)}};
}

/// I - U U^T / D: what is left when the freedom gives way.
template <typename T>
LIMB_INLINE void give_way(const Pair<T>& U, const T& inverse, Articulated<T>& I) {
  const Triple<T>&n = U.angular, &f = U.linear;
  const Triple<T> k = {n.x * inverse, n.y * inverse, n.z * inverse};
  const Triple<T> l = {f.x * inverse, f.y * inverse, f.z * inverse};
  I.A_xx = I.A_xx - n.x * k.x;
  I.A_xy = I.A_xy - n.x * k.y;
  I.A_xz = I.A_xz - n.x * k.z;
  I.A_yy = I.A_yy - n.y * k.y;
  I.A_yz = I.A_yz - n.y * k.z;
  I.A_zz = I.A_zz - n.z * k.z;
  const T rows[3] = {k.x, k.y, k.z}, columns[3] = {f.x, f.y, f.z};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) I.B[3 * r + c] = I.B[3 * r + c] - rows[r] * columns[c];
  }
  I.C_xx = I.C_xx - f.x * l.x;
  I.C_xy = I.C_xy - f.x * l.y;
  I.C_xz = I.C_xz - f.x * l.z;
  I.C_yy = I.C_yy - f.y * l.y;
  I.C_yz = I.C_yz - f.y * l.z;
  I.C_zz = I.C_zz - f.z * l.z;
}

/// A revolute joint gives way: row and column z of A and row z of B vanish and are not computed.
template <typename T>
LIMB_INLINE void give_way_turning(const Triple<T>& n, const Triple<T>& f, const T& inverse,
                                  Articulated<T>& I) {
  const T kx = n.x * inverse, ky = n.y * inverse;
  const T lx = f.x * inverse, ly = f.y * inverse, lz = f.z * inverse;
  T* B = I.B;
  I.A_xx = I.A_xx - n.x * kx;
  I.A_xy = I.A_xy - n.x * ky;
  I.A_yy = I.A_yy - n.y * ky;
  B[0] = B[0] - kx * f.x;
  B[1] = B[1] - kx * f.y;
  B[2] = B[2] - kx * f.z;
  B[3] = B[3] - ky * f.x;
  B[4] = B[4] - ky * f.y;
  B[5] = B[5] - ky * f.z;
  I.C_xx = I.C_xx - f.x * lx;
  I.C_xy = I.C_xy - f.x * ly;
  I.C_xz = I.C_xz - f.x * lz;
  I.C_yy = I.C_yy - f.y * ly;
  I.C_yz = I.C_yz - f.y * lz;
  I.C_zz = I.C_zz - f.z * lz;
}

/// Into the parent's axes. Not kFull: after give_way_turning, the z entries of A and the last row
/// of B count as zero.
template <bool kFull, typename T, typename Alpha>
LIMB_INLINE void turn_articulated(const CanonicalStep<T>& step, const Alpha& alpha, const T& c,
                                  const T& s, Articulated<T>& I) {
  T* B = I.B;
  const auto about_z = [&](const T& cosine, const T& sine) {
    turn_symmetric(I.A_xx, I.A_xy, I.A_yy, cosine, sine);
    turn_square(B[0], B[1], B[3], B[4], cosine, sine);
    turn(B[2], B[5], cosine, sine);
    turn_symmetric(I.C_xx, I.C_xy, I.C_yy, cosine, sine);
    turn(I.C_xz, I.C_yz, cosine, sine);
  };
  const auto last_about_z = [&](const T& cosine, const T& sine) {
    turn(I.A_xz, I.A_yz, cosine, sine);
    turn(B[6], B[7], cosine, sine);
  };
  about_z(c, s);
  if constexpr (kFull) last_about_z(c, s);

  if constexpr (!kFull) {
    I.A_xz = I.A_yz = I.A_zz = B[6] = B[7] = B[8] = T(0);
  }
  alpha.symmetric(I.A_yy, I.A_yz, I.A_zz);
  alpha(I.A_xy, I.A_xz);
  alpha(B[1], B[2]);
  alpha(B[3], B[6]);
  alpha.square(B[4], B[5], B[7], B[8]);
  alpha.symmetric(I.C_yy, I.C_yz, I.C_zz);
  alpha(I.C_xy, I.C_xz);

  if (step.has_gamma) {
    about_z(step.cos_gamma, step.sin_gamma);
    last_about_z(step.cos_gamma, step.sin_gamma);
  }
}

/// R . R^T for the nine entries of a matrix given by rows.
template <typename T>
inline void turn_rows(const Matrix3<T>& R, T* X) {
  T Y[9];
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      Y[3 * r + c] = R(r, 0) * X[c] + R(r, 1) * X[3 + c] + R(r, 2) * X[6 + c];
    }
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      X[3 * r + c] = Y[3 * r] * R(c, 0) + Y[3 * r + 1] * R(c, 1) + Y[3 * r + 2] * R(c, 2);
    }
  }
}

/// Into the parent's axes, any rotation.
template <typename T>
inline void turn_articulated(const Matrix3<T>& R, Articulated<T>& I) {
  T A[9] = {I.A_xx, I.A_xy, I.A_xz, I.A_xy, I.A_yy, I.A_yz, I.A_xz, I.A_yz, I.A_zz};
  T C[9] = {I.C_xx, I.C_xy, I.C_xz, I.C_xy, I.C_yy, I.C_yz, I.C_xz, I.C_yz, I.C_zz};
  turn_rows(R, A);
  turn_rows(R, I.B);
  turn_rows(R, C);
  I.A_xx = A[0], I.A_xy = A[1], I.A_xz = A[2], I.A_yy = A[4], I.A_yz = A[5], I.A_zz = A[8];
  I.C_xx = C[0], I.C_xy = C[1], I.C_xz = C[2], I.C_yy = C[4], I.C_yz = C[5], I.C_zz = C[8];
}

/// Adds an articulated inertia, in the parent's axes but about the origin p, to the parent's:
/// X = B + [p]x C, A += A' - B [p]x + [p]x X^T, B += X, C += C'.
template <typename T>
LIMB_INLINE void add_articulated(const Articulated<T>& I, const Triple<T>& p, Articulated<T>& to) {
  const T* B = I.B;
  const T x0 = B[0] + (p.y * I.C_xz - p.z * I.C_xy), x1 = B[1] + (p.y * I.C_yz - p.z * I.C_yy),
          x2 = B[2] + (p.y * I.C_zz - p.z * I.C_yz), x3 = B[3] + (p.z * I.C_xx - p.x * I.C_xz),
          x4 = B[4] + (p.z * I.C_xy - p.x * I.C_yz), x5 = B[5] + (p.z * I.C_xz - p.x * I.C_zz),
          x6 = B[6] + (p.x * I.C_xy - p.y * I.C_xx), x7 = B[7] + (p.x * I.C_yy - p.y * I.C_xy),
          x8 = B[8] + (p.x * I.C_yz - p.y * I.C_xz);
  to.A_xx = to.A_xx + (I.A_xx - (B[1] * p.z - B[2] * p.y) + (p.y * x2 - p.z * x1));
  to.A_xy = to.A_xy + (I.A_xy - (B[2] * p.x - B[0] * p.z) + (p.y * x5 - p.z * x4));
  to.A_xz = to.A_xz + (I.A_xz - (B[0] * p.y - B[1] * p.x) + (p.y * x8 - p.z * x7));
  to.A_yy = to.A_yy + (I.A_yy - (B[5] * p.x - B[3] * p.z) + (p.z * x3 - p.x * x5));
  to.A_yz = to.A_yz + (I.A_yz - (B[3] * p.y - B[4] * p.x) + (p.z * x6 - p.x * x8));
  to.A_zz = to.A_zz + (I.A_zz - (B[6] * p.y - B[7] * p.x) + (p.x * x7 - p.y * x6));
  to.B[0] = to.B[0] + x0;
  to.B[1] = to.B[1] + x1;
  to.B[2] = to.B[2] + x2;
  to.B[3] = to.B[3] + x3;
  to.B[4] = to.B[4] + x4;
  to.B[5] = to.B[5] + x5;
  to.B[6] = to.B[6] + x6;
  to.B[7] = to.B[7] + x7;
  to.B[8] = to.B[8] + x8;
  to.C_xx = to.C_xx + I.C_xx;
  to.C_xy = to.C_xy + I.C_xy;
  to.C_xz = to.C_xz + I.C_xz;
  to.C_yy = to.C_yy + I.C_yy;
  to.C_yz = to.C_yz + I.C_yz;
  to.C_zz = to.C_zz + I.C_zz;
}

}  // namespace limb::kernel
