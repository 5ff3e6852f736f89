#pragma once

#include "limb/dynamics/derivatives/root_frame_pass_impl.hpp"

// Backward pass of the derivatives: sums over subtrees, then the entries of the matrices, as in the
// table of docs/derivations/derivatives.md [Singh 2022, analytical derivatives]. Symbols as in
// root_frame_pass_impl.hpp; q, v, a of a block: entries of dtau_dq, dtau_dv, dtau_da.

namespace limb::kernel {

/// The results, column-major; without kMass da is not written.
template <bool kMass, typename T>
struct DerivativeOut {
  T *dq, *dv, *da;
  Eigen::Index stride;
};

/// Replaces the terms x of each lane by sums over its subtree: over the lane, the lanes after it
/// and the child groups; `child` has the sums of an only child, `sums` those over several. The
/// total is added to `parent` unless the group is an only child.
template <int kCount, typename T>
LIMB_INLINE void accumulate_subtree(int children, T (*x)[4], const T (*child)[4], const T* sums,
                                    bool only_child, T* parent) {
  const auto for_each_component = [&](const auto& add_children) __attribute__((always_inline)) {
    for (int c = 0; c < kCount; ++c)
      store_pack4(add_children(c, suffix_sums(load_pack4(x[c]))), x[c]);
  };
  using X = Pack4<T>;
  if (children == 0) {
    for_each_component([](int, const X& y) __attribute__((always_inline)) { return y; });
  } else if (children == 1) {
    for_each_component([&](int c, const X& y)
                           __attribute__((always_inline)) { return y + broadcast(child[c][0]); });
  } else {
    for_each_component([&](int c, const X& y)
                           __attribute__((always_inline)) { return y + broadcast(sums[c]); });
  }
  if (only_child) return;
  for (int c = 0; c < kCount; ++c) parent[c] = parent[c] + x[c][0];
}

/// x . y, where x is one lane of three components.
template <typename T>
LIMB_INLINE Pack4<T> dot(const T (*x)[4], int lane, const Vec3<Pack4<T>>& y) {
  return x[0][lane] * y.x + x[1][lane] * y.y + x[2][lane] * y.z;
}

/// Products of the axes of a group with I, B and F of their subtrees: for its rows and its columns.
template <typename T>
struct SubtreeProducts {
  Vec3<Pack4<T>> BS, IS_n, IS_f;  ///< S^T 2 B, S^T I
  T q[6][4], v[6][4], M[6][4];    ///< (n, f) of the columns: 2 B psi_dot + I psi_ddot + S x* F,
                                  ///< 2 B S + I psi_s_dot, I S
};

template <typename T>
LIMB_INLINE SubtreeProducts<T> subtree_products(
    const typename DerivativeWorkspaceData<T>::RootFrameState& b) {
  using Work = DerivativeWorkspaceData<T>;
  using X = Vec3<Pack4<T>>;
  const InertiaAtRoot<Pack4<T>> inertia = load_inertia(b.x + Work::kInertia);
  const auto& I = inertia.I;
  const auto& B = inertia.B;
  const X z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const X psi_dot_w = get(b.x + Work::kPsiDot);
  SubtreeProducts<T> x;
  const LinearAngular<Pack4<T>> IS = inertia_times(I, z, l);
  x.IS_n = IS.angular;
  x.IS_f = IS.linear;
  put(IS.angular, x.M);
  put(IS.linear, x.M + 3);
  x.BS = twice(coriolis_transposed(B, z, l));
  const LinearAngular<Pack4<T>> by_psi_ddot =
      inertia_times(I, get(b.x + Work::kPsiDdot), get(b.x + Work::kPsiDdot + 3));
  put(add_cross(add_cross(by_psi_ddot.angular + twice(coriolis_moment(B, psi_dot_w)), z, inertia.n),
                l, inertia.f),
      x.q);
  put(add_cross(by_psi_ddot.linear + twice(cross(psi_dot_w, B.P)), z, inertia.f), x.q + 3);
  const LinearAngular<Pack4<T>> by_psi_s_dot =
      inertia_times(I, get(b.x + Work::kPsiSDot), get(b.x + Work::kPsiSDot + 3));
  put(by_psi_s_dot.angular + twice(coriolis_moment(B, z)), x.v);
  put(by_psi_s_dot.linear + twice(cross(z, B.P)), x.v + 3);
  return x;
}

/// Four rows of one column of each matrix.
template <typename T>
struct EntryBlock {
  Pack4<T> q, v, a;
};
/// Rows of a group in column e of an ancestor, or of the group itself.
template <bool kMass, typename T>
LIMB_INLINE EntryBlock<T> row_entries(const SubtreeProducts<T>& rows, const T (*x)[4], int e) {
  using Work = DerivativeWorkspaceData<T>;
  return {dot(x + Work::kPsiDot, e, rows.BS) + dot(x + Work::kPsiDdot, e, rows.IS_n) +
              dot(x + Work::kPsiDdot + 3, e, rows.IS_f),
          dot(x + Work::kAngular, e, rows.BS) + dot(x + Work::kPsiSDot, e, rows.IS_n) +
              dot(x + Work::kPsiSDot + 3, e, rows.IS_f),
          kMass ? dot(x + Work::kAngular, e, rows.IS_n) + dot(x + Work::kLinear, e, rows.IS_f)
                : Pack4<T>()};
}
/// Rows of a group with axes (z, l) in column i of a descendant, or of the group itself.
template <bool kMass, typename T>
LIMB_INLINE EntryBlock<T> column_entries(const Vec3<Pack4<T>>& z, const Vec3<Pack4<T>>& l,
                                         const SubtreeProducts<T>& columns, int i) {
  return {dot(columns.q, i, z) + dot(columns.q + 3, i, l),
          dot(columns.v, i, z) + dot(columns.v + 3, i, l),
          kMass ? dot(columns.M, i, z) + dot(columns.M + 3, i, l) : Pack4<T>()};
}
template <bool kMass, typename T>
LIMB_INLINE void write_block(const EntryBlock<T>& x, int count, Eigen::Index at,
                             const DerivativeOut<kMass, T> out) {
  store_lanes(x.q, count, out.dq + at);
  store_lanes(x.v, count, out.dv + at);
  if constexpr (kMass) store_lanes(x.a, count, out.da + at);
}

/// Rows 0 to 5, those of the floating base, of four columns: force, then moment.
template <typename T>
LIMB_INLINE void write_base_rows(const T (*x)[4], int count, Eigen::Index stride, T* out) {
  Pack4<T> a = load_pack4(x[3]), b = load_pack4(x[4]), c = load_pack4(x[5]), d = load_pack4(x[0]);
  transpose(a, b, c, d);
  const Pack4<T> columns[4] = {a, b, c, d};
  for (int k = 0; k < count; ++k) {
    store_pack4(columns[k], out + k * stride);
    out[k * stride + 4] = x[1][k];
    out[k * stride + 5] = x[2][k];
  }
}
template <typename T>
LIMB_INLINE void write_base_columns(const Vec3<Pack4<T>>& x, int count, Eigen::Index stride,
                                    T* out) {
  store_lanes(x.x, count, out);
  store_lanes(x.y, count, out + stride);
  store_lanes(x.z, count, out + 2 * stride);
}

/// Entries of a group with the six velocities of a floating base. The axes of the base are those of
/// the root: products with them are components.
template <bool kMass, typename T>
LIMB_INLINE void write_base_entries(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                                    const BaseState<T>& base, const SubtreeProducts<T>& x,
                                    const DerivativeOut<kMass, T> out) {
  const Eigen::Index stride = out.stride, three = 3 * stride;
  const Pack4<T> o = broadcast(T(0));
  const Vec3<Pack4<T>> w = broadcast(base.w);
  const int v = group.v, count = group.count;
  write_base_columns<T>({o, o, o}, count, stride, out.dq + v);
  write_base_columns(cross(x.IS_f, broadcast(base.gravity)), count, stride, out.dq + v + three);
  write_base_columns(cross(x.IS_f, w), count, stride, out.dv + v);
  write_base_columns(add_cross(add_cross(x.BS, x.IS_n, w), x.IS_f, broadcast(base.v)), count,
                     stride, out.dv + v + three);
  write_base_rows(x.q, count, stride, out.dq + v * stride);
  write_base_rows(x.v, count, stride, out.dv + v * stride);
  if constexpr (kMass) {
    write_base_columns(x.IS_f, count, stride, out.da + v);
    write_base_columns(x.IS_n, count, stride, out.da + v + three);
    write_base_rows(x.M, count, stride, out.da + v * stride);
  }
}

/// The mass matrix block of the floating base: [m 1, -[h]x; [h]x, J].
template <typename T>
void write_base_mass(const RigidInertia<T>& I, T* out, Eigen::Index stride) {
  const T &m = I.m, o = T(0);
  const Vec3<T>&h = I.h, &J = I.diagonal;
  const T columns[6][6] = {{m, o, o, o, h.z, -h.y},           {o, m, o, -h.z, o, h.x},
                           {o, o, m, h.y, -h.x, o},           {o, -h.z, h.y, J.x, -I.xy, -I.xz},
                           {h.z, o, -h.x, -I.xy, J.y, -I.yz}, {-h.y, h.x, o, -I.xz, -I.yz, J.z}};
  for (int c = 0; c < 6; ++c) {
    for (int r = 0; r < 6; ++r) out[r + c * stride] = columns[c][r];
  }
}

/// The 6 x 6 blocks of the floating base.
template <bool kMass, typename T>
void write_floating_entries(const BaseState<T>& base, const DerivativeOut<kMass, T>& out) {
  const T o = T(0), one = T(1);
  const Vec3<T> axes[3] = {{one, o, o}, {o, one, o}, {o, o, one}}, zero = {o, o, o};
  const RigidInertia<T>& I = base.inertia.I;
  const BodyCoriolis<T>& B = base.inertia.B;
  const auto put = [&](T* column, const Vec3<T>& f, const Vec3<T>& n) {
    const T six[6] = {f.x, f.y, f.z, n.x, n.y, n.z};
    for (int r = 0; r < 6; ++r) column[r] = six[r];
  };
  for (int k = 0; k < 3; ++k) {
    const Eigen::Index linear = k * out.stride, angular = (3 + k) * out.stride;
    const Vec3<T>& e = axes[k];
    const Vec3<T> w_e = cross(base.w, e);
    put(out.dq + linear, zero, zero);
    const LinearAngular<T> by_gravity = inertia_times<T>(I, zero, cross(base.gravity, e));
    put(out.dq + angular, by_gravity.linear, by_gravity.angular);
    const LinearAngular<T> by_linear = inertia_times<T>(I, zero, w_e);
    put(out.dv + linear, by_linear.linear, by_linear.angular);
    const LinearAngular<T> by_angular = inertia_times<T>(I, w_e, cross(base.v, e));
    put(out.dv + angular, by_angular.linear + twice(cross(e, B.P)),
        by_angular.angular + twice(coriolis_moment(B, e)));
  }
  if constexpr (kMass) write_base_mass(I, out.da, out.stride);
}

/// Writes `size` zeros.
template <typename T>
LIMB_INLINE void write_zeros(int size, T* x) {
  const Pack4<T> o = broadcast(T(0));
  if (size < 4) return store_lanes(o, size, x);
  for (int i = 0; i < size - 4; i += 4) store_pack4(o, x + i);
  store_pack4(o, x + (size - 4));
}

/// Entries of a group with all groups on its path from the root, and within itself.
/// state(group) returns the RootFrameState of a group.
template <bool kFloating, bool kMass, typename T, typename StateOf>
LIMB_INLINE void write_group_entries(DerivativeWorkspaceData<T>& work, int number,
                                     const StateOf& state, const BaseState<T>& base,
                                     const DerivativeOut<kMass, T> out) {
  using Work = DerivativeWorkspaceData<T>;
  const typename Work::DofGroup* const dof_groups = work.dof_groups.data();
  const typename Work::DofGroup& group = dof_groups[number];
  const typename Work::RootFrameState& b = state(group);
  const SubtreeProducts<T> x = subtree_products<T>(b);
  const Eigen::Index stride = out.stride;
  const int v = group.v, count = group.count;
  if constexpr (kFloating) write_base_entries(group, base, x, out);
  for (int j = group.parent; j > 0; j = dof_groups[j].parent) {
    const typename Work::DofGroup& before = dof_groups[j];
    const auto& y = state(before).x;
    for (int e = 0; e < before.count; ++e) {
      write_block(row_entries<kMass, T>(x, y, e), count, v + (before.v + e) * stride, out);
    }
    const auto z = get(y + Work::kAngular), l = get(y + Work::kLinear);
    for (int i = 0; i < count; ++i) {
      write_block(column_entries<kMass>(z, l, x, i), before.count, before.v + (v + i) * stride,
                  out);
    }
  }
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  for (int i = 0; i < count; ++i) {
    // Within one joint only rows: its axes move with the body, and S x* F cancels.
    const EntryBlock<T> row = row_entries<kMass, T>(x, b.x, i),
                        column = column_entries<kMass>(z, l, x, i);
    const Mask& mask = group.row_mask[i];
    write_block<kMass, T>({select(mask, row.q, column.q), select(mask, row.v, column.v),
                           select(mask, row.a, column.a)},
                          count, v + (v + i) * stride, out);
  }
  for (int k = group.zeros_begin; k < group.zeros_end; ++k) {
    const auto& rows = work.zeros[static_cast<size_t>(k)];
    for (int i = 0; i < count; ++i) {
      const Eigen::Index from = rows.begin + (v + i) * stride;
      write_zeros(rows.end - rows.begin, out.dq + from);
      write_zeros(rows.end - rows.begin, out.dv + from);
      if constexpr (kMass) write_zeros(rows.end - rows.begin, out.da + from);
    }
  }
  // A joint that continues in the next group: its rows here, its columns there.
  if (group.last[count - 1] >= 4) {
    const typename Work::DofGroup& next = dof_groups[number + 1];
    const int begin = group.first[count - 1] < 0 ? 0 : group.first[count - 1];
    for (int e = 0; e <= group.last[count - 1] - 4; ++e) {
      const EntryBlock<T> row = row_entries<kMass, T>(x, state(next).x, e);
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
