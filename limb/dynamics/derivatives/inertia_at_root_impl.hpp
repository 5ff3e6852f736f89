#pragma once

#include "limb/dynamics/recursive/joint_transforms_impl.hpp"
#include "limb/dynamics/recursive/pack4.hpp"

/// Inertias in the root frame, of one link or of four at once: rigid inertia, body-level Coriolis
/// matrix and inertial force. docs/derivations/derivatives.md.
namespace limb::kernel {

template <typename T>
LIMB_INLINE Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename T>
LIMB_INLINE Vec3<T> scaled(const T& k, const Vec3<T>& a) {
  return {k * a.x, k * a.y, k * a.z};
}
template <typename T>
LIMB_INLINE Vec3<T> twice(const Vec3<T>& a) {
  return a + a;
}
template <typename T>
LIMB_INLINE Vec3<Pack4<T>> broadcast(const Vec3<T>& a) {
  return {broadcast(a.x), broadcast(a.y), broadcast(a.z)};
}
template <typename T>
LIMB_INLINE Vec3<Pack4<T>> get(const T (*x)[4]) {
  return {load_pack4(x[0]), load_pack4(x[1]), load_pack4(x[2])};
}
template <typename T>
LIMB_INLINE void put(const Vec3<Pack4<T>>& a, T (*x)[4]) {
  store_pack4(a.x, x[0]);
  store_pack4(a.y, x[1]);
  store_pack4(a.z, x[2]);
}

/// Axes of one joint frame or of four.
template <typename T>
struct Axes {
  Vec3<T> x, y, z;
};
/// x k.x + y k.y + z k.z: the vector k of the joint frame in root axes.
template <typename T>
LIMB_INLINE Vec3<T> to_root_axes(const Axes<T>& axes, const Vec3<T>& k) {
  return {axes.x.x * k.x + axes.y.x * k.y + axes.z.x * k.z,
          axes.x.y * k.x + axes.y.y * k.y + axes.z.y * k.z,
          axes.x.z * k.x + axes.y.z * k.y + axes.z.z * k.z};
}

/// Mass, first moment, rotational inertia about the origin: its diagonal, then int xy, xz, yz dm.
template <typename T>
struct RigidInertia {
  T m;
  Vec3<T> h, diagonal;
  T xy, xz, yz;
};
/// I (w, v) as force and moment.
template <typename T>
LIMB_INLINE LinearAngular<T> inertia_times(const RigidInertia<T>& I, const Vec3<T>& w,
                                           const Vec3<T>& v) {
  const Vec3<T> n = {I.diagonal.x * w.x - I.xy * w.y - I.xz * w.z,
                     I.diagonal.y * w.y - I.xy * w.x - I.yz * w.z,
                     I.diagonal.z * w.z - I.xz * w.x - I.yz * w.y};
  return {add_cross(scaled(I.m, v), w, I.h), add_cross(n, I.h, v)};
}

/// The body-level Coriolis matrix B, with Q = int u x^T dm and P = int u dm for the velocity u of
/// the mass at x: B (w, v) = (moment (tr(Q) 1 - Q) w, force w x P). Stored are the diagonal of
/// tr(Q) 1 - Q and the off-diagonal entries of Q.
template <typename T>
struct BodyCoriolis {
  Vec3<T> diagonal;
  T xy, xz, yx, yz, zx, zy;
  Vec3<T> P;
};
/// The moment of B w. Its force is w x P.
template <typename T>
LIMB_INLINE Vec3<T> coriolis_moment(const BodyCoriolis<T>& B, const Vec3<T>& w) {
  return {B.diagonal.x * w.x - B.xy * w.y - B.xz * w.z,
          B.diagonal.y * w.y - B.yx * w.x - B.yz * w.z,
          B.diagonal.z * w.z - B.zx * w.x - B.zy * w.y};
}
/// B^T (z, l), which has only an angular part.
template <typename T>
LIMB_INLINE Vec3<T> coriolis_transposed(const BodyCoriolis<T>& B, const Vec3<T>& z,
                                        const Vec3<T>& l) {
  const Vec3<T> n = {B.diagonal.x * z.x - B.yx * z.y - B.zx * z.z,
                     B.diagonal.y * z.y - B.xy * z.x - B.zy * z.z,
                     B.diagonal.z * z.z - B.xz * z.x - B.yz * z.y};
  return add_cross(n, B.P, l);
}

/// Rigid inertia I, Coriolis matrix B, and inertial moment n and force f.
template <typename T>
struct InertiaAtRoot {
  RigidInertia<T> I;
  BodyCoriolis<T> B;
  Vec3<T> n, f;
};

/// The terms of a link whose joint frame has these axes and its origin at r, with mass m, first
/// moment h_joint and second moments S in that frame. kRegrouped: no mass, no moments along z.
template <bool kRegrouped, typename T>
LIMB_INLINE InertiaAtRoot<T> inertia_at_root(const Axes<T>& axes, const Vec3<T>& r, const T& m,
                                             const Vec3<T>& h_joint, const T (&S)[6],
                                             const Vec3<T>& w, const Vec3<T>& v, const Vec3<T>& wd,
                                             const Vec3<T>& a) {
  const auto in_plane = [&](const T& x, const T& y) __attribute__((always_inline)) {
    return Vec3<T>{axes.x.x * x + axes.y.x * y, axes.x.y * x + axes.y.y * y,
                   axes.x.z * x + axes.y.z * y};
  };
  const Vec3<T> sx = to_root_axes<T>(axes, {S[0], S[1], S[2]}),
                sy = to_root_axes<T>(axes, {S[1], S[3], S[4]});
  Vec3<T> h_axes, sz, h;
  if constexpr (kRegrouped) {
    h_axes = h = in_plane(h_joint.x, h_joint.y);
    sz = in_plane(S[2], S[4]);
  } else {
    h_axes = to_root_axes(axes, h_joint);
    h = h_axes + scaled(m, r);
    sz = to_root_axes<T>(axes, {S[2], S[4], S[5]});
  }
  // Second moments about the origin of the root: rotated, then + r h^T + h_axes r^T.
  const Vec3<T>&x = axes.x, &y = axes.y, &z = axes.z;
  const T xx = sx.x * x.x + sy.x * y.x + sz.x * z.x + r.x * (h.x + h_axes.x);
  const T xy = sx.x * x.y + sy.x * y.y + sz.x * z.y + r.x * h.y + r.y * h_axes.x;
  const T xz = sx.x * x.z + sy.x * y.z + sz.x * z.z + r.x * h.z + r.z * h_axes.x;
  const T yy = sx.y * x.y + sy.y * y.y + sz.y * z.y + r.y * (h.y + h_axes.y);
  const T yz = sx.y * x.z + sy.y * y.z + sz.y * z.z + r.y * h.z + r.z * h_axes.y;
  const T zz = sx.z * x.z + sy.z * y.z + sz.z * z.z + r.z * (h.z + h_axes.z);

  InertiaAtRoot<T> b = {{m, h, {yy + zz, xx + zz, xx + yy}, xy, xz, yz}, {}, {}, {}};
  // Q = v h^T + [w]x (second moments)
  const T xh = v.x * h.x, yh = v.y * h.y, zh = v.z * h.z;
  const T p = w.x * yz, q = w.y * xz, s = w.z * xy;
  b.B = {{yh + zh + (s - q), xh + zh + (p - s), xh + yh + (q - p)},
         v.x * h.y + (w.y * yz - w.z * yy),
         v.x * h.z + (w.y * zz - w.z * yz),
         v.y * h.x + (w.z * xx - w.x * xz),
         v.y * h.z + (w.z * xz - w.x * zz),
         v.z * h.x + (w.x * xy - w.y * xx),
         v.z * h.y + (w.x * yy - w.y * xy),
         kRegrouped ? cross(w, h) : add_cross(scaled(m, v), w, h)};
  const LinearAngular<T> accelerated = inertia_times(b.I, wd, a);
  b.f = add_cross(accelerated.linear, w, b.B.P);
  b.n = accelerated.angular + coriolis_moment(b.B, w);
  return b;
}

template <typename T>
LIMB_INLINE InertiaAtRoot<Pack4<T>> load_inertia(const T (*x)[4]) {
  const auto at = [&](int c) __attribute__((always_inline)) {
    return load_pack4(x[c]);
  };
  return {{at(0), get(x + 1), get(x + 4), at(7), at(8), at(9)},
          {get(x + 10), at(13), at(14), at(15), at(16), at(17), at(18), get(x + 19)},
          get(x + 22),
          get(x + 25)};
}
template <typename T>
LIMB_INLINE void put(const InertiaAtRoot<Pack4<T>>& b, T (*x)[4]) {
  const auto to = [&](int c, const Pack4<T>& y) __attribute__((always_inline)) {
    store_pack4(y, x[c]);
  };
  to(0, b.I.m);
  put(b.I.h, x + 1);
  put(b.I.diagonal, x + 4);
  to(7, b.I.xy);
  to(8, b.I.xz);
  to(9, b.I.yz);
  put(b.B.diagonal, x + 10);
  to(13, b.B.xy);
  to(14, b.B.xz);
  to(15, b.B.yx);
  to(16, b.B.yz);
  to(17, b.B.zx);
  to(18, b.B.zy);
  put(b.B.P, x + 19);
  put(b.n, x + 22);
  put(b.f, x + 25);
}

/// Adds the sums over a subtree.
template <typename T>
void add_subtree(const T* x, InertiaAtRoot<T>& b) {
  b.I.m += x[0];
  b.I.h = b.I.h + Vec3<T>{x[1], x[2], x[3]};
  b.I.diagonal = b.I.diagonal + Vec3<T>{x[4], x[5], x[6]};
  b.I.xy += x[7];
  b.I.xz += x[8];
  b.I.yz += x[9];
  b.B.diagonal = b.B.diagonal + Vec3<T>{x[10], x[11], x[12]};
  b.B.xy += x[13];
  b.B.xz += x[14];
  b.B.yx += x[15];
  b.B.yz += x[16];
  b.B.zx += x[17];
  b.B.zy += x[18];
  b.B.P = b.B.P + Vec3<T>{x[19], x[20], x[21]};
  b.n = b.n + Vec3<T>{x[22], x[23], x[24]};
  b.f = b.f + Vec3<T>{x[25], x[26], x[27]};
}

}  // namespace limb::kernel
