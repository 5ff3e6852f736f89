#pragma once

#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/kinematics/forward_kinematics_impl.hpp"

// Symbols: O is the origin of body 1, C the mass centre; m mass, h = m c first moment of a body or
// subtree; S motion of a joint at unit rate; V, A twist and spatial acceleration in body axes.
namespace limb {

template <typename T>
SubtreeScratch<T>::SubtreeScratch(const Model<T>& model)
    : mass(static_cast<std::size_t>(model.body_count())),
      first_moment(mass.size()),
      I(mass.size()),
      dI(mass.size()),
      A(mass.size()),
      momentum(mass.size()),
      force(mass.size()) {}

namespace center_of_mass_detail {

template <typename T>
void check_scratch(const char* call, const Model<T>& model, const SubtreeScratch<T>& scratch) {
  if (scratch.mass.size() == model.bodies().size()) return;
  fail(call, "scratch", "for " + std::to_string(scratch.mass.size()) + " bodies",
       std::to_string(model.bodies().size()), "make it from the same model");
}

/// Total mass of the moving bodies.
template <typename T>
T mass_of(const char* call, const Model<T>& model) {
  constexpr const char* kReason = "the robot has no mass, so it has no mass centre";
  if (model.body_count() < 2) fail_computation(call, kReason);
  const T mass = model.total_mass();
  if constexpr (Real<T>) {
    if (!(mass > T(0))) fail_computation(call, kReason);
  }
  return mass;
}

/// m c of one body from O, in world axes.
template <typename T>
Vector3<T> first_moment(const Model<T>& model, const Kinematics<T>& k, std::size_t i) {
  const Inertia<T>& I = model.bodies()[i].inertia;
  return I.mass() * k.p_OB_W[i] + small_products::product<T>(k.X_WB[i].R, I.first_moment());
}

/// From O to the mass centre, world axes.
template <typename T>
Vector3<T> from_body_one(const Model<T>& model, const Kinematics<T>& k, const T& mass) {
  Vector3<T> sum = Vector3<T>::Zero();
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) sum += first_moment(model, k, i);
  return sum / mass;
}

/// Sum of the bodies' linear momenta, m v of their mass centres, world axes.
template <typename T>
Vector3<T> velocity_sum(const Model<T>& model, const Kinematics<T>& k) {
  Vector3<T> sum = Vector3<T>::Zero();
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Inertia<T>& I = model.bodies()[i].inertia;
    const Motion<T>& V = k.V_WB_B[i];
    sum += small_products::product<T>(
        k.X_WB[i].R, small_products::add_cross<T>(I.mass() * V.v, V.w, I.first_moment()));
  }
  return sum;
}

/// Sum of m a of the bodies' mass centres, world axes.
template <typename T>
Vector3<T> acceleration_sum(const Model<T>& model, const Kinematics<T>& k,
                            const std::vector<Motion<T>>& A_WB_B) {
  Vector3<T> sum = Vector3<T>::Zero();
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Inertia<T>& I = model.bodies()[i].inertia;
    const Motion<T>&V = k.V_WB_B[i], &A = A_WB_B[i];
    // d(m v + w x h)/dt in rotating axes: rate of the components plus w x vector.
    const Vector3<T> p = small_products::add_cross<T>(I.mass() * V.v, V.w, I.first_moment());
    const Vector3<T> dp = small_products::add_cross<T>(I.mass() * A.v, A.w, I.first_moment());
    sum += small_products::product<T>(k.X_WB[i].R, small_products::add_cross<T>(dp, V.w, p));
  }
  return sum;
}

}  // namespace center_of_mass_detail

template <typename T>
Vector3<T> center_of_mass(const Model<T>& model, const Kinematics<T>& kinematics) {
  using namespace center_of_mass_detail;
  check_kinematics("center_of_mass", model, kinematics, Kinematics<T>::Order::position);
  const T mass = mass_of("center_of_mass", model);
  return kinematics.X_WB[1].p + from_body_one(model, kinematics, mass);
}

template <typename T>
Vector3<T> center_of_mass_velocity(const Model<T>& model, const Kinematics<T>& kinematics) {
  using namespace center_of_mass_detail;
  check_kinematics("center_of_mass_velocity", model, kinematics, Kinematics<T>::Order::velocity);
  const T mass = mass_of("center_of_mass_velocity", model);
  return velocity_sum(model, kinematics) / mass;
}

template <typename T>
Vector3<T> center_of_mass_acceleration(const Model<T>& model, const Kinematics<T>& kinematics) {
  using namespace center_of_mass_detail;
  check_kinematics("center_of_mass_acceleration", model, kinematics,
                   Kinematics<T>::Order::acceleration);
  const T mass = mass_of("center_of_mass_acceleration", model);
  return acceleration_sum(model, kinematics, kinematics.A_WB_B) / mass;
}

template <typename T>
void center_of_mass_jacobian(const Model<T>& model, const Kinematics<T>& kinematics,
                             SubtreeScratch<T>& scratch, PointJacobianOut<T> J) {
  using namespace center_of_mass_detail;
  check_kinematics("center_of_mass_jacobian", model, kinematics, Kinematics<T>::Order::position);
  check_scratch("center_of_mass_jacobian", model, scratch);
  check_columns("center_of_mass_jacobian", "J", model, J);
  const T over_mass = T(1) / mass_of("center_of_mass_jacobian", model);
  const std::size_t n = kinematics.X_WB.size();
  for (std::size_t i = 1; i < n; ++i) {
    scratch.mass[i] = model.bodies()[i].inertia.mass();
    scratch.first_moment[i] = first_moment(model, kinematics, i);
  }
  J.setConstant(T(0));
  // Backward pass: a joint moves the subtree of its body.
  for (std::size_t i = n - 1; i > 0; --i) {
    const Body<T>& body = model.bodies()[i];
    const T& m = scratch.mass[i];
    const Vector3<T> h = scratch.first_moment[i] - m * kinematics.p_OB_W[i];
    for (int j = 0; j < body.joint.nv(); ++j) {
      const Motion<T>& S = kinematics.S_W[static_cast<std::size_t>(body.v_start + j)];
      const Vector3<T> column = small_products::add_cross<T>(m * S.v, S.w, h) * over_mass;
      for_each_column(model, i, j, [&](int y, const T& ratio) {
        for (int r = 0; r < 3; ++r) J(r, y) += ratio * column[r];
      });
    }
    const std::size_t parent = static_cast<std::size_t>(body.parent.value());
    if (parent == 0) continue;
    scratch.mass[parent] += m;
    scratch.first_moment[parent] += scratch.first_moment[i];
  }
}

template <typename T>
Vector3<T> center_of_mass_jacobian_rate_times_v(const Model<T>& model,
                                                const Kinematics<T>& kinematics,
                                                SubtreeScratch<T>& scratch) {
  using namespace center_of_mass_detail;
  constexpr const char* kCall = "center_of_mass_jacobian_rate_times_v";
  check_kinematics(kCall, model, kinematics, Kinematics<T>::Order::velocity);
  check_scratch(kCall, model, scratch);
  const T mass = mass_of(kCall, model);
  kinematics_detail::accelerations<T>(model, kinematics, nullptr, scratch.A);
  return acceleration_sum(model, kinematics, scratch.A) / mass;
}

}  // namespace limb
