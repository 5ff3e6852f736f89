#pragma once

#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/rnea_impl.hpp"

namespace limb {
namespace kernel {

/// A step's own mass as the beginning of its composite.
template <typename T>
LIMB_INLINE typename Workspace<T>::Composite own_mass(const CanonicalStep<T>& step) {
  const Matrix3<T>& S = step.second_moments;
  return {step.mass, triple(step.first_moment), S(0, 0), S(1, 0), S(2, 0), S(1, 1), S(2, 1),
          S(2, 2)};
}

/// Adds a composite, seen in the parent's axes but about its own origin p, to the parent's:
/// h += e, S += S' + p e^T + h' p^T with e = h' + m p.
template <typename T>
LIMB_INLINE void add_composite(const typename Workspace<T>::Composite& c, const Triple<T>& p,
                               typename Workspace<T>::Composite& parent) {
  const Triple<T>& h = c.h;
  const Triple<T> e = {h.x + c.m * p.x, h.y + c.m * p.y, h.z + c.m * p.z};
  parent.xx = parent.xx + (c.xx + p.x * (e.x + h.x));
  parent.yy = parent.yy + (c.yy + p.y * (e.y + h.y));
  parent.zz = parent.zz + (c.zz + p.z * (e.z + h.z));
  parent.xy = parent.xy + (c.xy + p.x * e.y + p.y * h.x);
  parent.xz = parent.xz + (c.xz + p.x * e.z + p.z * h.x);
  parent.yz = parent.yz + (c.yz + p.y * e.z + p.z * h.y);
  parent.h = parent.h + e;
  parent.m = parent.m + c.m;
}

/// The composite of a step, turned into the parent's axes.
template <typename T>
LIMB_INLINE typename Workspace<T>::Composite turned(const CanonicalStep<T>& step, size_t i,
                                                    const Workspace<T>& work) {
  typename Workspace<T>::Composite c = work.composites[i];
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    const T cosine = work.cosine[i], sine = work.sine[i];
    with_alpha(
        step, [&](const auto& alpha) __attribute__((always_inline)) {
          c.h = to_parent(step, alpha, cosine, sine, c.h);
          turn_symmetric(c.xx, c.xy, c.yy, cosine, sine);
          turn(c.xz, c.yz, cosine, sine);
          alpha.symmetric(c.yy, c.yz, c.zz);
          alpha(c.xy, c.xz);
        });
    if (step.has_gamma) {
      turn_symmetric(c.xx, c.xy, c.yy, step.cos_gamma, step.sin_gamma);
      turn(c.xz, c.yz, step.cos_gamma, step.sin_gamma);
    }
    return c;
  }
  const Matrix3<T>& R = work.R[i];
  c.h = product(R, c.h);
  // R S R^T by rows: first R S, then its products with the rows of R.
  const Triple<T> x = product(R, Triple<T>{c.xx, c.xy, c.xz});
  const Triple<T> y = product(R, Triple<T>{c.xy, c.yy, c.yz});
  const Triple<T> z = product(R, Triple<T>{c.xz, c.yz, c.zz});
  const Triple<T> first = product(R, Triple<T>{x.x, y.x, z.x});
  const Triple<T> second = product(R, Triple<T>{x.y, y.y, z.y});
  const Triple<T> third = product(R, Triple<T>{x.z, y.z, z.z});
  c.xx = first.x;
  c.xy = first.y;
  c.xz = first.z;
  c.yy = second.y;
  c.yz = second.z;
  c.zz = third.z;
  return c;
}

/// Force and moment that accelerate the composite by a unit of the step's freedom k.
template <typename T>
LIMB_INLINE Pair<T> unit_force(const CanonicalStep<T>& step,
                               const typename Workspace<T>::Composite& c, int k) {
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    return {{-c.h.y, c.h.x, T(0)}, {-c.xz, -c.yz, c.xx + c.yy}};
  }
  T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
  unit[k] = T(1);
  const Pair<T> A = motion_of(step, unit);
  const Triple<T>&a = A.linear, &wd = A.angular;
  const Triple<T> f = add_cross({c.m * a.x, c.m * a.y, c.m * a.z}, wd, c.h);
  const Triple<T> turned = {
      (c.yy + c.zz) * wd.x - c.xy * wd.y - c.xz * wd.z,
      (c.xx + c.zz) * wd.y - c.xy * wd.x - c.yz * wd.z,
      (c.xx + c.yy) * wd.z - c.xz * wd.x - c.yz * wd.y,
  };
  return {f, add_cross(turned, c.h, a)};
}

