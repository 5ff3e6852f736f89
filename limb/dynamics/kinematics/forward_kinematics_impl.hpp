#pragma once

#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/model/core/joint_impl.hpp"

// Symbols: R, p of a pose; P parent, B body; V, A twist and spatial acceleration; S motion of a
// joint at unit rate, dS its rate; O the origin of body 1.
namespace limb {

template <typename T>
Kinematics<T>::Kinematics(const Model<T>& model)
    : q(VectorX<T>::Constant(model.uncoupled_nq(), T(0))),
      v(VectorX<T>::Constant(model.uncoupled_nv(), T(0))),
      a(VectorX<T>::Constant(model.uncoupled_nv(), T(0))),
      X_WB(static_cast<std::size_t>(model.body_count())),
      p_OB_W(X_WB.size(), Vector3<T>::Zero()),
      V_WB_B(X_WB.size()),
      A_WB_B(X_WB.size()),
      S_W(static_cast<std::size_t>(model.uncoupled_nv())),
      dS_W(S_W.size()) {
  for (std::size_t i = 1; i < X_WB.size(); ++i) {
    body_of_v.insert(body_of_v.end(), static_cast<std::size_t>(model.bodies()[i].joint.nv()),
                     static_cast<int>(i));
  }
}

namespace kinematics_detail {

/// Both parts from the axes of B to those of the world.
template <typename T>
Motion<T> rotated(const Matrix3<T>& R_WB, const Motion<T>& V) {
  return {small_products::product<T>(R_WB, V.v), small_products::product<T>(R_WB, V.w)};
}
template <typename T>
Motion<T> rotated_back(const Matrix3<T>& R_WB, const Motion<T>& V) {
  return {small_products::transpose_product<T>(R_WB, V.v),
          small_products::transpose_product<T>(R_WB, V.w)};
}

template <typename T>
void positions(const Model<T>& model, Kinematics<T>& k) {
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const T* q = k.q.data() + body.q_start;
    const std::size_t p = static_cast<std::size_t>(body.parent.value());
    const Pose<T>& X_WP = k.X_WB[p];
    const Pose<T> X_PB = body.X_PJ * body.joint.pose(q);
    const Vector3<T> p_PB_W = small_products::product<T>(X_WP.R, X_PB.p);
    k.X_WB[i] = {X_WP.R * X_PB.R, X_WP.p + p_PB_W};
    // A child of the world is measured from body 1 directly.
    k.p_OB_W[i] = p == 0 ? Vector3<T>(k.X_WB[i].p - k.X_WB[1].p) : Vector3<T>(k.p_OB_W[p] + p_PB_W);

    Motion<T>* S = k.S_W.data() + body.v_start;
    body.joint.subspace(q, S);
    for (int j = 0; j < body.joint.nv(); ++j) S[j] = rotated(k.X_WB[i].R, S[j]);
  }
  if (k.X_WB.size() > 1) k.p_OB_W[0] = -k.X_WB[1].p;
}

/// A motion of body p, given in its axes at its origin, as one at the origin of body i in world
/// axes.
template <typename T>
Motion<T> from_parent(const Kinematics<T>& k, std::size_t p, std::size_t i, const Motion<T>& V_P) {
  Motion<T> V = rotated(k.X_WB[p].R, V_P);
  V.v = small_products::add_cross<T>(V.v, V.w, k.p_OB_W[i] - k.p_OB_W[p]);
  return V;
}

template <typename T>
void velocities(const Model<T>& model, Kinematics<T>& k) {
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const Motion<T>* S = k.S_W.data() + body.v_start;
    const T* v = k.v.data() + body.v_start;
    const std::size_t p = static_cast<std::size_t>(body.parent.value());
    Motion<T> V = from_parent(k, p, i, k.V_WB_B[p]);
    for (int j = 0; j < body.joint.nv(); ++j) V += S[j] * v[j];
    k.V_WB_B[i] = rotated_back(k.X_WB[i].R, V);

    // S_W rotates with the body and its point moves with the origin: d(R S)/dt = w x R S + R dS.
    Motion<T>* dS = k.dS_W.data() + body.v_start;
    for (int j = 0; j < body.joint.nv(); ++j) {
      dS[j] = {small_products::cross<T>(V.w, S[j].v), small_products::cross<T>(V.w, S[j].w)};
    }
    if (body.joint.subspace_is_constant()) continue;
    Motion<T> dS_B[6];
    body.joint.subspace_rate(k.q.data() + body.q_start, v, dS_B);
    for (int j = 0; j < body.joint.nv(); ++j) dS[j] += rotated(k.X_WB[i].R, dS_B[j]);
  }
}

