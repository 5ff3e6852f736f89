#pragma once

#include "limb/dynamics/textbook/craig.hpp"
#include "limb/model/core/joint_impl.hpp"

// Symbols, all of link i and in link axes; P, R are its position and orientation in its parent p.
//   w, wd, vd   angular velocity and acceleration, acceleration of the origin (the base's is -g)
//   F, N        resultant force m vd_C and moment on the link, about the link's ORIGIN
//   f, n        force and moment that the parent exerts through the joint, about the origin
//   w_J, v_J    motion of the joint relative to the parent, wd_J, vd_J its rates in the link's axes
//
// The book has one line for a revolute joint (w_J = thetad Z, v_J = 0) and one for a prismatic
// joint (w_J = 0, v_J = dd Z). Both are cases of the acceleration in a moving frame,
//   vd = R^T (vd_p + wd_p x P + w_p x (w_p x P)) + 2 R^T w_p x v_J + (vd_J + w_J x v_J),
// which holds for the other joints too. The book's moment about the mass centre C and the term
// P_C x F of the backward pass are combined here in the moment about the origin: it needs m P_C and
// the tensor about the origin, and no division by the mass.
namespace limb::textbook::craig {

template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                            WrenchesIn<T> external) {
  check_position("craig::inverse_dynamics", "q", model, q);
  check_velocity("craig::inverse_dynamics", "v", model, v);
  check_velocity("craig::inverse_dynamics", "a", model, a);
  const Coupling<T>& G = model.coupling();
  const VectorX<T> q_joint = G.expand_position(VectorX<T>(q));
  const VectorX<T> v_joint = G.expand_velocity(VectorX<T>(v));
  const VectorX<T> a_joint = G.expand_velocity(VectorX<T>(a));

  struct Link {
    Matrix3<T> R = Matrix3<T>::Identity();
    Vector3<T> P = Vector3<T>::Zero();
    Vector3<T> w = Vector3<T>::Zero(), wd = Vector3<T>::Zero(), vd = Vector3<T>::Zero();
    Vector3<T> f = Vector3<T>::Zero(), n = Vector3<T>::Zero();
  };
  std::vector<Link> links(model.bodies().size());
  std::vector<Force<T>> F_ext(links.size());
  add_external("craig::inverse_dynamics", model, external, F_ext);

  // Forward pass: motion of each link from its parent's, and the force and moment that it requires.
  links[0].vd = -model.gravity();
  for (std::size_t i = 1; i < links.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const T *qi = q_joint.data() + body.q_start, *vi = v_joint.data() + body.v_start;
    const auto [v_J, w_J] = body.joint.velocity(qi, vi);
    const auto [vd_J, wd_J] =
        body.joint.velocity(qi, a_joint.data() + body.v_start) + body.joint.bias(qi, vi);
    const Pose<T> X = body.X_PJ * body.joint.pose(qi);

    const Link& p = links[static_cast<std::size_t>(body.parent.value())];
    Link& link = links[i];
    link.R = X.R;
    link.P = X.p;
    const Vector3<T> w_p = link.R.transpose() * p.w;
    link.w = w_p + w_J;
    link.wd = link.R.transpose() * p.wd + w_p.cross(w_J) + wd_J;
    link.vd = link.R.transpose() * (p.vd + p.wd.cross(link.P) + p.w.cross(p.w.cross(link.P))) +
              T(2) * w_p.cross(v_J) + vd_J + w_J.cross(v_J);

    const T& m = body.inertia.mass();
    const Vector3<T>& mP_C = body.inertia.first_moment();
    const Matrix3<T>& I = body.inertia.tensor();
    const Vector3<T> F = m * link.vd + link.wd.cross(mP_C) + link.w.cross(link.w.cross(mP_C));
    const Vector3<T> Iw = I * link.w;
    const Vector3<T> N = I * link.wd + link.w.cross(Iw) + mP_C.cross(link.vd);
    link.f = F - F_ext[i].f;
    link.n = N - F_ext[i].n;
  }

  // Backward pass: the parent exerts the force on the link plus those on its children.
  VectorX<T> tau(model.uncoupled_nv());
  for (std::size_t i = links.size() - 1; i > 0; --i) {
    const Body<T>& body = model.bodies()[i];
    const Link& link = links[i];
    Motion<T> S[6];
    body.joint.subspace(q_joint.data() + body.q_start, S);
    for (int k = 0; k < body.joint.nv(); ++k) {
      tau[body.v_start + k] = link.n.dot(S[k].w) + link.f.dot(S[k].v);
    }
    Link& p = links[static_cast<std::size_t>(body.parent.value())];
    const Vector3<T> f = link.R * link.f;
    p.f += f;
    p.n += link.R * link.n + link.P.cross(f);
  }
  return G.reduce_force(tau);
}

}  // namespace limb::textbook::craig
