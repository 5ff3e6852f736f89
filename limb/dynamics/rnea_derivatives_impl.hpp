#pragma once

#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/derivative_entries_impl.hpp"
#include "limb/dynamics/rnea_derivatives.hpp"

namespace limb {
namespace kernel {

/// Of the rigid bodies, after place().
template <bool kExternal, bool kFloating, typename T>
void walk_derivatives(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                      const T* a, const DerivativeOut<true, T> out) {
  using Work = DerivativeWorkspace<T>;
  Base<T> base;
  begin_at_root<kExternal, kFloating>(robot, work, v, a, base);
  typename Work::Seen* const seen = work.seen.data();
  stand_all(robot, work);
  const typename Work::Bunch* const bunches = work.bunches.data();
  const int n = static_cast<int>(work.bunches.size());
  for (int i = 1; i < n; ++i) {
    const typename Work::Bunch& bunch = bunches[i];
    const int level = bunch.level;
    reach<kExternal, true>(work, bunch, seen[level - 1], v, a, seen[level]);
    // Each limb is closed before the next begins, so that one place a level is enough.
    const int next = i + 1 < n ? bunches[i + 1].parent : 0;
    for (int j = i; j != next; j = bunches[j].parent) {
      const typename Work::Bunch& done = bunches[j];
      typename Work::Seen& b = seen[done.level];
      gather_carried<Work::kSums>(done.children, b.x + Work::kInertia,
                                  seen[done.level + 1].x + Work::kInertia, b.carried,
                                  done.parent > 0 ? bunches[done.parent].children == 1 : !kFloating,
                                  seen[done.level - 1].carried);
      close<kFloating>(
          work, j, [&](const auto& bunch_at) -> auto& { return seen[bunch_at.level]; }, base, out);
    }
  }
  if constexpr (kFloating) {
    add_carried(seen[0].carried, base.weight);
    close_floating(base, out);
  }
}

template <bool kExternal, typename T>
void rnea_derivatives(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                      const T* a, const DerivativeOut<true, T>& out) {
  if (work.floating) {
    walk_derivatives<kExternal, true>(robot, work, v, a, out);
  } else {
    walk_derivatives<kExternal, false>(robot, work, v, a, out);
  }
}

template <bool kMass, typename T>
void add_drive_derivatives(const Canonical<T>& robot, const JointEffects& effects,
                           const DerivativeOut<kMass, T>& out) {
  const Eigen::Index next = out.stride + 1;
  if (kMass && effects.armature && robot.has_armature) {
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
    const DerivativeOut<true, T> out = {dq.data(), dv.data(), da.data(), dq.outerStride()};
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
