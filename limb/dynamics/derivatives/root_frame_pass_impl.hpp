#pragma once

#include "limb/dynamics/derivatives/dof_group_impl.hpp"
#include "limb/dynamics/derivatives/inertia_at_root_impl.hpp"

// Forward pass of the derivatives in the root frame: poses, motions and inertias of the canonical
// joints, four degrees of freedom at a time.
//
// Symbols [Singh 2022, analytical derivatives], docs/derivations/derivatives.md, of a degree of
// freedom with axis S of joint i with parent p; Pluecker vectors in the axes of the root, about its
// origin:
//   z, l       angular and linear part of S
//   w_p, v_p   velocity V_p of the parent;  wd_p, a_p  its spatial acceleration A_p minus gravity
//   psi_dot    V_p x S                   (Psi' in the paper)
//   psi_ddot   A_p x S + V_p x psi_dot   (Psi'')
//   psi_s_dot  psi_dot + V_i x S         (Psi' + S')
//   I, B, F    rigid inertia, Coriolis matrix and force (n, f), summed over the subtree
//   qd, qdd    joint velocities and accelerations of the lanes
//   r          origin of the joint frame

namespace limb::kernel {

/// Pose of a joint frame in the root frame, from that of its parent.
template <typename T>
LIMB_INLINE void compute_root_pose(const CanonicalJoint<T>& joint, size_t i,
                                   const WorkspaceData<T>& tree,
                                   const typename DerivativeWorkspaceData<T>::RootPose& parent,
                                   typename DerivativeWorkspaceData<T>::RootPose& b) {
  const auto in_parent = [&](const T& x, const T& y, const T& z) __attribute__((always_inline)) {
    return x * parent.x + y * parent.y + z * parent.z;
  };
  if (joint.kind != CanonicalJoint<T>::Kind::revolute) {
    const Matrix3<T>& R = tree.R[i];
    const Vec3<T>& p = tree.p[i];
    b.x = in_parent(R(0, 0), R(1, 0), R(2, 0));
    b.y = in_parent(R(0, 1), R(1, 1), R(2, 1));
    b.z = in_parent(R(0, 2), R(1, 2), R(2, 2));
    b.r = parent.r + in_parent(p.x, p.y, p.z);
    return;
  }
  b.r = parent.r + in_parent(joint.p[0], joint.p[1], joint.p[2]);
  Pack4<T> x = parent.x, y = parent.y, z = parent.z;
  if (joint.has_gamma) rotate_back(x, y, joint.cos_gamma, joint.sin_gamma);
  with_alpha(
      joint, [&](const auto& alpha) __attribute__((always_inline)) { alpha.inverse(y, z); });
  rotate_back(x, y, tree.cosine[i], tree.sine[i]);
  b.x = x;
  b.y = y;
  b.z = z;
}

template <typename T>
void compute_root_poses(const Canonical<T>& robot, DerivativeWorkspaceData<T>& work) {
  const T o = T(0), one = T(1);
  const size_t root = work.floating ? 1 : 0, n = robot.joints.size();
  auto* const root_poses = work.root_poses.data();
  root_poses[root] = {pack4(one, o, o, o), pack4(o, one, o, o), pack4(o, o, one, o), broadcast(o)};
  for (size_t i = root + 1; i < n; ++i) {
    const CanonicalJoint<T>& joint = robot.joints[i];
    compute_root_pose(joint, i, work.tree, root_poses[joint.parent], root_poses[i]);
  }
}

/// Coefficients x of the lanes: `own` in their lanes, and by[k] = x_k in all lanes after k.
template <typename T>
struct LaneCoefficients {
  Pack4<T> own, by[3];
};
template <typename T>
LIMB_INLINE LaneCoefficients<T> lane_coefficients(const T* x, int count) {
  const T o = T(0);
  const T a = x[0], b = count > 1 ? x[1] : o, c = count > 2 ? x[2] : o, d = count > 3 ? x[3] : o;
  return {pack4(a, b, c, d), {pack4(o, a, a, a), pack4(o, o, b, b), pack4(o, o, o, c)}};
}
/// For each lane: start + the sum of x k over the lanes before it.
template <typename T>
LIMB_INLINE Pack4<T> prefix_sums(const Pack4<T>& start, const T (&x)[4],
                                 const LaneCoefficients<T>& k) {
  return start + x[0] * k.by[0] + x[1] * k.by[1] + x[2] * k.by[2];
}
template <typename T>
LIMB_INLINE Vec3<Pack4<T>> prefix_sums(const Vec3<Pack4<T>>& start, const T (*x)[4],
                                       const LaneCoefficients<T>& k) {
  return {prefix_sums(start.x, x[0], k), prefix_sums(start.y, x[1], k),
          prefix_sums(start.z, x[2], k)};
}
/// The last lane of a group in all lanes: the values from which its child group starts.
template <typename T>
LIMB_INLINE Vec3<Pack4<T>> last_lane(const T (*x)[4]) {
  return {broadcast(x[0][3]), broadcast(x[1][3]), broadcast(x[2][3])};
}

/// For joints with several degrees of freedom: replaces the value before a lane by the value before
/// its joint, that of the parent.
template <typename T>
void select_joint_parent(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                         const Vec3<Pack4<T>>& parent_group, Vec3<Pack4<T>>& x) {
  const auto pick = [&](const Pack4<T>& old, Pack4<T>& y) {
    T lanes[4], picked[4];
    store_pack4(y, lanes);
    for (int k = 0; k < 4; ++k) {
      picked[k] = group.first[k] < 0 ? old.lane[3] : lanes[group.first[k]];
    }
    y = load_pack4(picked);
  };
  pick(parent_group.x, x.x);
  pick(parent_group.y, x.y);
  pick(parent_group.z, x.z);
}

/// Axes and origins of the joint frames of a group, one lane per degree of freedom.
template <typename T>
LIMB_INLINE void gather_axes(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                             const typename DerivativeWorkspaceData<T>::RootPose* root_poses,
                             Axes<Pack4<T>>& axes, Vec3<Pack4<T>>& r) {
  const auto &a = root_poses[group.joint[0]], &b = root_poses[group.joint[1]],
             &c = root_poses[group.joint[2]], &d = root_poses[group.joint[3]];
  const auto transposed = [](const Pack4<T>& p, const Pack4<T>& q, const Pack4<T>& s,
                             const Pack4<T>& t) __attribute__((always_inline)) {
    Pack4<T> x = p, y = q, z = s, unused = t;
    transpose(x, y, z, unused);
    return Vec3<Pack4<T>>{x, y, z};
  };
  axes.x = transposed(a.x, b.x, c.x, d.x);
  axes.y = transposed(a.y, b.y, c.y, d.y);
  axes.z = transposed(a.z, b.z, c.z, d.z);
  r = transposed(a.r, b.r, c.r, d.r);
}

/// Motion and axis derivatives of a group from its parent group. Without kAccelerated a is taken as
/// zero.
template <bool kAccelerated, typename T>
LIMB_INLINE void group_motion(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                              const Axes<Pack4<T>>& axes, const Vec3<Pack4<T>>& r,
                              const typename DerivativeWorkspaceData<T>::RootFrameState& parent,
                              const T* v, const T* a,
                              typename DerivativeWorkspaceData<T>::RootFrameState& b) {
  using Work = DerivativeWorkspaceData<T>;
  using X = Vec3<Pack4<T>>;
  X z = axes.z, l;
  if (group.all_revolute) {
    l = cross(r, z);
  } else {
    z = to_root_axes(axes, get(group.angular));
    l = add_cross(to_root_axes(axes, get(group.linear)), r, z);
  }
  put(z, b.x + Work::kAngular);
  put(l, b.x + Work::kLinear);
  const LaneCoefficients<T> qd = lane_coefficients(v + group.v, group.count);
  X w_p = prefix_sums(last_lane(parent.x + Work::kVelocity), b.x + Work::kAngular, qd);
  X v_p = prefix_sums(last_lane(parent.x + Work::kVelocity + 3), b.x + Work::kLinear, qd);
  put(w_p + scaled(qd.own, z), b.x + Work::kVelocity);
  put(v_p + scaled(qd.own, l), b.x + Work::kVelocity + 3);
  if (group.has_multi_dof) {
    select_joint_parent<T>(group, parent.w_p, w_p);
    select_joint_parent<T>(group, parent.v_p, v_p);
    b.w_p = w_p;
    b.v_p = v_p;
  }
  const X psi_dot_w = cross(w_p, z), psi_dot_v = add_cross(cross(w_p, l), v_p, z);
  put(psi_dot_w, b.x + Work::kPsiDot);
  put(psi_dot_v, b.x + Work::kPsiDot + 3);
  // A joint with one axis: V_i x S = V_p x S. Others: complete_psi_s_dot().
  put(twice(psi_dot_w), b.x + Work::kPsiSDot);
  put(twice(psi_dot_v), b.x + Work::kPsiSDot + 3);
  X wd_p = prefix_sums(last_lane(parent.x + Work::kAcceleration), b.x + Work::kPsiDot, qd);
  X a_p = prefix_sums(last_lane(parent.x + Work::kAcceleration + 3), b.x + Work::kPsiDot + 3, qd);
  X wd = wd_p + scaled(qd.own, psi_dot_w), a_i = a_p + scaled(qd.own, psi_dot_v);
  if constexpr (kAccelerated) {
    const LaneCoefficients<T> qdd = lane_coefficients(a + group.v, group.count);
    wd_p = prefix_sums(wd_p, b.x + Work::kAngular, qdd);
    a_p = prefix_sums(a_p, b.x + Work::kLinear, qdd);
    wd = wd_p + scaled(qd.own, psi_dot_w) + scaled(qdd.own, z);
    a_i = a_p + scaled(qd.own, psi_dot_v) + scaled(qdd.own, l);
  }
  put(wd, b.x + Work::kAcceleration);
  put(a_i, b.x + Work::kAcceleration + 3);
  if (group.has_multi_dof) {
    select_joint_parent<T>(group, parent.wd_p, wd_p);
    select_joint_parent<T>(group, parent.a_p, a_p);
    b.wd_p = wd_p;
    b.a_p = a_p;
  }
  put(add_cross(cross(wd_p, z), w_p, psi_dot_w), b.x + Work::kPsiDdot);
  put(add_cross(add_cross(add_cross(cross(wd_p, l), a_p, z), w_p, psi_dot_v), v_p, psi_dot_w),
      b.x + Work::kPsiDdot + 3);
}

/// psi_s_dot of joints with several degrees of freedom: V_i includes the velocities of all of them.
template <typename T>
void complete_psi_s_dot(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                        const typename DerivativeWorkspaceData<T>::RootFrameState& next,
                        typename DerivativeWorkspaceData<T>::RootFrameState& b) {
  using Work = DerivativeWorkspaceData<T>;
  T V_i[6][4];
  for (int c = 0; c < 6; ++c) {
    for (int k = 0; k < 4; ++k) {
      const int last = group.last[k];
      V_i[c][k] = last < 4 ? b.x[Work::kVelocity + c][last] : next.x[Work::kVelocity + c][last - 4];
    }
  }
  const auto w = get(V_i), v = get(V_i + 3);
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  put(add_cross(get(b.x + Work::kPsiDot), w, z), b.x + Work::kPsiSDot);
  put(add_cross(add_cross(get(b.x + Work::kPsiDot + 3), w, l), v, z), b.x + Work::kPsiSDot + 3);
}

/// Subtracts the external forces from the forces of a group, each in the last lane of its joint.
template <typename T>
void subtract_external(const typename DerivativeWorkspaceData<T>::DofGroup& group,
                       const Axes<Pack4<T>>& axes, const Vec3<Pack4<T>>& r,
                       const WorkspaceData<T>& tree, InertiaAtRoot<Pack4<T>>& b) {
  T f[3][4], n[3][4];
  for (int k = 0; k < 4; ++k) {
    const bool is_last = k < group.count && group.last[k] == k;
    const Vec3<T>& F = tree.f_external[static_cast<size_t>(is_last ? group.joint[k] : 0)];
    const Vec3<T>& N = tree.n_external[static_cast<size_t>(is_last ? group.joint[k] : 0)];
    f[0][k] = is_last ? F.x : T(0);
    f[1][k] = is_last ? F.y : T(0);
    f[2][k] = is_last ? F.z : T(0);
    n[0][k] = is_last ? N.x : T(0);
    n[1][k] = is_last ? N.y : T(0);
    n[2][k] = is_last ? N.z : T(0);
  }
  const auto f_root = to_root_axes(axes, get(f));
  b.f = b.f - f_root;
  b.n = b.n - add_cross(to_root_axes(axes, get(n)), r, f_root);
}

template <typename T, int kCount>
LIMB_INLINE void clear_sums(T (&x)[kCount]) {
  static_assert(kCount % 4 == 0);
  for (int c = 0; c < kCount; c += 4) store_pack4(broadcast(T(0)), x + c);
}

/// Forward pass, one group: motion, axis derivatives, and inertias of its links.
template <bool kExternal, bool kAccelerated, typename T>
LIMB_INLINE void group_forward(DerivativeWorkspaceData<T>& work,
                               const typename DerivativeWorkspaceData<T>::DofGroup& group,
                               typename DerivativeWorkspaceData<T>::RootFrameState& parent,
                               const T* v, const T* a,
                               typename DerivativeWorkspaceData<T>::RootFrameState& b) {
  using Work = DerivativeWorkspaceData<T>;
  Axes<Pack4<T>> axes;
  Vec3<Pack4<T>> r;
  gather_axes<T>(group, work.root_poses.data(), axes, r);
  group_motion<kAccelerated, T>(group, axes, r, parent, v, a, b);
  const Pack4<T> S[6] = {load_pack4(group.S[0]), load_pack4(group.S[1]), load_pack4(group.S[2]),
                         load_pack4(group.S[3]), load_pack4(group.S[4]), load_pack4(group.S[5])};
  const auto link_inertia = [&](auto regrouped) __attribute__((always_inline)) {
    return inertia_at_root<decltype(regrouped)::value>(
        axes, r, load_pack4(group.m), get(group.h), S, get(b.x + Work::kVelocity),
        get(b.x + Work::kVelocity + 3), get(b.x + Work::kAcceleration),
        get(b.x + Work::kAcceleration + 3));
  };
  InertiaAtRoot<Pack4<T>> inertia =
      group.regrouped ? link_inertia(std::true_type()) : link_inertia(std::false_type());
  if constexpr (kExternal) subtract_external<T>(group, axes, r, work.tree, inertia);
  put(inertia, b.x + Work::kInertia);
  if (group.children > 1) clear_sums(b.subtree_sums);
  if (group.has_multi_dof) {
    if (group.first[0] < 0) {
      complete_psi_s_dot<T>(work.dof_groups[static_cast<size_t>(group.parent)], b, parent);
    }
    if (group.last[group.count - 1] < 4) complete_psi_s_dot<T>(group, b, b);
  }
}

/// The base of a floating robot, and -gravity in the root frame.
template <typename T>
struct BaseState {
  Vec3<T> gravity, w, v;
  InertiaAtRoot<T> inertia;  ///< of the link; with its subtree after add_subtree()
};

/// Sets the root: the world with acceleration -g, or the base of a floating robot. A null `a` is
/// taken as zero.
template <bool kExternal, bool kFloating, typename T>
LIMB_INLINE void set_root_state(const Canonical<T>& robot, DerivativeWorkspaceData<T>& work,
                                const T* v, const T* a, BaseState<T>& base) {
  using Work = DerivativeWorkspaceData<T>;
  const T o = T(0), one = T(1);
  const Vec3<T> zero = {o, o, o};
  typename Work::RootFrameState& root = work.states[0];
  Vec3<T> wd = zero, acceleration = scaled(T(-1), vec3(robot.gravity));
  base.w = base.v = zero;
  if constexpr (kFloating) acceleration = transpose_product(work.tree.R[1], acceleration);
  base.gravity = acceleration;
  if constexpr (kFloating) {
    base.w = {v[3], v[4], v[5]};
    base.v = {v[0], v[1], v[2]};
    if (a != nullptr) {
      wd = {a[3], a[4], a[5]};
      acceleration = acceleration + Vec3<T>{a[0], a[1], a[2]};
    }
    const CanonicalJoint<T>& joint = robot.joints[1];
    const Matrix3<T>& S = joint.second_moments;
    const T moments[6] = {S(0, 0), S(1, 0), S(2, 0), S(1, 1), S(2, 1), S(2, 2)};
    const Axes<T> axes = {{one, o, o}, {o, one, o}, {o, o, one}};
    base.inertia = inertia_at_root<false>(axes, zero, joint.mass, vec3(joint.first_moment), moments,
                                          base.w, base.v, wd, acceleration);
    if constexpr (kExternal) {
      base.inertia.f = base.inertia.f - work.tree.f_external[1];
      base.inertia.n = base.inertia.n - work.tree.n_external[1];
    }
    clear_sums(root.subtree_sums);
  }
  const T motion[12] = {base.w.x, base.w.y,       base.w.z,       base.v.x,
                        base.v.y, base.v.z,       wd.x,           wd.y,
                        wd.z,     acceleration.x, acceleration.y, acceleration.z};
  for (int k = 0; k < 12; ++k) root.x[Work::kVelocity + k][3] = motion[k];
}

}  // namespace limb::kernel
