#pragma once

#include "limb/dynamics/lanes.hpp"
#include "limb/dynamics/place_impl.hpp"

/// Masses seen from one frame, of one step or of four at once: their inertia, its products with
/// velocities, and the force that they need. docs/derivations/derivatives.md.
namespace limb::kernel {

template <typename T>
LIMB_INLINE Triple<T> cross(const Triple<T>& a, const Triple<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename T>
LIMB_INLINE Triple<T> scaled(const T& k, const Triple<T>& a) {
  return {k * a.x, k * a.y, k * a.z};
}
template <typename T>
LIMB_INLINE Triple<T> twice(const Triple<T>& a) {
  return a + a;
}
template <typename T>
LIMB_INLINE Triple<Four<T>> all(const Triple<T>& a) {
  return {all(a.x), all(a.y), all(a.z)};
}
template <typename T>
LIMB_INLINE Triple<Four<T>> get(const T (*x)[4]) {
  return {load_four(x[0]), load_four(x[1]), load_four(x[2])};
}
template <typename T>
LIMB_INLINE void put(const Triple<Four<T>>& a, T (*x)[4]) {
  store_four(a.x, x[0]);
  store_four(a.y, x[1]);
  store_four(a.z, x[2]);
}

/// Axes of one step or of four.
template <typename T>
struct Axes {
  Triple<T> x, y, z;
};
/// x k.x + y k.y + z k.z
template <typename T>
LIMB_INLINE Triple<T> along(const Axes<T>& axes, const Triple<T>& k) {
  return {axes.x.x * k.x + axes.y.x * k.y + axes.z.x * k.z,
          axes.x.y * k.x + axes.y.y * k.y + axes.z.y * k.z,
          axes.x.z * k.x + axes.y.z * k.y + axes.z.z * k.z};
}

/// Mass, first moment, rotational inertia about the origin: diagonal, then int xy, xz, yz dm.
template <typename T>
struct Inertial {
  T m;
  Triple<T> h, diagonal;
  T xy, xz, yz;
};
/// I (angular, linear) as force and moment.
template <typename T>
LIMB_INLINE Pair<T> inertia_times(const Inertial<T>& I, const Triple<T>& w, const Triple<T>& v) {
  const Triple<T> turned = {I.diagonal.x * w.x - I.xy * w.y - I.xz * w.z,
                            I.diagonal.y * w.y - I.xy * w.x - I.yz * w.z,
                            I.diagonal.z * w.z - I.xz * w.x - I.yz * w.y};
  return {add_cross(scaled(I.m, v), w, I.h), add_cross(turned, I.h, v)};
}

/// B of Q = int u x^T dm and P = int u dm: tr(Q) - Q on angular parts, of which the diagonal and
/// the other entries of Q are kept.
template <typename T>
struct Product {
  Triple<T> diagonal;
  T xy, xz, yx, yz, zx, zy;
  Triple<T> P;
};
/// The moment of B w. Its force is w x P.
template <typename T>
LIMB_INLINE Triple<T> product_moment(const Product<T>& B, const Triple<T>& w) {
  return {B.diagonal.x * w.x - B.xy * w.y - B.xz * w.z,
          B.diagonal.y * w.y - B.yx * w.x - B.yz * w.z,
          B.diagonal.z * w.z - B.zx * w.x - B.zy * w.y};
}
/// B^T (z, l), which has an angular part alone.
template <typename T>
LIMB_INLINE Triple<T> product_transposed(const Product<T>& B, const Triple<T>& z,
                                         const Triple<T>& l) {
  const Triple<T> turned = {B.diagonal.x * z.x - B.yx * z.y - B.zx * z.z,
                            B.diagonal.y * z.y - B.xy * z.x - B.zy * z.z,
                            B.diagonal.z * z.z - B.xz * z.x - B.yz * z.y};
  return add_cross(turned, B.P, l);
}

/// Masses: inertia, products with their velocities, and the moment n and force f they need.
template <typename T>
struct Weight {
  Inertial<T> I;
  Product<T> B;
  Triple<T> n, f;
};

/// Of masses in a frame at r with these axes. kLight: no mass, no moments along z.
template <bool kLight, typename T>
LIMB_INLINE Weight<T> weigh(const Axes<T>& axes, const Triple<T>& r, const T& m,
                            const Triple<T>& h_step, const T (&S)[6], const Triple<T>& w,
                            const Triple<T>& v, const Triple<T>& wd, const Triple<T>& a) {
  const auto flat = [&](const T& x, const T& y) __attribute__((always_inline)) {
    return Triple<T>{axes.x.x * x + axes.y.x * y, axes.x.y * x + axes.y.y * y,
                     axes.x.z * x + axes.y.z * y};
  };
  const Triple<T> sx = along<T>(axes, {S[0], S[1], S[2]}), sy = along<T>(axes, {S[1], S[3], S[4]});
  Triple<T> own, sz, h;
  if constexpr (kLight) {
    own = h = flat(h_step.x, h_step.y);
    sz = flat(S[2], S[4]);
  } else {
    own = along(axes, h_step);
    h = own + scaled(m, r);
    sz = along<T>(axes, {S[2], S[4], S[5]});
  }
  // Second moments about the origin of the root: turned, then + r h^T + own r^T.
  const Triple<T>&x = axes.x, &y = axes.y, &z = axes.z;
  const T xx = sx.x * x.x + sy.x * y.x + sz.x * z.x + r.x * (h.x + own.x);
  const T xy = sx.x * x.y + sy.x * y.y + sz.x * z.y + r.x * h.y + r.y * own.x;
  const T xz = sx.x * x.z + sy.x * y.z + sz.x * z.z + r.x * h.z + r.z * own.x;
  const T yy = sx.y * x.y + sy.y * y.y + sz.y * z.y + r.y * (h.y + own.y);
  const T yz = sx.y * x.z + sy.y * y.z + sz.y * z.z + r.y * h.z + r.z * own.y;
  const T zz = sx.z * x.z + sy.z * y.z + sz.z * z.z + r.z * (h.z + own.z);

  Weight<T> b = {{m, h, {yy + zz, xx + zz, xx + yy}, xy, xz, yz}, {}, {}, {}};
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
         kLight ? cross(w, h) : add_cross(scaled(m, v), w, h)};
  const Pair<T> pushed = inertia_times(b.I, wd, a);
  b.f = add_cross(pushed.linear, w, b.B.P);
  b.n = pushed.angular + product_moment(b.B, w);
  return b;
}

template <typename T>
LIMB_INLINE Weight<Four<T>> weight_of(const T (*x)[4]) {
  const auto at = [&](int c) __attribute__((always_inline)) {
    return load_four(x[c]);
  };
  return {{at(0), get(x + 1), get(x + 4), at(7), at(8), at(9)},
          {get(x + 10), at(13), at(14), at(15), at(16), at(17), at(18), get(x + 19)},
          get(x + 22),
          get(x + 25)};
}
template <typename T>
LIMB_INLINE void put(const Weight<Four<T>>& b, T (*x)[4]) {
  const auto to = [&](int c, const Four<T>& y) __attribute__((always_inline)) {
    store_four(y, x[c]);
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

/// What the masses behind the root are, added to its own.
template <typename T>
void add_carried(const T* x, Weight<T>& b) {
  b.I.m += x[0];
  b.I.h = b.I.h + Triple<T>{x[1], x[2], x[3]};
  b.I.diagonal = b.I.diagonal + Triple<T>{x[4], x[5], x[6]};
  b.I.xy += x[7];
  b.I.xz += x[8];
  b.I.yz += x[9];
  b.B.diagonal = b.B.diagonal + Triple<T>{x[10], x[11], x[12]};
  b.B.xy += x[13];
  b.B.xz += x[14];
  b.B.yx += x[15];
  b.B.yz += x[16];
  b.B.zx += x[17];
  b.B.zy += x[18];
  b.B.P = b.B.P + Triple<T>{x[19], x[20], x[21]};
  b.n = b.n + Triple<T>{x[22], x[23], x[24]};
  b.f = b.f + Triple<T>{x[25], x[26], x[27]};
}

}  // namespace limb::kernel
