#pragma once

#include "limb/dynamics/rnea_derivatives.hpp"
#include "limb/dynamics/seen_from_root_impl.hpp"

namespace limb {
namespace kernel {

/// Where entry (row, column) of the three results stands.
template <typename T>
struct DerivativeOut {
  T *dq, *dv, *da;
  Eigen::Index row, column;  ///< distance of neighbours in a column, in a row
};

template <typename T>
LIMB_INLINE void put_three(T* out, Eigen::Index distance, const Triple<T>& x) {
  out[0] = x.x;
  out[distance] = x.y;
  out[2 * distance] = x.z;
}
/// Force before moment.
template <typename T>
LIMB_INLINE void put_six(T* out, Eigen::Index distance, const Triple<T>& f, const Triple<T>& n) {
  put_three(out, distance, f);
  put_three(out + 3 * distance, distance, n);
}

/// Entries of velocity i with the six of a floating base, whose axes are those of the root:
/// products with them are components.
template <typename T>
LIMB_INLINE void close_base(int i, const Seen<T>& world, const Seen<T>& base, const Pair<T>& IS,
                            const Triple<T>& BS, const Pair<T>& q_F, const Pair<T>& v_F,
                            const DerivativeOut<T>& out) {
  const T o = T(0);
  const Eigen::Index row = i * out.row, column = i * out.column;
  put_six(out.dq + row, out.column, {o, o, o}, cross(IS.linear, world.a));
  put_six(out.dv + row, out.column, cross(IS.linear, base.w),
          add_cross(add_cross(BS, IS.angular, base.w), IS.linear, base.v));
  put_six(out.da + row, out.column, IS.linear, IS.angular);
  put_six(out.dq + column, out.row, q_F.linear, q_F.angular);
  put_six(out.dv + column, out.row, v_F.linear, v_F.angular);
  put_six(out.da + column, out.row, IS.linear, IS.angular);
}

/// Entries of the floating base's velocities with each other.
template <typename T>
void close_floating(const Seen<T>& world, const Seen<T>& base, const DerivativeOut<T>& out) {
  const T o = T(0), one = T(1);
  const Triple<T> axes[3] = {{one, o, o}, {o, one, o}, {o, o, one}}, none = {o, o, o};
  for (int k = 0; k < 3; ++k) {
    const Eigen::Index linear = k * out.column, angular = (3 + k) * out.column;
    const Triple<T>& e = axes[k];
    const Triple<T> turned = cross(base.w, e);
    put_six(out.dq + linear, out.row, none, none);
    const Pair<T> fallen = inertia_times<T>(base.I, none, cross(world.a, e));
    put_six(out.dq + angular, out.row, fallen.linear, fallen.angular);
    const Pair<T> carried = inertia_times<T>(base.I, none, turned);
    put_six(out.dv + linear, out.row, carried.linear, carried.angular);
    const Pair<T> spun = inertia_times<T>(base.I, turned, cross(base.v, e));
    put_six(out.dv + angular, out.row, spun.linear + twice(cross(e, base.P)),
            spun.angular + twice(product_moment(base.Q, e)));
    const Pair<T> pushed = inertia_times<T>(base.I, none, e);
    put_six(out.da + linear, out.row, pushed.linear, pushed.angular);
    const Pair<T> twisted = inertia_times<T>(base.I, e, none);
    put_six(out.da + angular, out.row, twisted.linear, twisted.angular);
  }
}

/// Entries of the pairs of the step's velocities with all before them on its way.
template <bool kFloating, typename T>
LIMB_INLINE void close(const CanonicalStep<T>& step, int place, const Seen<T>& b,
                       DerivativeWorkspace<T>& work, const DerivativeOut<T>& out) {
  using Work = DerivativeWorkspace<T>;
  const int* const way_v = work.way_v.data();
  const int count = step.kind == CanonicalStep<T>::Kind::revolute ? 1 : freedoms(step);
  const int end = place + count;
  for (int k = 0; k < count; ++k) {
    const int i = step.v + k;
    const T* const own = column_at(work, place + k);
    const Triple<T> z = get(own, Work::kAngular), l = get(own, Work::kLinear);
    const Triple<T> rate = get(own, Work::kRate);
    const Pair<T> IS = inertia_times<T>(b.I, z, l);
    const Triple<T> BS = twice(product_transposed(b.Q, b.P, z, l));
    // What the ancestors feel of a change of this coordinate and of this velocity.
    const Pair<T> bent = inertia_times<T>(b.I, get(own, Work::kBend), get(own, Work::kBend + 3));
    const Triple<T> q_n =
        add_cross(add_cross(bent.angular + twice(product_moment(b.Q, rate)), z, b.n), l, b.f);
    const Triple<T> q_f = add_cross(bent.linear + twice(cross(rate, b.P)), z, b.f);
    const Pair<T> summed = inertia_times<T>(b.I, get(own, Work::kSum), get(own, Work::kSum + 3));
    const Triple<T> v_n = summed.angular + twice(product_moment(b.Q, z));
    const Triple<T> v_f = summed.linear + twice(cross(z, b.P));
    if constexpr (kFloating) {
      close_base(i, work.steps[0], work.steps[1], IS, BS, {q_f, q_n}, {v_f, v_n}, out);
    }
    const T* way = work.way.data();
    const Eigen::Index row = i * out.row, column = i * out.column;
    for (int e = 0; e < end; e += 4, way += Work::kBlock) {
      const auto dot = [&](int component, const Triple<T>& x) __attribute__((always_inline)) {
        const T* at = way + 4 * component;
        return Lanes<T>(load(at) * x.x + load(at + 4) * x.y + load(at + 8) * x.z);
      };
      T row_q[4], row_v[4], row_a[4], column_q[4], column_v[4];
      store<T>(
          dot(Work::kRate, BS) + dot(Work::kBend, IS.angular) + dot(Work::kBend + 3, IS.linear),
          row_q);
      store<T>(
          dot(Work::kAngular, BS) + dot(Work::kSum, IS.angular) + dot(Work::kSum + 3, IS.linear),
          row_v);
      store<T>(dot(Work::kAngular, IS.angular) + dot(Work::kLinear, IS.linear), row_a);
      store<T>(dot(Work::kAngular, q_n) + dot(Work::kLinear, q_f), column_q);
      store<T>(dot(Work::kAngular, v_n) + dot(Work::kLinear, v_f), column_v);
      const int before = std::min(place - e, 4), all = std::min(end - e, 4);
      for (int m = 0; m < all; ++m) {
        const Eigen::Index to = row + way_v[e + m] * out.column;
        out.dq[to] = row_q[m];
        out.dv[to] = row_v[m];
        out.da[to] = row_a[m];
      }
      // Among the step's own velocities only rows: their axes turn with the body.
      for (int m = 0; m < before; ++m) {
        const Eigen::Index from = way_v[e + m] * out.row + column;
        out.dq[from] = column_q[m];
        out.dv[from] = column_v[m];
        out.da[from] = row_a[m];
      }
    }
  }
}

/// Adds what a closed step carries to its parent.
template <typename T>
LIMB_INLINE void hand_on(const Seen<T>& b, Seen<T>& parent) {
  auto& I = parent.I;
  I.m = I.m + b.I.m;
  I.h = I.h + b.I.h;
  I.xx = I.xx + b.I.xx;
  I.xy = I.xy + b.I.xy;
  I.xz = I.xz + b.I.xz;
  I.yy = I.yy + b.I.yy;
  I.yz = I.yz + b.I.yz;
  I.zz = I.zz + b.I.zz;
  for (int k = 0; k < 9; ++k) parent.Q[k] = parent.Q[k] + b.Q[k];
  parent.P = parent.P + b.P;
  parent.n = parent.n + b.n;
  parent.f = parent.f + b.f;
}

/// Of the rigid bodies, after place(). Entries of pairs on no common way are left as they are.
template <bool kExternal, bool kFloating, typename T>
void walk_derivatives(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                      const T* a, const DerivativeOut<T>& out) {
  const T o = T(0), one = T(1);
  const size_t n = robot.steps.size();
  Seen<T>* const seen = work.steps.data();
  Seen<T>& world = seen[0];
  world.x = {one, o, o};
  world.y = {o, one, o};
  world.z = {o, o, one};
  world.r = world.w = world.v = world.wd = {o, o, o};
  world.a = scaled(T(-1), triple(robot.gravity));
  constexpr int kRoot = kFloating ? 1 : 0;
  if constexpr (kFloating) {
    Seen<T>& base = seen[1];
    world.a = transpose_product(work.tree.R[1], world.a);
    base = world;
    base.v = {v[0], v[1], v[2]};
    base.w = {v[3], v[4], v[5]};
    base.a = world.a + Triple<T>{a[0], a[1], a[2]};
    base.wd = {a[3], a[4], a[5]};
    weigh<kExternal>(robot.steps[1], 1, work.tree, base);
  }
  for (size_t i = kRoot + 1; i < n; ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    const Seen<T>& parent = seen[step.parent];
    Seen<T>& b = seen[i];
    see(step, i, work.tree, parent, b);
    move(step, work.place[i], parent, v + step.v, a + step.v, work, b);
    weigh<kExternal>(step, i, work.tree, b);
    // Each limb is closed before the next begins, while its way is the one in the arrays.
    const int next = i + 1 < n ? robot.steps[i + 1].parent : kRoot;
    for (int j = static_cast<int>(i); j != next; j = robot.steps[static_cast<size_t>(j)].parent) {
      const CanonicalStep<T>& done = robot.steps[static_cast<size_t>(j)];
      close<kFloating>(done, work.place[static_cast<size_t>(j)], seen[j], work, out);
      if (done.parent != 0) hand_on<T>(seen[j], seen[done.parent]);
    }
  }
  if constexpr (kFloating) close_floating<T>(world, seen[1], out);
}

template <bool kExternal, typename T>
void rnea_derivatives(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                      const T* a, const DerivativeOut<T>& out) {
  if (work.floating) {
    walk_derivatives<kExternal, true>(robot, work, v, a, out);
  } else {
    walk_derivatives<kExternal, false>(robot, work, v, a, out);
  }
}

template <typename T>
void add_drive_derivatives(const Canonical<T>& robot, const JointEffects& effects,
                           const DerivativeOut<T>& out) {
  const Eigen::Index next = out.row + out.column;
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) out.da[i * next] += robot.armature[i];
  }
  if (effects.damping && robot.has_damping) {
    for (int i = 0; i < robot.nv; ++i) out.dv[i * next] += robot.damping[i];
  }
}

