#pragma once

#include <limits>

#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/rnea_derivatives_impl.hpp"

namespace limb {
namespace kernel {

/// Entries of the mass matrix of a bunch with all before it on its way, in the columns of the bunch
/// alone; and the torques that the forces behind its joints need.
template <bool kFloating, typename T>
LIMB_INLINE void close_mass(DerivativeWorkspace<T>& work, int number, T* M, Eigen::Index stride,
                            T* tau) {
  using Work = DerivativeWorkspace<T>;
  const auto& bunch = work.bunches[static_cast<size_t>(number)];
  auto& b = work.seen[static_cast<size_t>(number)];
  const Weight<Four<T>> weight = weight_of(b.x + Work::kInertia);
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const Pair<Four<T>> IS = inertia_times(weight.I, z, l);
  T(*const felt)[4] = b.x + Work::kFelt;
  put(IS.angular, felt);
  put(IS.linear, felt + 3);
  const auto inner = [](const auto& x, const auto& y) __attribute__((always_inline)) {
    return x.x * y.x + x.y * y.y + x.z * y.z;
  };
  store_some(inner(z, weight.n) + inner(l, weight.f), bunch.count, tau + bunch.v);
  T* const columns = M + bunch.v * stride;
  if constexpr (kFloating) write_six(felt, bunch.count, stride, columns);
  for (int j = number; j > 0; j = work.bunches[static_cast<size_t>(j)].parent) {
    const auto& before = work.bunches[static_cast<size_t>(j)];
    const auto& y = work.seen[static_cast<size_t>(j)].x;
    const auto z_j = get(y + Work::kAngular), l_j = get(y + Work::kLinear);
    for (int i = 0; i < bunch.count; ++i) {
      store_some(dot(felt, i, z_j) + dot(felt + 3, i, l_j), before.count,
                 columns + before.v + i * stride);
    }
  }
}

/// Mass matrix, upper triangle where entries are related, and torques at zero accelerations, after
/// place().
template <bool kExternal, bool kFloating, typename T>
void walk_mass(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v, Base<T>& base,
               T* M, Eigen::Index stride, T* tau) {
  using Work = DerivativeWorkspace<T>;
  begin_at_root<kExternal, kFloating>(robot, work, v, static_cast<const T*>(nullptr), base);
  stand_all(robot, work);
  typename Work::Seen* const seen = work.seen.data();
  const typename Work::Bunch* const bunches = work.bunches.data();
  const int n = static_cast<int>(work.bunches.size());
  for (int i = 1; i < n; ++i) {
    reach<kExternal, false>(work, bunches[i], seen[bunches[i].parent], v,
                            static_cast<const T*>(nullptr), seen[i]);
  }
  for (int i = n - 1; i > 0; --i) {
    const typename Work::Bunch& done = bunches[i];
    gather_carried<Work::kSums>(done.children, seen[i].x + Work::kInertia,
                                seen[i + 1].x + Work::kInertia, seen[i].carried,
                                done.parent > 0 ? bunches[done.parent].children == 1 : !kFloating,
                                seen[done.parent].carried);
    close_mass<kFloating>(work, i, M, stride, tau);
  }
  if constexpr (kFloating) {
    add_carried(seen[0].carried, base.weight);
    write_base_mass(base.weight.I, M, stride);
    const Triple<T>&f = base.weight.f, &m = base.weight.n;
    const T six[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    for (int k = 0; k < 6; ++k) tau[k] = six[k];
  }
}

/// Adds accelerations a to bunches that were reached without: what they bend, what they need. Where
/// velocities stood, the accelerations that a causes stand now.
template <typename T>
LIMB_INLINE void accelerate(const typename DerivativeWorkspace<T>::Bunch& bunch,
                            const typename DerivativeWorkspace<T>::Seen& parent, const T* a,
                            typename DerivativeWorkspace<T>::Seen& b) {
  using Work = DerivativeWorkspace<T>;
  using X = Triple<Four<T>>;
  const X z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const Behind<T> qdd = behind(a + bunch.v, bunch.count);
  X wd = sum_before(end_of(parent.x + Work::kMotion), b.x + Work::kAngular, qdd);
  X ac = sum_before(end_of(parent.x + Work::kMotion + 3), b.x + Work::kLinear, qdd);
  put(wd + scaled(qdd.own, z), b.x + Work::kMotion);
  put(ac + scaled(qdd.own, l), b.x + Work::kMotion + 3);
  // Force: I times what is before the lane, here; I S a of the lane and those behind it, later.
  const Pair<Four<T>> F = inertia_times(weight_of(b.x + Work::kInertia).I, wd, ac);
  put(get(b.x + Work::kForce) + F.angular, b.x + Work::kForce);
  put(get(b.x + Work::kForce + 3) + F.linear, b.x + Work::kForce + 3);
  put(scaled(qdd.own, get(b.x + Work::kFelt)), b.x + Work::kFelt);
  put(scaled(qdd.own, get(b.x + Work::kFelt + 3)), b.x + Work::kFelt + 3);
  if (bunch.several) {
    before_joint<T>(bunch, parent.wd_p, wd);
    before_joint<T>(bunch, parent.a_p, ac);
    b.wd_p = wd;
    b.a_p = ac;
  }
  put(add_cross(get(b.x + Work::kBend), wd, z), b.x + Work::kBend);
  put(add_cross(add_cross(get(b.x + Work::kBend + 3), wd, l), ac, z), b.x + Work::kBend + 3);
  if (bunch.children > 1) clear_sums(b.carried);
}

/// Derivatives by q and v, after walk_mass(), with the accelerations a.
template <bool kFloating, typename T>
void walk_accelerated(DerivativeWorkspace<T>& work, const T* a, Base<T>& base,
                      const DerivativeOut<false, T>& out) {
  using Work = DerivativeWorkspace<T>;
  typename Work::Seen* const seen = work.seen.data();
  const typename Work::Bunch* const bunches = work.bunches.data();
  const int n = static_cast<int>(work.bunches.size());
  const T o = T(0);
  T start[6] = {o, o, o, o, o, o};
  if constexpr (kFloating) {
    for (int k = 0; k < 3; ++k) {
      start[k] = a[3 + k];
      start[3 + k] = a[k];
    }
  }
  for (int k = 0; k < 6; ++k) seen[0].x[Work::kMotion + k][3] = start[k];
  clear_sums(seen[0].carried);
  for (int i = 1; i < n; ++i) accelerate<T>(bunches[i], seen[bunches[i].parent], a, seen[i]);
  for (int i = n - 1; i > 0; --i) {
    const typename Work::Bunch& done = bunches[i];
    typename Work::Seen& b = seen[i];
    gather_carried<6>(done.children, b.x + Work::kFelt, seen[i + 1].x + Work::kFelt, b.carried,
                      done.parent > 0 ? bunches[done.parent].children == 1 : !kFloating,
                      seen[done.parent].carried);
    for (int c = 0; c < 6; ++c) {
      store_four(load_four(b.x[Work::kForce + c]) + load_four(b.x[Work::kFelt + c]),
                 b.x[Work::kForce + c]);
    }
    close<kFloating>(
        work, i,
        [&](const auto& bunch) __attribute__((always_inline))->auto& {
          return seen[&bunch - bunches];
        },
        base, out);
  }
  if constexpr (kFloating) close_floating(base, out);
}

template <typename T>
int give_up(int singular, VectorOut<T>& a, MatrixOut<T>& first, MatrixOut<T>& second,
            MatrixOut<T>& third) {
  const T nan = T(std::numeric_limits<double>::quiet_NaN());
  a.setConstant(nan);
  first.setConstant(nan);
  second.setConstant(nan);
  third.setConstant(nan);
  return singular;
}

/// In the joints' coordinates M is full and may need its other triangle.
template <typename T>
void complete_mass(MatrixX<T>& M) {
  for (Eigen::Index c = 0; c < M.cols(); ++c) {
    for (Eigen::Index r = 0; r < c; ++r) M(c, r) = M(r, c);
  }
}

/// All of it, with the factor of M and the accelerations. @returns as aba_derivatives.
template <bool kExternal, bool kFloating, typename T>
int forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                 VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                 const JointEffects& effects, MatrixOut<T>& ddq_dq,
                                 MatrixOut<T>& ddq_dv, MatrixOut<T>& ddq_dtau) {
  const Canonical<T>& robot = model.canonical();
  const Coupling<T>& coupling = model.coupling();
  const bool coupled = !coupling.is_identity();
  const int n = model.velocity_size();
  Workspace<T>& tree = work.tree;
  MatrixX<T>& M = work.factor.room();
  place(robot, joint_position(model, q, tree), tree);
  const T* joint_v = joint_velocity(model, v, tree.v);

  // Mass matrix and torques without accelerations, then the accelerations.
  Base<T> base;
  MatrixX<T>& joint_M = coupled ? work.da : M;
  T* const bias = tree.tau.data();
  if (coupled) joint_M.setConstant(T(0));
  walk_mass<kExternal, kFloating>(robot, work, joint_v, base, joint_M.data(), joint_M.outerStride(),
                                  bias);
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) joint_M(i, i) += robot.armature[i];
  }
  add_friction_torques(robot, effects, joint_v, T(1), bias);
  if (coupled) {
    complete_mass(joint_M);
    MatrixOut<T> reduced = M;
    reduce_mass_matrix(coupling, joint_M, reduced);
    coupling.reduce_force(bias, work.a.data());
  }
  const int singular = factorize_mass<T>(model, M, work.factor);
  if (singular >= 0) return singular;
  const T* const own_bias = coupled ? work.a.data() : bias;
  for (int i = 0; i < n; ++i) work.rest[i] = tau[i] - own_bias[i];
  const PackedFactor<T>& F = work.factor.packed();
  BranchInverse<T>& inverse = work.inverse;
  invert(F, inverse);
  square(F, inverse);
  multiply_inverse(F, inverse, work.rest.data(), work.a.data());

