#pragma once

#include "limb/dynamics/recursive/joint_transforms_impl.hpp"

/// Articulated inertias (n; f) = [A B; B^T C] (wd; a): elimination of a degree of freedom, and
/// change of frame.
namespace limb::kernel {

template <typename T>
using Articulated = typename WorkspaceData<T>::Articulated;

/// The rigid inertia of a link: A = tr(S) 1 - S, B = [h]x, C = m 1.
template <typename T>
Articulated<T> link_articulated_inertia(const CanonicalJoint<T>& joint) {
  const Matrix3<T>& S = joint.second_moments;
  const Vector3<T>& h = joint.first_moment;
  const T &m = joint.mass, o = T(0);
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
LIMB_INLINE LinearAngular<T> articulated_force(const Articulated<T>& I, const Vec3<T>& a,
                                               const Vec3<T>& wd) {
  const T* B = I.B;
  return {{B[0] * wd.x + B[3] * wd.y + B[6] * wd.z + (I.C_xx * a.x + I.C_xy * a.y + I.C_xz * a.z),
           B[1] * wd.x + B[4] * wd.y + B[7] * wd.z + (I.C_xy * a.x + I.C_yy * a.y + I.C_yz * a.z),
           B[2] * wd.x + B[5] * wd.y + B[8] * wd.z + (I.C_xz * a.x + I.C_yz * a.y + I.C_zz * a.z)},
          {I.A_xx * wd.x + I.A_xy * wd.y + I.A_xz * wd.z + (B[0] * a.x + B[1] * a.y + B[2] * a.z),
           I.A_xy * wd.x + I.A_yy * wd.y + I.A_yz * wd.z + (B[3] * a.x + B[4] * a.y + B[5] * a.z),
           I.A_xz * wd.x + I.A_yz * wd.y + I.A_zz * wd.z + (B[6] * a.x + B[7] * a.y + B[8] * a.z)}};
}

/// I <- I - U U^T / D: eliminates the degree of freedom with U = I S, D = S^T U.
template <typename T>
LIMB_INLINE void eliminate_dof(const LinearAngular<T>& U, const T& inverse, Articulated<T>& I) {
  const Vec3<T>&n = U.angular, &f = U.linear;
  const Vec3<T> k = {n.x * inverse, n.y * inverse, n.z * inverse};
  const Vec3<T> l = {f.x * inverse, f.y * inverse, f.z * inverse};
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

/// The same for a revolute joint: row and column z of A and row z of B vanish and are not computed.
template <typename T>
LIMB_INLINE void eliminate_revolute_dof(const Vec3<T>& n, const Vec3<T>& f, const T& inverse,
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

/// Rotates to the parent's axes. Without kFull, as after eliminate_revolute_dof, the z entries of A
/// and the last row of B are taken as zero.
template <bool kFull, typename T, typename Alpha>
LIMB_INLINE void rotate_articulated(const CanonicalJoint<T>& joint, const Alpha& alpha, const T& c,
                                    const T& s, Articulated<T>& I) {
  T* B = I.B;
  const auto about_z = [&](const T& cosine, const T& sine) {
    rotate_symmetric(I.A_xx, I.A_xy, I.A_yy, cosine, sine);
    rotate_square(B[0], B[1], B[3], B[4], cosine, sine);
    rotate(B[2], B[5], cosine, sine);
    rotate_symmetric(I.C_xx, I.C_xy, I.C_yy, cosine, sine);
    rotate(I.C_xz, I.C_yz, cosine, sine);
  };
  const auto z_row_about_z = [&](const T& cosine, const T& sine) {
    rotate(I.A_xz, I.A_yz, cosine, sine);
    rotate(B[6], B[7], cosine, sine);
  };
  about_z(c, s);
  if constexpr (kFull) z_row_about_z(c, s);

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

  if (joint.has_gamma) {
    about_z(joint.cos_gamma, joint.sin_gamma);
    z_row_about_z(joint.cos_gamma, joint.sin_gamma);
  }
}

/// R . R^T for the nine entries of a matrix given by rows.
template <typename T>
inline void rotate_matrix(const Matrix3<T>& R, T* X) {
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

/// Rotates to the parent's axes by any rotation.
template <typename T>
inline void rotate_articulated(const Matrix3<T>& R, Articulated<T>& I) {
  T A[9] = {I.A_xx, I.A_xy, I.A_xz, I.A_xy, I.A_yy, I.A_yz, I.A_xz, I.A_yz, I.A_zz};
  T C[9] = {I.C_xx, I.C_xy, I.C_xz, I.C_xy, I.C_yy, I.C_yz, I.C_xz, I.C_yz, I.C_zz};
  rotate_matrix(R, A);
  rotate_matrix(R, I.B);
  rotate_matrix(R, C);
  I.A_xx = A[0], I.A_xy = A[1], I.A_xz = A[2], I.A_yy = A[4], I.A_yz = A[5], I.A_zz = A[8];
  I.C_xx = C[0], I.C_xy = C[1], I.C_xz = C[2], I.C_yy = C[4], I.C_yz = C[5], I.C_zz = C[8];
}

/// Adds an articulated inertia, given in the parent's axes about the point p, to that of the
/// parent: X = B + [p]x C, A += A' - B [p]x + [p]x X^T, B += X, C += C'.
template <typename T>
LIMB_INLINE void add_articulated(const Articulated<T>& I, const Vec3<T>& p, Articulated<T>& to) {
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