/// Spatial accelerations of the bodies at joint accelerations a; nullptr: at a = 0, the part due to
/// velocities. A[0] is the world's, zero.
template <typename T>
void accelerations(const Model<T>& model, const Kinematics<T>& k, const T* a,
                   std::vector<Motion<T>>& A_WB_B) {
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const std::size_t p = static_cast<std::size_t>(body.parent.value());
    Motion<T> A = from_parent(k, p, i, A_WB_B[p]);
    Vector3<T> w_J = Vector3<T>::Zero();  // of the joint
    for (int j = body.v_start; j < body.v_start + body.joint.nv(); ++j) {
      const Motion<T>&S = k.S_W[static_cast<std::size_t>(j)],
            &dS = k.dS_W[static_cast<std::size_t>(j)];
      A += dS * k.v[j];
      w_J += S.w * k.v[j];
      if (a != nullptr) A += S * a[j];
    }
    // dS is taken at the moving origin, a spatial acceleration at a fixed point: V x S has also
    // v x w.
    A.v = small_products::add_cross<T>(A.v, small_products::product<T>(k.X_WB[i].R, k.V_WB_B[i].v),
                                       w_J);
    A_WB_B[i] = rotated_back(k.X_WB[i].R, A);
  }
}

}  // namespace kinematics_detail

template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, Kinematics<T>& kinematics) {
  check_position("forward_kinematics", "q", model, q);
  check_kinematics("forward_kinematics", model, kinematics, Kinematics<T>::Order::none);
  model.coupling().expand_position(q.data(), kinematics.q.data());
  kinematics_detail::positions(model, kinematics);
  kinematics.order = Kinematics<T>::Order::position;
}

template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v,
                        Kinematics<T>& kinematics) {
  check_velocity("forward_kinematics", "v", model, v);
  forward_kinematics(model, q, kinematics);
  model.coupling().expand_velocity(v.data(), kinematics.v.data());
  kinematics_detail::velocities(model, kinematics);
  kinematics.order = Kinematics<T>::Order::velocity;
}

template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                        Kinematics<T>& kinematics) {
  check_velocity("forward_kinematics", "a", model, a);
  forward_kinematics(model, q, v, kinematics);
  model.coupling().expand_velocity(a.data(), kinematics.a.data());
  kinematics_detail::accelerations(model, kinematics, kinematics.a.data(), kinematics.A_WB_B);
  kinematics.order = Kinematics<T>::Order::acceleration;
}

template <typename T>
void check_order(const char* call, const Kinematics<T>& kinematics,
                 typename Kinematics<T>::Order order) {
  if (kinematics.order >= order) return;
  constexpr const char* kNeeded[] = {"", "q", "q and v", "q, v and a"};
  throw Error(std::string(call) +
              ": these kinematics are incomplete; call forward_kinematics with " +
              kNeeded[static_cast<int>(order)] + " first");
}

template <typename T>
void check_kinematics(const char* call, const Model<T>& model, const Kinematics<T>& kinematics,
                      typename Kinematics<T>::Order order) {
  const std::size_t bodies = static_cast<std::size_t>(model.body_count());
  if (kinematics.X_WB.size() != bodies || kinematics.v.size() != model.uncoupled_nv() ||
      kinematics.q.size() != model.uncoupled_nq()) {
    throw Error(std::string(call) + ": these kinematics were made for another model (of " +
                std::to_string(kinematics.X_WB.size()) + " bodies with " +
                std::to_string(kinematics.v.size()) + " velocities; this one has " +
                std::to_string(bodies) + " and " + std::to_string(model.uncoupled_nv()) + ")");
  }
  check_order(call, kinematics, order);
}

}  // namespace limb
