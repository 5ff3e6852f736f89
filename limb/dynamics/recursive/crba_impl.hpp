#pragma once

#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"

// Composite-rigid-body algorithm on the canonical model [Walker 1982],
// docs/derivations/canonical_algorithms.md.
//
// Symbols, of joint j, in the axes of its joint frame and about its origin:
//   m, h, S     mass, first moment int(x) dm and second moments int(x x^T) dm of the composite:
//               the subtree of j as one rigid body; S in the fields xx to zz
//   f, n        column of force I^C S_k: the force and moment that accelerate a composite at unit
//               acceleration of degree of freedom k
//   F           the columns of force of all degrees of freedom of the subtree, one per slot
//   M           mass matrix: M(i, k) = S_i^T F_k
//   R, p, c, s  as in rnea_impl.hpp

namespace limb {
namespace kernel {

/// The composite of the link itself.
template <typename T>
LIMB_INLINE typename WorkspaceData<T>::Composite link_composite(const CanonicalJoint<T>& joint) {
  const Matrix3<T>& S = joint.second_moments;
  return {joint.mass, vec3(joint.first_moment), S(0, 0), S(1, 0), S(2, 0), S(1, 1), S(2, 1),
          S(2, 2)};
}

/// Adds a composite, given in the parent's axes about the point p, to that of the parent:
/// h += e, S += S' + p e^T + h' p^T with e = h' + m p.
template <typename T>
LIMB_INLINE void add_composite(const typename WorkspaceData<T>::Composite& c, const Vec3<T>& p,
                               typename WorkspaceData<T>::Composite& parent) {
  const Vec3<T>& h = c.h;
  const Vec3<T> e = {h.x + c.m * p.x, h.y + c.m * p.y, h.z + c.m * p.z};
  parent.xx = parent.xx + (c.xx + p.x * (e.x + h.x));
  parent.yy = parent.yy + (c.yy + p.y * (e.y + h.y));
  parent.zz = parent.zz + (c.zz + p.z * (e.z + h.z));
  parent.xy = parent.xy + (c.xy + p.x * e.y + p.y * h.x);
  parent.xz = parent.xz + (c.xz + p.x * e.z + p.z * h.x);
  parent.yz = parent.yz + (c.yz + p.y * e.z + p.z * h.y);
  parent.h = parent.h + e;
  parent.m = parent.m + c.m;
}

/// The composite of a joint, rotated to the parent's axes.
template <typename T>
LIMB_INLINE typename WorkspaceData<T>::Composite rotated_to_parent(const CanonicalJoint<T>& joint,
                                                                   size_t i,
                                                                   const WorkspaceData<T>& work) {
  typename WorkspaceData<T>::Composite c = work.composites[i];
  if (joint.kind == CanonicalJoint<T>::Kind::revolute) {
    const T cosine = work.cosine[i], sine = work.sine[i];
    with_alpha(
        joint, [&](const auto& alpha) __attribute__((always_inline)) {
          c.h = to_parent(joint, alpha, cosine, sine, c.h);
          rotate_symmetric(c.xx, c.xy, c.yy, cosine, sine);
          rotate(c.xz, c.yz, cosine, sine);
          alpha.symmetric(c.yy, c.yz, c.zz);
          alpha(c.xy, c.xz);
        });
    if (joint.has_gamma) {
      rotate_symmetric(c.xx, c.xy, c.yy, joint.cos_gamma, joint.sin_gamma);
      rotate(c.xz, c.yz, joint.cos_gamma, joint.sin_gamma);
    }
    return c;
  }
  const Matrix3<T>& R = work.R[i];
  c.h = product(R, c.h);
  // R S R^T by rows: first R S, then its products with the rows of R.
  const Vec3<T> x = product(R, Vec3<T>{c.xx, c.xy, c.xz});
  const Vec3<T> y = product(R, Vec3<T>{c.xy, c.yy, c.yz});
  const Vec3<T> z = product(R, Vec3<T>{c.xz, c.yz, c.zz});
  const Vec3<T> first = product(R, Vec3<T>{x.x, y.x, z.x});
  const Vec3<T> second = product(R, Vec3<T>{x.y, y.y, z.y});
  const Vec3<T> third = product(R, Vec3<T>{x.z, y.z, z.z});
  c.xx = first.x;
  c.xy = first.y;
  c.xz = first.z;
  c.yy = second.y;
  c.yz = second.z;
  c.zz = third.z;
  return c;
}

/// Force and moment that accelerate the composite at unit acceleration of the joint's degree of
/// freedom k.
template <typename T>
LIMB_INLINE LinearAngular<T> unit_force(const CanonicalJoint<T>& joint,
                                        const typename WorkspaceData<T>::Composite& c, int k) {
  if (joint.kind == CanonicalJoint<T>::Kind::revolute) {
    return {{-c.h.y, c.h.x, T(0)}, {-c.xz, -c.yz, c.xx + c.yy}};
  }
  T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
  unit[k] = T(1);
  const LinearAngular<T> A = joint_motion(joint, unit);
  const Vec3<T>&a = A.linear, &wd = A.angular;
  const Vec3<T> f = add_cross({c.m * a.x, c.m * a.y, c.m * a.z}, wd, c.h);
  const Vec3<T> n = {
      (c.yy + c.zz) * wd.x - c.xy * wd.y - c.xz * wd.z,
      (c.xx + c.zz) * wd.y - c.xy * wd.x - c.yz * wd.z,
      (c.xx + c.yy) * wd.z - c.xz * wd.x - c.yz * wd.y,
  };
  return {f, add_cross(n, c.h, a)};
}

/// Four neighbouring entries of a force array.
template <typename T>
using Lanes = Eigen::Array<T, 4, 1>;

template <typename T>
LIMB_INLINE Lanes<T> load(const T* x) {
  return Eigen::Map<const Lanes<T>>(x);
}
template <typename T>
LIMB_INLINE void store(const Lanes<T>& lanes, T* x) {
  Eigen::Map<Lanes<T>> to(x);
  to = lanes;
}

/// The six force arrays, one per component.
template <typename T>
struct Forces {
  T *fx, *fy, *fz, *nx, *ny, *nz;
};

/// Transforms the forces of four slots to the parent. kInsert: first writes `column` to the lane
/// where `unit` is 1; lanes of joints not visited yet have values that are never read.
template <bool kInsert, typename T, typename Rotate>
LIMB_INLINE void propagate_four(const Forces<T>& F, int slot, const LinearAngular<T>& column,
                                const Lanes<T>& unit, const Rotate& rotate_to_parent,
                                const Vec3<T>& p) {
  Vec3<Lanes<T>> f = {load(F.fx + slot), load(F.fy + slot), load(F.fz + slot)};
  Vec3<Lanes<T>> n = {load(F.nx + slot), load(F.ny + slot), load(F.nz + slot)};
  if constexpr (kInsert) {
    // With arithmetic, because a store of one number followed by a load of four stalls.
    const Lanes<T> keep = T(1) - unit;
    f.x = f.x * keep + unit * column.linear.x;
    f.y = f.y * keep + unit * column.linear.y;
    f.z = f.z * keep + unit * column.linear.z;
    n.x = n.x * keep + unit * column.angular.x;
    n.y = n.y * keep + unit * column.angular.y;
    n.z = n.z * keep + unit * column.angular.z;
  }
  rotate_to_parent(f);
  rotate_to_parent(n);
  n.x += p.y * f.z - p.z * f.y;
  n.y += p.z * f.x - p.x * f.z;
  n.z += p.x * f.y - p.y * f.x;
  store<T>(f.x, F.fx + slot);
  store<T>(f.y, F.fy + slot);
  store<T>(f.z, F.fz + slot);
  store<T>(n.x, F.nx + slot);
  store<T>(n.y, F.ny + slot);
  store<T>(n.z, F.nz + slot);
}

/// Transforms the forces of all slots in the subtree of a joint with one degree of freedom,
/// including its own new column.
template <typename T, typename Rotate>
LIMB_INLINE void propagate_forces(const CanonicalJoint<T>& joint, const Forces<T>& F,
                                  const LinearAngular<T>& column, const Rotate& rotate_to_parent,
                                  const Vec3<T>& p) {
  static const T kUnit[4][4] = {{T(1), T(0), T(0), T(0)},
                                {T(0), T(1), T(0), T(0)},
                                {T(0), T(0), T(1), T(0)},
                                {T(0), T(0), T(0), T(1)}};
  const Lanes<T> unit = load(kUnit[joint.slot % 4]);
  int slot = joint.slot / 4 * 4;
  propagate_four<true>(F, slot, column, unit, rotate_to_parent, p);
  for (slot += 4; slot < joint.slot_end; slot += 4) {
    propagate_four<false>(F, slot, column, unit, rotate_to_parent, p);
  }
}

/// The same for a revolute joint.
template <typename T>
LIMB_INLINE void propagate_forces_revolute(const CanonicalJoint<T>& joint, const Forces<T>& F,
                                           const LinearAngular<T>& column, const T& c, const T& s) {
  with_alpha(
      joint, [&](const auto& alpha) __attribute__((always_inline)) {
        propagate_forces(
            joint, F, column,
            [&](Vec3<Lanes<T>> & x) __attribute__((always_inline)) {
              rotate(x.x, x.y, c, s);
              alpha(x.y, x.z);
              if (joint.has_gamma) rotate(x.x, x.y, joint.cos_gamma, joint.sin_gamma);
            },
            vec3(joint.p));
      });
}

/// The same for any other joint, whose own columns are already in the arrays.
template <typename T>
inline void propagate_forces_general(const CanonicalJoint<T>& joint, const Forces<T>& F,
                                     const Matrix3<T>& R, const Vec3<T>& p) {
  for (int slot = joint.slot; slot < joint.slot_end; ++slot) {
    const Vec3<T> f = product<T>(R, {F.fx[slot], F.fy[slot], F.fz[slot]});
    const Vec3<T> n = add_cross(product<T>(R, {F.nx[slot], F.ny[slot], F.nz[slot]}), p, f);
    F.fx[slot] = f.x;
    F.fy[slot] = f.y;
    F.fz[slot] = f.z;
    F.nx[slot] = n.x;
    F.ny[slot] = n.y;
    F.nz[slot] = n.z;
  }
}

/// Entries (v, c) and (c, v) of M for the velocities v in [begin, end), from the component of force
/// along the axis of velocity c.
template <typename T>
LIMB_INLINE void write_entries(const T* component, const int* slot, int c, int begin, int end, T* M,
                               Eigen::Index stride) {
  T* column = M + c * stride;
  T* row = M + c + begin * stride;
  for (int v = begin; v < end; ++v, row += stride) {
    const T entry = component[slot[v]];
    column[v] = entry;
    *row = entry;
  }
}

template <typename T>
LIMB_INLINE void clear(T* x, Eigen::Index n) {
  Eigen::Index i = 0;
  for (; i + 4 <= n; i += 4) store<T>(Lanes<T>::Constant(T(0)), x + i);
  for (; i < n; ++i) x[i] = T(0);
}

/// The 6 x 6 block of a free joint: [m 1, -[h]x; [h]x, tr(S) 1 - S].
template <typename T>
LIMB_INLINE void write_free_block(const typename WorkspaceData<T>::Composite& c, T* M,
                                  Eigen::Index stride) {
  const T &m = c.m, o = T(0);
  const Vec3<T>& h = c.h;
  const T columns[6][6] = {{m, o, o, o, h.z, -h.y},
                           {o, m, o, -h.z, o, h.x},
                           {o, o, m, h.y, -h.x, o},
                           {o, -h.z, h.y, c.yy + c.zz, -c.xy, -c.xz},
                           {h.z, o, -h.x, -c.xy, c.xx + c.zz, -c.yz},
                           {-h.y, h.x, o, -c.xz, -c.yz, c.xx + c.yy}};
  for (int k = 0; k < 6; ++k, M += stride) {
    for (int r = 0; r < 6; ++r) M[r] = columns[k][r];
  }
}

/// Mass matrix on the canonical model, after update_joint_transforms(). M has nv columns, `stride`
/// apart.
///
/// Each velocity of a subtree has a column of force in the arrays. Each joint reads the entries of
/// its rows from them, then transforms the columns of its subtree to the parent, four at a time.
template <typename T>
void crba(const Canonical<T>& robot, WorkspaceData<T>& work, T* M, Eigen::Index stride) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const Forces<T> F = {work.force[0].data(), work.force[1].data(), work.force[2].data(),
                       work.force[3].data(), work.force[4].data(), work.force[5].data()};
  typename WorkspaceData<T>::Composite* const composites = work.composites.data();
  const int* const slot = robot.slot.data();
  const size_t n = robot.joints.size();
  for (std::vector<T>& component : work.force) clear(component.data(), robot.slots);
  if (stride == robot.nv) {
    clear(M, stride * robot.nv);
  } else {
    for (int c = 0; c < robot.nv; ++c) clear(M + c * stride, robot.nv);
  }
  for (size_t i = 1; i < n; ++i) composites[i] = link_composite(robot.joints[i]);
  // From the leaves: children follow their parents in the list.
  const CanonicalJoint<T>* joint = robot.joints.data() + n;
  for (size_t j = n; j-- > 1;) {
    --joint;
    if (joint->kind == Kind::revolute) {
      const LinearAngular<T> column = unit_force(*joint, composites[j], 0);
      write_entries(F.nz, slot, joint->v, joint->v + 1, joint->v_end, M, stride);
      M[joint->v * (stride + 1)] = column.angular.z;
      if (joint->parent == 0) continue;
      const T c = work.cosine[j], s = work.sine[j];
      add_composite<T>(rotated_to_parent(*joint, j, work), vec3(joint->p),
                       composites[joint->parent]);
      propagate_forces_revolute(*joint, F, column, c, s);
      continue;
    }
    if (joint->kind == Kind::free && joint->parent == 0) {  // most floating robots
      const T* const components[] = {F.fx, F.fy, F.fz, F.nx, F.ny, F.nz};
      for (int k = 0; k < 6; ++k) {
        write_entries(components[k], slot, joint->v + k, joint->v + 6, joint->v_end, M, stride);
      }
      write_free_block(composites[j], M + joint->v * (stride + 1), stride);
      continue;
    }
    const int count = dof_count(*joint);
    for (int k = 0; k < count; ++k) {
      const LinearAngular<T> column = unit_force(*joint, composites[j], k);
      F.fx[joint->slot + k] = column.linear.x;
      F.fy[joint->slot + k] = column.linear.y;
      F.fz[joint->slot + k] = column.linear.z;
      F.nx[joint->slot + k] = column.angular.x;
      F.ny[joint->slot + k] = column.angular.y;
      F.nz[joint->slot + k] = column.angular.z;
    }
    constexpr int kAxisComponent[6][6] = {{5}, {2}, {5}, {0, 1, 5}, {3, 4, 5}, {0, 1, 2, 3, 4, 5}};
    for (int k = 0; k < count; ++k) {
      const T* component = work.force[kAxisComponent[static_cast<int>(joint->kind)][k]].data();
      if (joint->kind == Kind::helical) {  // S^T F = n_z + pitch f_z
        for (int x = joint->slot; x < joint->slot_end; ++x) {
          work.screw[static_cast<size_t>(x)] = F.nz[x] + joint->pitch * F.fz[x];
        }
        component = work.screw.data();
      }
      write_entries(component, slot, joint->v + k, joint->v + k, joint->v_end, M, stride);
    }
    if (joint->parent == 0) continue;
    add_composite<T>(rotated_to_parent(*joint, j, work), work.p[j], composites[joint->parent]);
    propagate_forces_general(*joint, F, work.R[j], work.p[j]);
  }
}

/// reduced = G^T M G, the mass matrix in the coordinates of a model with couplings.
template <typename T>
void reduce_mass_matrix(const Coupling<T>& coupling, const MatrixX<T>& M, MatrixOut<T>& reduced) {
  for (int c = 0; c < coupling.ny_v(); ++c) {
    for (int r = 0; r < coupling.ny_v(); ++r) reduced(r, c) = T(0);
  }
  const auto each = [&](const auto& visit) {
    for (const auto& row : coupling.rows()) {
      for (size_t k = 0; k < row.terms.size(); ++k) {
        visit(row.yq >= 0 ? row.v + static_cast<int>(k) : row.v, row.terms[k].y,
              row.terms[k].ratio);
      }
    }
  };
  each([&](int v, int y, const T& ratio) {
    each([&](int v2, int y2, const T& ratio2) { reduced(y, y2) += ratio * ratio2 * M(v, v2); });
  });
}

}  // namespace kernel

template <typename T>
void crba(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, MatrixOut<T> M,
          const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("crba", model);
  check_position("crba", "q", model, q);
  check_shape("crba", "M", M.rows(), M.cols(), model.nv(), model.nv());
  const Canonical<T>& robot = model.canonical();
  kernel::update_joint_transforms(robot, kernel::joint_position(model, q, work), work);
  const bool coupled = !model.coupling().is_identity();
  T* joint_M = coupled ? work.M.data() : M.data();
  const Eigen::Index stride = coupled ? work.M.outerStride() : M.outerStride();
  kernel::crba(robot, work, joint_M, stride);
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) joint_M[i * (stride + 1)] += robot.armature[i];
  }
  if (coupled) kernel::reduce_mass_matrix(model.coupling(), work.M, M);
}

}  // namespace limb