  // Derivatives of inverse dynamics there, and what they make of accelerations.
  const T* joint_a = joint_velocity(model, work.a, tree.a);
  const auto run = [&](MatrixX<T>& dq, MatrixX<T>& dv) {
    const DerivativeOut<false, T> out = {dq.data(), dv.data(), nullptr, dq.outerStride()};
    walk_accelerated<kFloating>(work, joint_a, base, out);
    add_drive_derivatives(robot, effects, out);
  };
  if (coupled) {
    run(work.dq, work.dv);
    MatrixOut<T> own_q = work.own_q, own_v = work.own_v;
    reduce_mass_matrix(coupling, work.dq, own_q);
    reduce_mass_matrix(coupling, work.dv, own_v);
  } else {
    run(work.own_q, work.own_v);
  }
  multiply_inverse<T>(F, inverse, work.own_q.data(), work.own_v.data(), work.own_q.outerStride(),
                      ddq_dq.data(), ddq_dq.outerStride(), ddq_dv.data(), ddq_dv.outerStride());
  for (int c = 0; c < n; ++c) {
    const T* const from = inverse.numbers(inverse.inverse) + c * inverse.stride;
    T* const to = ddq_dtau.data() + c * ddq_dtau.outerStride();
    for (int r = 0; r < n; r += 4) store_some(load_four(from + r), std::min(n - r, 4), to + r);
  }
  return -1;
}

