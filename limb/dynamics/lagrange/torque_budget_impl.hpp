#pragma once

#include "limb/dynamics/lagrange/christoffel_impl.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/dynamics/recursive/drives.hpp"

namespace limb {

template <typename T>
TorqueBudget<T>::TorqueBudget(const Model<T>& model)
    : inertial(VectorX<T>::Constant(model.nv(), T(0))),
      centrifugal(inertial),
      coriolis(inertial),
      gravity(inertial),
      damping(inertial),
      friction(inertial),
      armature(inertial),
      external(inertial),
      tau(inertial) {}

template <typename T>
TorqueBudgetScratch<T>::TorqueBudgetScratch(const Model<T>& model)
    : lagrange(model),
      A(model.bodies().size()),
      F(A.size()),
      joint_force(VectorX<T>::Constant(model.uncoupled_nv(), T(0))),
      turning(joint_force),
      v(VectorX<T>::Constant(model.nv(), T(0))) {}

namespace torque_budget_detail {

/// The generalized velocities, from those of the independent joints.
template <typename T>
void robot_velocity(const Model<T>& model, const Kinematics<T>& k, VectorX<T>& v) {
  for (const auto& row : model.coupling().rows()) {
    if (row.yq < 0) continue;
    for (int j = 0; j < row.nv; ++j) v[row.terms[static_cast<std::size_t>(j)].y] = k.v[row.v + j];
  }
}

/// Projects forces on all bodies, about the common point, on the generalized velocities.
template <typename T>
void project(const Model<T>& model, const Kinematics<T>& k, TorqueBudgetScratch<T>& s,
             VectorX<T>& tau) {
  lagrange_detail::sum_subtrees(model, s.F);
  for (std::size_t x = 0; x < s.lagrange.S.size(); ++x) {
    const Force<T>& F = s.F[static_cast<std::size_t>(k.body_of_v[x])];
    s.joint_force[static_cast<Eigen::Index>(x)] = dot(s.lagrange.S[x], F);
  }
  model.coupling().reduce_force(s.joint_force.data(), tau.data());
}

/// Projects torque(body, x) of each joint velocity x on the generalized velocities; zero unless
/// `counts`.
template <typename T, typename Torque>
void project_drives(const Model<T>& model, bool counts, TorqueBudgetScratch<T>& s, VectorX<T>& tau,
                    const Torque& torque) {
  for (const Body<T>& body : model.bodies()) {
    for (int x = body.v_start; x < body.v_start + body.joint.nv(); ++x) {
      s.joint_force[x] = counts ? torque(body, x) : T(0);
    }
  }
  model.coupling().reduce_force(s.joint_force.data(), tau.data());
}

}  // namespace torque_budget_detail

template <typename T>
void torque_budget(const Model<T>& model, const Kinematics<T>& kinematics,
                   TorqueBudgetScratch<T>& s, WrenchesIn<T> external, TorqueBudget<T>& budget,
                   const JointEffects& effects) {
  using namespace torque_budget_detail;
  check_order("torque_budget", kinematics, Kinematics<T>::Order::acceleration);
  const Kinematics<T>& k = kinematics;
  const Vector3<T> r = lagrange_detail::common_point(k);
  const std::size_t n = s.F.size();

  for (Force<T>& F : s.F) F = {};
  add_external("torque_budget", model, external, s.F);
  for (std::size_t i = 1; i < n; ++i) {
    s.F[i] = -Pose<T>{k.X_WB[i].R, k.X_WB[i].p - r}.act(s.F[i]);
  }
  lagrange_detail::to_common_point(model, k, s.lagrange);
  project(model, k, s, budget.external);

  const Motion<T> gravity{model.gravity(), Vector3<T>::Zero()};
  for (std::size_t i = 1; i < n; ++i) s.F[i] = -(s.lagrange.I[i] * gravity);
  project(model, k, s, budget.gravity);

  for (std::size_t i = 1; i < n; ++i) {
    const Body<T>& body = model.bodies()[i];
    s.A[i] = s.A[static_cast<std::size_t>(body.parent.value())];
    for (int x = body.v_start; x < body.v_start + body.joint.nv(); ++x) {
      s.A[i] += s.lagrange.S[static_cast<std::size_t>(x)] * k.a[x];
    }
    s.F[i] = s.lagrange.I[i] * s.A[i];
  }
  project(model, k, s, budget.inertial);

  project_drives(model, effects.damping, s, budget.damping,
                 [&](const Body<T>& body, int x) { return body.damping * k.v[x]; });
  project_drives(model, effects.friction, s, budget.friction,
                 [&](const Body<T>& body, int x) { return body.friction * kernel::sign(k.v[x]); });
  s.turning.setConstant(T(0));
  kernel::add_turning_armature(model.canonical(), effects, k.v.data(), T(1), s.turning.data());
  project_drives(model, effects.armature, s, budget.armature,
                 [&](const Body<T>& body, int x) { return body.armature * k.a[x] + s.turning[x]; });

  budget.centrifugal.setConstant(T(0));
  budget.coriolis.setConstant(T(0));
  robot_velocity(model, k, s.v);
  lagrange_detail::visit_symbols(model, k, s.lagrange, [&](int i, int j, int l, const T& value) {
    (j == l ? budget.centrifugal : budget.coriolis)[i] += value * s.v[j] * s.v[l];
  });

  for (Eigen::Index i = 0; i < budget.tau.size(); ++i) {
    budget.tau[i] = budget.inertial[i] + budget.centrifugal[i] + budget.coriolis[i] +
                    budget.gravity[i] + budget.damping[i] + budget.friction[i] +
                    budget.armature[i] + budget.external[i];
  }
}

}  // namespace limb
