#include "limb/symbolic/derive/modern_robotics_steps.hpp"

#include <fmt/format.h>

#include "limb/symbolic/derive/templates.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using V3 = Vector3<P>;
using Pose3 = Pose<P>;

// Six-vectors are (w, v) and (m, f), as in the book; V3 pairs in between keep the products short.
struct Six {
  V3 a, b;  ///< angular, linear; or moment, force
  Six operator+(const Six& o) const { return {a + o.a, b + o.b}; }
  Six operator*(const P& x) const { return {a * x, b * x}; }
  P dot(const Six& o) const { return a.dot(o.a) + b.dot(o.b); }
  Vector vector() const {
    Vector x(6);
    x << a[0], a[1], a[2], b[0], b[1], b[2];
    return x;
  }
};

/// Ad_T V, with T the pose of the frame of V in the frame of the result.
Six adjoint(const Pose3& T, const Six& V) {
  const V3 w = T.R * V.a;
  return {w, T.p.cross(w) + T.R * V.b};
}
/// Ad_T^T F: the wrench in the frame whose pose is T, seen from there.
Six adjoint_transposed(const Pose3& T, const Six& F) {
  const Matrix3<P> R = T.R.transpose();
  return {R * V3(F.a - T.p.cross(F.b)), R * F.b};
}
/// ad_V U, the Lie bracket.
Six bracket(const Six& V, const Six& U) {
  return {V.a.cross(U.a), V.b.cross(U.a) + V.a.cross(U.b)};
}
/// ad_V^T F
Six bracket_transposed(const Six& V, const Six& F) {
  return {F.a.cross(V.a) + F.b.cross(V.b), F.b.cross(V.a)};
}

/// Mass, first moment about the frame, and tensor about it.
struct FrameInertia {
  P mass;
  V3 moment;
  Matrix3<P> tensor;
  Six operator*(const Six& V) const {
    return {tensor * V.a + moment.cross(V.b), mass * V.b - moment.cross(V.a)};
  }
  Matrix matrix() const {
    Matrix G = Matrix::Constant(6, 6, P(0));
    const Matrix3<P> h = skew<P>(moment);
    for (int r = 0; r < 3; ++r) {
      G(3 + r, 3 + r) = mass;
      for (int c = 0; c < 3; ++c) {
        G(r, c) = tensor(r, c);
        G(r, 3 + c) = h(r, c);
        G(3 + r, c) = -h(r, c);
      }
    }
    return G;
  }
};

}  // namespace

Matrix homogeneous(const Pose3& X) {
  Matrix T = Matrix::Constant(4, 4, P(0));
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) T(r, c) = X.R(r, c);
    T(r, 3) = X.p[r];
  }
  T(3, 3) = P(1);
  return T;
}

bool has_screw_axes(const Robot& robot) {
  const auto& bodies = robot.model.bodies();
  return std::all_of(bodies.begin() + 1, bodies.end(),
                     [](const Body<P>& body) { return body.joint.nv() == 1; });
}

ModernRoboticsSteps modern_robotics_steps(const Robot& robot, const std::vector<LinkForm>& links) {
  const RingScope scope(robot.ring);
  const Model<P>& model = robot.model;
  for (const Body<P>& body : model.bodies()) {
    if (body.joint.nv() <= 1) continue;
    throw Error(fmt::format(
        "modern_robotics_steps: joint '{}' is {}, expected joints of one degree of freedom, which "
        "have a screw axis",
        body.name, limb::to_text(body.joint.type())));
  }
  const VectorX<P> q = model.coupling().expand_position(VectorX<P>(robot.q()));
  const VectorX<P> v = model.coupling().expand_velocity(VectorX<P>(robot.v()));
  const VectorX<P> a = model.coupling().expand_velocity(VectorX<P>(robot.a()));
  const V3 zero = V3::Constant(P(0));
  const std::size_t n = model.bodies().size();
  std::vector<V3> center(n, zero);
  std::vector<Six> twist(n, {zero, zero}), rate(n, {zero, zero}), wrench(n, {zero, zero});
  std::vector<Six> axis(n, {zero, zero});
  std::vector<ModernRoboticsLink> all(n);
  rate[0] = {zero, V3(-model.gravity())};

  for (std::size_t i = 1; i < n; ++i) {
    const Body<P>& body = model.bodies()[i];
    const LinkForm& form = links[i - 1];
    ModernRoboticsLink& link = all[i];
    link.name = body.name;
    link.parent = body.parent.value();
    const auto p = static_cast<std::size_t>(link.parent);
    center[i] = form.center.value_or(zero);
    const auto between_centers = [&](const Pose3& X_PB) {
      const Pose3 X{X_PB.R, X_PB * center[i] - center[p]};
      const Matrix3<P> R = X.R.transpose();
      return Pose3{R, V3(-(R * X.p))};
    };
    const P neutral(0);
    link.home = homogeneous(between_centers(body.X_PJ * body.joint.pose(&neutral)));
    link.T_iP = between_centers(body.X_PJ * body.joint.pose(q.data() + body.q_start));
    Motion<P> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    axis[i] = {S[0].w, S[0].v + S[0].w.cross(center[i])};
    const FrameInertia G = form.center ? FrameInertia{form.mass, zero, form.tensor}
                                       : FrameInertia{form.mass, form.first_moment, form.tensor};
    twist[i] = adjoint(link.T_iP, twist[p]) + axis[i] * v[body.v_start];
    rate[i] = adjoint(link.T_iP, rate[p]) + bracket(twist[i], axis[i]) * v[body.v_start] +
              axis[i] * a[body.v_start];
    const Six momentum = G * twist[i];
    wrench[i] = G * rate[i] + bracket_transposed(twist[i], momentum) * P(-1);
    link.axis = axis[i].vector();
    link.inertia = G.matrix();
    link.V = twist[i].vector();
    link.Vd = rate[i].vector();
  }

  VectorX<P> joint_tau(model.uncoupled_nv());
  for (std::size_t i = n - 1; i > 0; --i) {
    const Body<P>& body = model.bodies()[i];
    ModernRoboticsLink& link = all[i];
    link.F = wrench[i].vector();
    link.tau =
        wrench[i].dot(axis[i]) + body.armature * a[body.v_start] + body.damping * v[body.v_start];
    joint_tau[body.v_start] = link.tau;
    if (link.parent == 0) continue;
    Six& parent = wrench[static_cast<std::size_t>(link.parent)];
    parent = parent + adjoint_transposed(link.T_iP, wrench[i]);
  }
  ModernRoboticsSteps steps;
  steps.tau = model.coupling().reduce_force(joint_tau);
  steps.links.assign(all.begin() + 1, all.end());
  return steps;
}

}  // namespace limb::symbolic
