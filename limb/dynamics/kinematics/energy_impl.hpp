#pragma once

#include "limb/dynamics/kinematics/energy.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"

namespace limb {

template <typename T>
T kinetic_energy(const Model<T>& model, const Kinematics<T>& kinematics,
                 const JointEffects& effects) {
  check_kinematics("kinetic_energy", model, kinematics, Kinematics<T>::Order::velocity);
  T twice = T(0);
  for (std::size_t i = 1; i < kinematics.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const Motion<T>& V = kinematics.V_WB_B[i];
    twice += dot(V, body.inertia * V);
    if (!effects.armature) continue;
    for (int j = body.v_start; j < body.v_start + body.joint.nv(); ++j) {
      twice += body.armature * kinematics.v[j] * kinematics.v[j];
    }
  }
  return twice * T(0.5);
}

template <typename T>
T potential_energy(const Model<T>& model, const Kinematics<T>& kinematics) {
  check_kinematics("potential_energy", model, kinematics, Kinematics<T>::Order::position);
  Vector3<T> first_moment = Vector3<T>::Zero();
  for (std::size_t i = 1; i < kinematics.X_WB.size(); ++i) {
    const Inertia<T>& I = model.bodies()[i].inertia;
    const Pose<T>& X = kinematics.X_WB[i];
    first_moment += I.mass() * X.p + small_products::product<T>(X.R, I.first_moment());
  }
  return -model.gravity().dot(first_moment);
}

}  // namespace limb
