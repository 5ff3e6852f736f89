#pragma once

#include "limb/dynamics/seen_from_root_impl.hpp"

// Entries of the derivatives, from bunches seen from the root: table of
// docs/derivations/derivatives.md.

namespace limb::kernel {

/// The results, by columns; without kMass da is not written.
template <bool kMass, typename T>
struct DerivativeOut {
  T *dq, *dv, *da;
  Eigen::Index stride;
};

/// Sums over each lane, the lanes behind it, and what the bunch carries: that of the only bunch
/// behind, `only`, or of several. Those of the whole bunch are added to what its parent carries
/// unless it is the only one there.
template <int kCount, typename T>
LIMB_INLINE void gather_carried(int children, T (*x)[4], const T (*only)[4], const T* several,
                                bool alone, T* parent) {
  const auto each = [&](const auto& carried) __attribute__((always_inline)) {
    for (int c = 0; c < kCount; ++c) store_four(carried(c, sum_behind(load_four(x[c]))), x[c]);
  };
  using X = Four<T>;
  if (children == 0) {
    each([](int, const X& y) __attribute__((always_inline)) { return y; });
  } else if (children == 1) {
    each([&](int c, const X& y) __attribute__((always_inline)) { return y + all(only[c][0]); });
  } else {
    each([&](int c, const X& y) __attribute__((always_inline)) { return y + all(several[c]); });
  }
  if (alone) return;
  for (int c = 0; c < kCount; ++c) parent[c] = parent[c] + x[c][0];
}

/// x . y, where x is one lane of three components.
template <typename T>
LIMB_INLINE Four<T> dot(const T (*x)[4], int lane, const Triple<Four<T>>& y) {
  return x[0][lane] * y.x + x[1][lane] * y.y + x[2][lane] * y.z;
}

/// What the velocities of a bunch make of their own inertia: as rows, and as columns.
template <typename T>
struct Lever {
  Triple<Four<T>> BS, IS_n, IS_f;  ///< S^T 2 B, S^T I
  T q[6][4], v[6][4], M[6][4];     ///< moment and force that the ancestors feel
};

template <typename T>
LIMB_INLINE Lever<T> lever(const typename DerivativeWorkspace<T>::Seen& b) {
  using Work = DerivativeWorkspace<T>;
  using X = Triple<Four<T>>;
  const Weight<Four<T>> weight = weight_of(b.x + Work::kInertia);
  const auto& I = weight.I;
  const auto& B = weight.B;
  const X z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const X rate = get(b.x + Work::kRate);
  Lever<T> x;
  const Pair<Four<T>> IS = inertia_times(I, z, l);
  x.IS_n = IS.angular;
  x.IS_f = IS.linear;
  put(IS.angular, x.M);
  put(IS.linear, x.M + 3);
  x.BS = twice(product_transposed(B, z, l));
  const Pair<Four<T>> bent = inertia_times(I, get(b.x + Work::kBend), get(b.x + Work::kBend + 3));
  put(add_cross(add_cross(bent.angular + twice(product_moment(B, rate)), z, weight.n), l, weight.f),
      x.q);
  put(add_cross(bent.linear + twice(cross(rate, B.P)), z, weight.f), x.q + 3);
  const Pair<Four<T>> summed = inertia_times(I, get(b.x + Work::kSum), get(b.x + Work::kSum + 3));
  put(summed.angular + twice(product_moment(B, z)), x.v);
  put(summed.linear + twice(cross(z, B.P)), x.v + 3);
  return x;
}

/// Rows of a bunch in column e of another, or of itself.
template <typename T>
struct ThreeFours {
  Four<T> q, v, a;
};
template <bool kMass, typename T>
LIMB_INLINE ThreeFours<T> row_entries(const Lever<T>& rows, const T (*x)[4], int e) {
  using Work = DerivativeWorkspace<T>;
  return {dot(x + Work::kRate, e, rows.BS) + dot(x + Work::kBend, e, rows.IS_n) +
              dot(x + Work::kBend + 3, e, rows.IS_f),
          dot(x + Work::kAngular, e, rows.BS) + dot(x + Work::kSum, e, rows.IS_n) +
              dot(x + Work::kSum + 3, e, rows.IS_f),
          kMass ? dot(x + Work::kAngular, e, rows.IS_n) + dot(x + Work::kLinear, e, rows.IS_f)
                : Four<T>()};
}
/// Rows of a bunch with axes (z, l) in column i of one behind it, or of itself.
template <bool kMass, typename T>
LIMB_INLINE ThreeFours<T> column_entries(const Triple<Four<T>>& z, const Triple<Four<T>>& l,
                                         const Lever<T>& columns, int i) {
  return {dot(columns.q, i, z) + dot(columns.q + 3, i, l),
          dot(columns.v, i, z) + dot(columns.v + 3, i, l),
          kMass ? dot(columns.M, i, z) + dot(columns.M + 3, i, l) : Four<T>()};
}
template <bool kMass, typename T>
LIMB_INLINE void write(const ThreeFours<T>& x, int count, Eigen::Index at,
                       const DerivativeOut<kMass, T> out) {
  store_some(x.q, count, out.dq + at);
  store_some(x.v, count, out.dv + at);
  if constexpr (kMass) store_some(x.a, count, out.da + at);
}

/// Rows 0 to 5 of four columns: force, then moment.
template <typename T>
LIMB_INLINE void write_six(const T (*x)[4], int count, Eigen::Index stride, T* out) {
  Four<T> a = load_four(x[3]), b = load_four(x[4]), c = load_four(x[5]), d = load_four(x[0]);
  transpose(a, b, c, d);
  const Four<T> columns[4] = {a, b, c, d};
  for (int k = 0; k < count; ++k) {
    store_four(columns[k], out + k * stride);
    out[k * stride + 4] = x[1][k];
    out[k * stride + 5] = x[2][k];
  }
}
template <typename T>
LIMB_INLINE void write_three(const Triple<Four<T>>& x, int count, Eigen::Index stride, T* out) {
  store_some(x.x, count, out);
  store_some(x.y, count, out + stride);
  store_some(x.z, count, out + 2 * stride);
}

/// Entries of a bunch with the six of a floating base, whose axes are those of the root: products
/// with them are components.
template <bool kMass, typename T>
LIMB_INLINE void close_base(const typename DerivativeWorkspace<T>::Bunch& bunch,
                            const Base<T>& base, const Lever<T>& x,
                            const DerivativeOut<kMass, T> out) {
  const Eigen::Index stride = out.stride, three = 3 * stride;
  const Four<T> o = all(T(0));
  const Triple<Four<T>> w = all(base.w);
  const int v = bunch.v, count = bunch.count;
  write_three<T>({o, o, o}, count, stride, out.dq + v);
  write_three(cross(x.IS_f, all(base.gravity)), count, stride, out.dq + v + three);
  write_three(cross(x.IS_f, w), count, stride, out.dv + v);
  write_three(add_cross(add_cross(x.BS, x.IS_n, w), x.IS_f, all(base.v)), count, stride,
              out.dv + v + three);
  write_six(x.q, count, stride, out.dq + v * stride);
  write_six(x.v, count, stride, out.dv + v * stride);
  if constexpr (kMass) {
    write_three(x.IS_f, count, stride, out.da + v);
    write_three(x.IS_n, count, stride, out.da + v + three);
    write_six(x.M, count, stride, out.da + v * stride);
  }
}

/// The mass matrix of the floating base's velocities: [m 1, -[h]x; [h]x, J].
template <typename T>
void write_base_mass(const Inertial<T>& I, T* out, Eigen::Index stride) {
  const T &m = I.m, o = T(0);
  const Triple<T>&h = I.h, &J = I.diagonal;
  const T columns[6][6] = {{m, o, o, o, h.z, -h.y},           {o, m, o, -h.z, o, h.x},
                           {o, o, m, h.y, -h.x, o},           {o, -h.z, h.y, J.x, -I.xy, -I.xz},
                           {h.z, o, -h.x, -I.xy, J.y, -I.yz}, {-h.y, h.x, o, -I.xz, -I.yz, J.z}};
  for (int c = 0; c < 6; ++c) {
    for (int r = 0; r < 6; ++r) out[r + c * stride] = columns[c][r];
  }
}

/// Entries of the floating base's velocities with each other.
template <bool kMass, typename T>
void close_floating(const Base<T>& base, const DerivativeOut<kMass, T>& out) {
  const T o = T(0), one = T(1);
  const Triple<T> axes[3] = {{one, o, o}, {o, one, o}, {o, o, one}}, none = {o, o, o};
  const Inertial<T>& I = base.weight.I;
  const Product<T>& B = base.weight.B;
  const auto put = [&](T* column, const Triple<T>& f, const Triple<T>& n) {
    const T six[6] = {f.x, f.y, f.z, n.x, n.y, n.z};
    for (int r = 0; r < 6; ++r) column[r] = six[r];
  };
  for (int k = 0; k < 3; ++k) {
    const Eigen::Index linear = k * out.stride, angular = (3 + k) * out.stride;
    const Triple<T>& e = axes[k];
    const Triple<T> turned = cross(base.w, e);
    put(out.dq + linear, none, none);
    const Pair<T> fallen = inertia_times<T>(I, none, cross(base.gravity, e));
    put(out.dq + angular, fallen.linear, fallen.angular);
    const Pair<T> carried = inertia_times<T>(I, none, turned);
    put(out.dv + linear, carried.linear, carried.angular);
    const Pair<T> spun = inertia_times<T>(I, turned, cross(base.v, e));
    put(out.dv + angular, spun.linear + twice(cross(e, B.P)),
        spun.angular + twice(product_moment(B, e)));
  }
  if constexpr (kMass) write_base_mass(I, out.da, out.stride);
}

/// size zeros.
template <typename T>
LIMB_INLINE void write_zeros(int size, T* x) {
  const Four<T> o = all(T(0));
  if (size < 4) return store_some(o, size, x);
  for (int i = 0; i < size - 4; i += 4) store_four(o, x + i);
  store_four(o, x + (size - 4));
}

/// Entries of the pairs of a bunch's velocities with all before them on its way. seen(bunch) is
/// what the walk knows of one.
template <bool kFloating, bool kMass, typename T, typename SeenOf>
LIMB_INLINE void close(DerivativeWorkspace<T>& work, int number, const SeenOf& seen,
                       const Base<T>& base, const DerivativeOut<kMass, T> out) {
  using Work = DerivativeWorkspace<T>;
  const typename Work::Bunch* const bunches = work.bunches.data();
  const typename Work::Bunch& bunch = bunches[number];
  const typename Work::Seen& b = seen(bunch);
  const Lever<T> x = lever<T>(b);
  const Eigen::Index stride = out.stride;
  const int v = bunch.v, count = bunch.count;
  if constexpr (kFloating) close_base(bunch, base, x, out);
  for (int j = bunch.parent; j > 0; j = bunches[j].parent) {
    const typename Work::Bunch& before = bunches[j];
    const auto& y = seen(before).x;
    for (int e = 0; e < before.count; ++e) {
      write(row_entries<kMass, T>(x, y, e), count, v + (before.v + e) * stride, out);
    }
    const auto z = get(y + Work::kAngular), l = get(y + Work::kLinear);
    for (int i = 0; i < count; ++i) {
      write(column_entries<kMass>(z, l, x, i), before.count, before.v + (v + i) * stride, out);
    }
  }
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  for (int i = 0; i < count; ++i) {
    // Among the velocities of one joint only rows: their axes turn with the body.
    const ThreeFours<T> row = row_entries<kMass, T>(x, b.x, i),
                        column = column_entries<kMass>(z, l, x, i);
    const Mask& mask = bunch.row[i];
    write<kMass, T>({chosen(mask, row.q, column.q), chosen(mask, row.v, column.v),
                     chosen(mask, row.a, column.a)},
                    count, v + (v + i) * stride, out);
  }
  for (int k = bunch.zeros_begin; k < bunch.zeros_end; ++k) {
    const auto& rows = work.zeros[static_cast<size_t>(k)];
    for (int i = 0; i < count; ++i) {
      const Eigen::Index from = rows.begin + (v + i) * stride;
      write_zeros(rows.end - rows.begin, out.dq + from);
      write_zeros(rows.end - rows.begin, out.dv + from);
      if constexpr (kMass) write_zeros(rows.end - rows.begin, out.da + from);
    }
  }
  // A joint that goes on in the next bunch: its rows here, in its columns there.
  if (bunch.last[count - 1] >= 4) {
    const typename Work::Bunch& next = bunches[number + 1];
    const int begin = bunch.first[count - 1] < 0 ? 0 : bunch.first[count - 1];
    for (int e = 0; e <= bunch.last[count - 1] - 4; ++e) {
      const ThreeFours<T> row = row_entries<kMass, T>(x, seen(next).x, e);
      for (int r = begin; r < count; ++r) {
        const Eigen::Index to = v + r + (next.v + e) * stride;
        out.dq[to] = row.q.lane[r];
        out.dv[to] = row.v.lane[r];
        if constexpr (kMass) out.da[to] = row.a.lane[r];
      }
    }
  }
}

}  // namespace limb::kernel