/// Four neighbours of the force arrays at once.
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

/// The six force arrays.
template <typename T>
struct Forces {
  T *fx, *fy, *fz, *nx, *ny, *nz;
};

/// Carries the forces of four slots to the parent. kInsert: first puts `own` into the lane that
/// `unit` marks with 1; lanes of steps not reached yet hold numbers that nobody reads.
template <bool kInsert, typename T, typename Turned>
LIMB_INLINE void carry_four(const Forces<T>& F, int slot, const Pair<T>& own, const Lanes<T>& unit,
                            const Turned& turned, const Triple<T>& p) {
  Triple<Lanes<T>> f = {load(F.fx + slot), load(F.fy + slot), load(F.fz + slot)};
  Triple<Lanes<T>> n = {load(F.nx + slot), load(F.ny + slot), load(F.nz + slot)};
  if constexpr (kInsert) {
    // By sums, because a store of one number followed by a load of four would wait for memory.
    const Lanes<T> keep = T(1) - unit;
    f.x = f.x * keep + unit * own.linear.x;
    f.y = f.y * keep + unit * own.linear.y;
    f.z = f.z * keep + unit * own.linear.z;
    n.x = n.x * keep + unit * own.angular.x;
    n.y = n.y * keep + unit * own.angular.y;
    n.z = n.z * keep + unit * own.angular.z;
  }
  turned(f);
  turned(n);
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

/// The forces of all slots that a step of one freedom carries, its own new one included.
template <typename T, typename Turned>
LIMB_INLINE void carry(const CanonicalStep<T>& step, const Forces<T>& F, const Pair<T>& own,
                       const Turned& turned, const Triple<T>& p) {
  static const T kUnit[4][4] = {{T(1), T(0), T(0), T(0)},
                                {T(0), T(1), T(0), T(0)},
                                {T(0), T(0), T(1), T(0)},
                                {T(0), T(0), T(0), T(1)}};
  const Lanes<T> unit = load(kUnit[step.slot % 4]);
  int slot = step.slot / 4 * 4;
  carry_four<true>(F, slot, own, unit, turned, p);
  for (slot += 4; slot < step.slot_end; slot += 4) {
    carry_four<false>(F, slot, own, unit, turned, p);
  }
}

/// To the parent, for a revolute step.
template <typename T>
LIMB_INLINE void carry_turning(const CanonicalStep<T>& step, const Forces<T>& F, const Pair<T>& own,
                               const T& c, const T& s) {
  with_alpha(
      step, [&](const auto& alpha) __attribute__((always_inline)) {
        carry(
            step, F, own,
            [&](Triple<Lanes<T>> & x) __attribute__((always_inline)) {
              turn(x.x, x.y, c, s);
              alpha(x.y, x.z);
              if (step.has_gamma) turn(x.x, x.y, step.cos_gamma, step.sin_gamma);
            },
            triple(step.p));
      });
}

/// To the parent, for any other step. Its own columns, several perhaps, stand in the arrays.
template <typename T>
inline void carry_general(const CanonicalStep<T>& step, const Forces<T>& F, const Matrix3<T>& R,
                          const Triple<T>& p) {
  for (int slot = step.slot; slot < step.slot_end; ++slot) {
    const Triple<T> f = product<T>(R, {F.fx[slot], F.fy[slot], F.fz[slot]});
    const Triple<T> n = add_cross(product<T>(R, {F.nx[slot], F.ny[slot], F.nz[slot]}), p, f);
    F.fx[slot] = f.x;
    F.fy[slot] = f.y;
    F.fz[slot] = f.z;
    F.nx[slot] = n.x;
    F.ny[slot] = n.y;
    F.nz[slot] = n.z;
  }
}

/// Entries (v, c) and (c, v) of M for the velocities v in [begin, end), from the component of force
/// that velocity c feels.
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

/// The 6 x 6 block of a free step: [m 1, -[h]x; [h]x, tr(S) 1 - S].
template <typename T>
LIMB_INLINE void write_free_block(const typename Workspace<T>::Composite& c, T* M,
                                  Eigen::Index stride) {
  const T &m = c.m, o = T(0);
  const Triple<T>& h = c.h;
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

/// Mass matrix on the canonical model, after place(). M has nv columns, `stride` apart.
///
/// Each velocity of a subtree has a column of force in the arrays; closing a step reads the entries
/// of its row, then carries the columns of its whole subtree to the parent, four at a time.
template <typename T>
void crba(const Canonical<T>& robot, Workspace<T>& work, T* M, Eigen::Index stride) {
  using Kind = typename CanonicalStep<T>::Kind;
  const Forces<T> F = {work.force[0].data(), work.force[1].data(), work.force[2].data(),
                       work.force[3].data(), work.force[4].data(), work.force[5].data()};
  typename Workspace<T>::Composite* const composites = work.composites.data();
  const int* const slot = robot.slot.data();
  const size_t n = robot.steps.size();
  for (std::vector<T>& component : work.force) clear(component.data(), robot.slots);
  if (stride == robot.nv) {
    clear(M, stride * robot.nv);
  } else {
    for (int c = 0; c < robot.nv; ++c) clear(M + c * stride, robot.nv);
  }
  for (size_t i = 1; i < n; ++i) composites[i] = own_mass(robot.steps[i]);
  // Tips first: children stand behind their parents.
  const CanonicalStep<T>* step = robot.steps.data() + n;
  for (size_t j = n; j-- > 1;) {
    --step;
    if (step->kind == Kind::revolute) {
      const Pair<T> own = unit_force(*step, composites[j], 0);
      write_entries(F.nz, slot, step->v, step->v + 1, step->v_end, M, stride);
      M[step->v * (stride + 1)] = own.angular.z;
      if (step->parent == 0) continue;
      const T c = work.cosine[j], s = work.sine[j];
      add_composite<T>(turned(*step, j, work), triple(step->p), composites[step->parent]);
      carry_turning(*step, F, own, c, s);
      continue;
    }
    if (step->kind == Kind::free && step->parent == 0) {  // most floating robots
      const T* const components[] = {F.fx, F.fy, F.fz, F.nx, F.ny, F.nz};
      for (int k = 0; k < 6; ++k) {
        write_entries(components[k], slot, step->v + k, step->v + 6, step->v_end, M, stride);
      }
      write_free_block(composites[j], M + step->v * (stride + 1), stride);
      continue;
    }
    const int count = freedoms(*step);
    for (int k = 0; k < count; ++k) {
      const Pair<T> own = unit_force(*step, composites[j], k);
      F.fx[step->slot + k] = own.linear.x;
      F.fy[step->slot + k] = own.linear.y;
      F.fz[step->slot + k] = own.linear.z;
      F.nx[step->slot + k] = own.angular.x;
      F.ny[step->slot + k] = own.angular.y;
      F.nz[step->slot + k] = own.angular.z;
    }
    constexpr int kFelt[6][6] = {{5}, {2}, {5}, {0, 1, 5}, {3, 4, 5}, {0, 1, 2, 3, 4, 5}};
    for (int k = 0; k < count; ++k) {
      const T* component = work.force[kFelt[static_cast<int>(step->kind)][k]].data();
      if (step->kind == Kind::helical) {  // feels its moment and, by its pitch, its force
        for (int x = step->slot; x < step->slot_end; ++x) {
          work.screw[static_cast<size_t>(x)] = F.nz[x] + step->pitch * F.fz[x];
        }
        component = work.screw.data();
      }
      write_entries(component, slot, step->v + k, step->v + k, step->v_end, M, stride);
    }
    if (step->parent == 0) continue;
    add_composite<T>(turned(*step, j, work), work.p[j], composites[step->parent]);
    carry_general(*step, F, work.R[j], work.p[j]);
  }
}

/// M <- G^T M G, the mass matrix that the robot's own coordinates feel.
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
void crba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MatrixOut<T> M,
          const JointEffects& effects) {
  work.check("crba", model);
  check_position("crba", "q", model, q);
  check_shape("crba", "M", M.rows(), M.cols(), model.velocity_size(), model.velocity_size());
  const Canonical<T>& robot = model.canonical();
  kernel::place(robot, kernel::joint_position(model, q, work), work);
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
