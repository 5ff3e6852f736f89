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
    const T &cosine = work.cosine[i], &sine = work.sine[i];
    c.h = product(work.R[i], c.h);
    turn_symmetric(c.xx, c.xy, c.yy, cosine, sine);
    turn(c.xz, c.yz, cosine, sine);
    turn_symmetric(c.yy, c.yz, c.zz, step.cos_alpha, step.sin_alpha);
    turn(c.xy, c.xz, step.cos_alpha, step.sin_alpha);
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

/// Four neighbours of the force arrays at once. Lanes beyond the last velocity hold numbers that
/// nobody reads.
inline constexpr int kFour = 4;

template <typename T>
using Lanes = Eigen::Array<T, kFour, 1>;

template <typename T>
LIMB_INLINE Lanes<T> lanes(const std::vector<T>& x, int v) {
  return Eigen::Map<const Lanes<T>>(x.data() + v);
}

/// The forces of velocities [begin, end), all carried by step i, in axes and origin of its parent.
template <typename T>
LIMB_INLINE void carry_forces(const CanonicalStep<T>& step, size_t i, Workspace<T>& work) {
  auto& F = work.force;
  const bool revolute = step.kind == CanonicalStep<T>::Kind::revolute;
  const Triple<T> p = revolute ? triple(step.p) : work.p[i];
  const T &c = work.cosine[i], &s = work.sine[i];
  for (int v = step.v; v < step.v_end; v += kFour) {
    Triple<Lanes<T>> f = {lanes(F[0], v), lanes(F[1], v), lanes(F[2], v)};
    Triple<Lanes<T>> n = {lanes(F[3], v), lanes(F[4], v), lanes(F[5], v)};
    if (revolute) {
      turn(f.x, f.y, c, s);
      turn(n.x, n.y, c, s);
      turn(f.y, f.z, step.cos_alpha, step.sin_alpha);
      turn(n.y, n.z, step.cos_alpha, step.sin_alpha);
      if (step.has_gamma) {
        turn(f.x, f.y, step.cos_gamma, step.sin_gamma);
        turn(n.x, n.y, step.cos_gamma, step.sin_gamma);
      }
    } else {
      const Matrix3<T>& R = work.R[i];
      const auto turned = [&](const Triple<Lanes<T>>& x) -> Triple<Lanes<T>> {
        return {R(0, 0) * x.x + R(0, 1) * x.y + R(0, 2) * x.z,
                R(1, 0) * x.x + R(1, 1) * x.y + R(1, 2) * x.z,
                R(2, 0) * x.x + R(2, 1) * x.y + R(2, 2) * x.z};
      };
      f = turned(f);
      n = turned(n);
    }
    n.x += p.y * f.z - p.z * f.y;
    n.y += p.z * f.x - p.x * f.z;
    n.z += p.x * f.y - p.y * f.x;
    const auto store = [&](int k, const Lanes<T>& x) { Eigen::Map<Lanes<T>>(F[k].data() + v) = x; };
    store(0, f.x);
    store(1, f.y);
    store(2, f.z);
    store(3, n.x);
    store(4, n.y);
    store(5, n.z);
  }
}

/// Row r of M from column `begin` on, as the part of the forces that freedom k of the step feels.
template <typename T>
LIMB_INLINE const T* felt(const CanonicalStep<T>& step, int k, const Workspace<T>& work) {
  using Kind = typename CanonicalStep<T>::Kind;
  constexpr int kComponent[6][6] = {{5}, {2}, {5}, {0, 1, 5}, {3, 4, 5}, {0, 1, 2, 3, 4, 5}};
  static_assert(static_cast<int>(Kind::revolute) == 0 && static_cast<int>(Kind::free) == 5);
  return work.force[kComponent[static_cast<int>(step.kind)][k]].data();
}

/// Mass matrix on the canonical model, after place(). M has nv columns, `stride` apart.
///
/// Each velocity of a subtree has a column of force in the arrays; closing a step reads the entries
/// of its row, then carries the columns of its whole subtree to the parent, four at a time.
template <typename T>
void crba(const Canonical<T>& robot, Workspace<T>& work, T* M, Eigen::Index stride) {
  for (size_t i = 1; i < robot.steps.size(); ++i) {
    work.composites[i] = own_mass(robot.steps[i]);
    close(robot, i, [&](size_t j) {
      const CanonicalStep<T>& step = robot.steps[j];
      const int count = freedoms(step);
      for (int k = 0; k < count; ++k) {
        const Pair<T> F = unit_force(step, work.composites[j], k);
        const size_t v = static_cast<size_t>(step.v + k);
        work.force[0][v] = F.linear.x;
        work.force[1][v] = F.linear.y;
        work.force[2][v] = F.linear.z;
        work.force[3][v] = F.angular.x;
        work.force[4][v] = F.angular.y;
        work.force[5][v] = F.angular.z;
      }
      for (int k = 0; k < count; ++k) {
        const T* row = felt(step, k, work);
        T* column = M + (step.v + k) * stride;
        if (step.kind == CanonicalStep<T>::Kind::helical) {
          const T* f = work.force[2].data();
          for (int v = step.v; v < step.v_end; ++v) column[v] = row[v] + step.pitch * f[v];
        } else {
          for (int v = step.v + k; v < step.v_end; ++v) column[v] = row[v];
        }
        for (int v = step.v_end; v < robot.nv; ++v) column[v] = T(0);
      }
      if (step.parent > 0) {
        add_composite<T>(turned(step, j, work),
                         step.kind == CanonicalStep<T>::Kind::revolute ? triple(step.p) : work.p[j],
                         work.composites[static_cast<size_t>(step.parent)]);
        carry_forces(step, j, work);
      }
    });
  }
  for (int c = 0; c < robot.nv; ++c) {
    for (int r = c + 1; r < robot.nv; ++r) M[c + r * stride] = M[r + c * stride];
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
