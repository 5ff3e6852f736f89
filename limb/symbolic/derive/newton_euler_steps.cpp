#include "limb/symbolic/derive/newton_euler_steps.hpp"

#include "limb/symbolic/derive/templates.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using V3 = Vector3<P>;

/// Sum of x[k] times the linear or angular part of S[k].
V3 combine(const Motion<P>* S, int count, const P* x, V3 Motion<P>::*part) {
  V3 sum = V3::Constant(P(0));
  for (int k = 0; k < count; ++k) sum += S[k].*part * x[k];
  return sum;
}

}  // namespace

NewtonEulerSteps newton_euler_steps(const Robot& robot, const std::vector<LinkForm>& links) {
  const RingScope scope(robot.ring);
  const Model<P>& model = robot.model;
  const VectorX<P> q = model.coupling().expand_position(VectorX<P>(robot.q()));
  const VectorX<P> v = model.coupling().expand_velocity(VectorX<P>(robot.v()));
  const VectorX<P> a = model.coupling().expand_velocity(VectorX<P>(robot.a()));
  std::vector<NewtonEulerLink> all(model.bodies().size());
  const V3 zero = V3::Constant(P(0));
  all[0].w = all[0].wd = zero;
  all[0].vd = -model.gravity();  // gravity enters as an acceleration of the base

  for (std::size_t i = 1; i < all.size(); ++i) {
    const Body<P>& body = model.bodies()[i];
    const LinkForm& form = links[i - 1];
    NewtonEulerLink& link = all[i];
    link.name = body.name;
    link.parent = body.parent.value();
    const NewtonEulerLink& parent = all[static_cast<std::size_t>(link.parent)];
    const P* qi = q.data() + body.q_start;
    const P *vi = v.data() + body.v_start, *ai = a.data() + body.v_start;
    link.X_PB = body.X_PJ * body.joint.pose(qi);
    Motion<P> S[6], dS[6];
    body.joint.subspace(qi, S);
    body.joint.subspace_rate(qi, vi, dS);
    const int nv = body.joint.nv();
    const Matrix3<P> R = link.X_PB.R.transpose();
    const V3& r = link.X_PB.p;
    const V3 w_P = R * parent.w;  // of the parent, in link axes
    const V3 w_J = combine(S, nv, vi, &Motion<P>::w), v_J = combine(S, nv, vi, &Motion<P>::v);
    link.w = w_P + w_J;
    link.wd = R * parent.wd + w_P.cross(w_J) + combine(S, nv, ai, &Motion<P>::w) +
              combine(dS, nv, vi, &Motion<P>::w);
    link.vd = R * V3(parent.wd.cross(r) + parent.w.cross(parent.w.cross(r)) + parent.vd) +
              P(2) * w_P.cross(v_J) + combine(S, nv, ai, &Motion<P>::v) + w_J.cross(v_J) +
              combine(dS, nv, vi, &Motion<P>::v);
    const auto acceleration_of = [&](const V3& c) -> V3 {
      return link.wd.cross(c) + link.w.cross(link.w.cross(c));
    };
    const V3 rotational = form.tensor * link.wd + link.w.cross(V3(form.tensor * link.w));
    if (form.center) {
      link.vd_center = link.vd + acceleration_of(*form.center);
      link.F = form.mass * link.vd_center;
      link.N = rotational;
    } else {
      link.vd_center = link.vd;
      link.F = form.mass * link.vd + acceleration_of(form.first_moment);
      link.N = rotational + form.first_moment.cross(link.vd);
    }
    link.f = link.F;
    link.n = link.N;
    if (form.center) link.n += form.center->cross(link.F);
  }

  VectorX<P> joint_tau(model.uncoupled_nv());
  for (std::size_t i = all.size() - 1; i > 0; --i) {
    const Body<P>& body = model.bodies()[i];
    NewtonEulerLink& link = all[i];
    Motion<P> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    for (int k = 0; k < body.joint.nv(); ++k) {
      const int at = body.v_start + k;
      link.tau.push_back(S[k].v.dot(link.f) + S[k].w.dot(link.n) + body.armature * a[at] +
                         body.damping * v[at]);
      joint_tau[at] = link.tau.back();
    }
    NewtonEulerLink& parent = all[static_cast<std::size_t>(link.parent)];
    if (link.parent == 0) continue;
    const V3 f = link.X_PB.R * link.f;
    parent.f += f;
    parent.n += V3(link.X_PB.R * link.n) + link.X_PB.p.cross(f);
  }
  NewtonEulerSteps steps;
  steps.tau = model.coupling().reduce_force(joint_tau);
  steps.links.assign(all.begin() + 1, all.end());
  return steps;
}

}  // namespace limb::symbolic