/// The whole, in the robot's own coordinates; q is placed here.
template <bool kExternal, typename T>
void inverse_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  const JointEffects& effects, MatrixOut<T>& dtau_dq,
                                  MatrixOut<T>& dtau_dv, MatrixOut<T>& dtau_da) {
  const Canonical<T>& robot = model.canonical();
  Workspace<T>& tree = work.tree;
  place(robot, joint_position(model, q, tree), tree);
  const T* joint_v = joint_velocity(model, v, tree.v);
  const T* joint_a = joint_velocity(model, a, tree.a);
  const auto run = [&](auto& dq, auto& dv, auto& da) {
    const bool whole = dq.outerStride() == robot.nv;
    for (int c = 0; c < (whole ? 1 : robot.nv); ++c) {
      const Eigen::Index count = whole ? robot.nv * robot.nv : robot.nv;
      clear(dq.data() + c * dq.outerStride(), count);
      clear(dv.data() + c * dv.outerStride(), count);
      clear(da.data() + c * da.outerStride(), count);
    }
    const DerivativeOut<T> out = {dq.data(), dv.data(), da.data(), 1, dq.outerStride()};
    rnea_derivatives<kExternal>(robot, work, joint_v, joint_a, out);
    add_drive_derivatives(robot, effects, out);
  };
  if (!model.coupling().is_identity()) {
    run(work.dq, work.dv, work.da);
    reduce_mass_matrix(model.coupling(), work.dq, dtau_dq);
    reduce_mass_matrix(model.coupling(), work.dv, dtau_dv);
    reduce_mass_matrix(model.coupling(), work.da, dtau_da);
  } else if (dtau_dq.outerStride() == dtau_dv.outerStride() &&
             dtau_dq.outerStride() == dtau_da.outerStride()) {
    run(dtau_dq, dtau_dv, dtau_da);
  } else {
    run(work.own_q, work.own_v, work.own_a);
    dtau_dq = work.own_q;
    dtau_dv = work.own_v;
    dtau_da = work.own_a;
  }
}