template <bool kExternal, typename T>
int forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                 VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                 const JointEffects& effects, VectorOut<T>& a, MatrixOut<T>& ddq_dq,
                                 MatrixOut<T>& ddq_dv, MatrixOut<T>& ddq_dtau) {
  const int singular = work.floating
                           ? forward_dynamics_derivatives<kExternal, true, T>(
                                 model, work, q, v, tau, effects, ddq_dq, ddq_dv, ddq_dtau)
                           : forward_dynamics_derivatives<kExternal, false, T>(
                                 model, work, q, v, tau, effects, ddq_dq, ddq_dv, ddq_dtau);
  if (singular >= 0) return give_up<T>(singular, a, ddq_dq, ddq_dv, ddq_dtau);
  a = work.a;
  return -1;
}

template <typename T>
void check_aba_derivatives(const Model<T>& model, const DerivativeWorkspace<T>& work,
                           VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, const VectorOut<T>& a,
                           const MatrixOut<T>& ddq_dq, const MatrixOut<T>& ddq_dv,
                           const MatrixOut<T>& ddq_dtau) {
  constexpr const char* kCall = "aba_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "tau", model, tau);
  check_velocity<T>(kCall, "a", model, a);
  check_derivatives<T>(kCall, model, work, {"ddq_dq", "ddq_dv", "ddq_dtau"}, ddq_dq, ddq_dv,
                       ddq_dtau);
}

/// Of a robot whose loops stay closed.
template <typename T, typename... External>
int closed_derivatives(const Model<T>& model, LoopDerivatives<T>& loops, VectorIn<T>& q,
                       VectorIn<T>& v, VectorIn<T>& tau, const JointEffects& effects,
                       VectorOut<T>& a, MatrixOut<T>& ddq_dq, MatrixOut<T>& ddq_dv,
                       MatrixOut<T>& ddq_dtau, const External&... external) {
  auto& result = loops.result;
  const int singular = constrained_derivatives<T>(model, loops.set, loops.work, q, v, tau,
                                                  external..., result, {effects})
                           .singular;
  a = result.a;
  ddq_dq = result.da_dq;
  ddq_dv = result.da_dv;
  ddq_dtau = result.da_dtau;
  return singular;
}

}  // namespace kernel

template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a, MatrixOut<T> ddq_dq,
                    MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau, const JointEffects& effects) {
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, ddq_dq, ddq_dv, ddq_dtau);
  if (work.loops) {
    return kernel::closed_derivatives<T>(model, *work.loops, q, v, tau, effects, a, ddq_dq, ddq_dv,
                                         ddq_dtau);
  }
  return kernel::forward_dynamics_derivatives<false, T>(model, work, q, v, tau, effects, a, ddq_dq,
                                                        ddq_dv, ddq_dtau);
}

template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
                    MatrixOut<T> ddq_dq, MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau,
                    const JointEffects& effects) {
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, ddq_dq, ddq_dv, ddq_dtau);
  if (work.loops) {
    return kernel::closed_derivatives<T>(model, *work.loops, q, v, tau, effects, a, ddq_dq, ddq_dv,
                                         ddq_dtau, external);
  }
  kernel::set_external<T>("aba_derivatives", model, work.tree, external);
  return kernel::forward_dynamics_derivatives<true, T>(model, work, q, v, tau, effects, a, ddq_dq,
                                                       ddq_dv, ddq_dtau);
}

}  // namespace limb