template <typename T>
void check_derivatives(const char* call, const Model<T>& model, const DerivativeWorkspace<T>& work,
                       const char* const (&names)[3], const MatrixOut<T>& first,
                       const MatrixOut<T>& second, const MatrixOut<T>& third) {
  work.tree.check(call, model);
  const int n = model.velocity_size();
  check_shape(call, names[0], first.rows(), first.cols(), n, n);
  check_shape(call, names[1], second.rows(), second.cols(), n, n);
  check_shape(call, names[2], third.rows(), third.cols(), n, n);
}

}  // namespace kernel

template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, MatrixOut<T> dtau_dq, MatrixOut<T> dtau_dv,
                      MatrixOut<T> dtau_da, const JointEffects& effects) {
  constexpr const char* kCall = "rnea_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  kernel::check_derivatives<T>(kCall, model, work, {"dtau_dq", "dtau_dv", "dtau_da"}, dtau_dq,
                               dtau_dv, dtau_da);
  kernel::inverse_dynamics_derivatives<false, T>(model, work, q, v, a, effects, dtau_dq, dtau_dv,
                                                 dtau_da);
}

template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, MatrixOut<T> dtau_dq,
                      MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da, const JointEffects& effects) {
  constexpr const char* kCall = "rnea_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  kernel::check_derivatives<T>(kCall, model, work, {"dtau_dq", "dtau_dv", "dtau_da"}, dtau_dq,
                               dtau_dv, dtau_da);
  kernel::set_external<T>(kCall, model, work.tree, external);
  kernel::inverse_dynamics_derivatives<true, T>(model, work, q, v, a, effects, dtau_dq, dtau_dv,
                                                dtau_da);
}

}  // namespace limb
