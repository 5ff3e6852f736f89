#include "limb/symbolic/derive/closed_form.hpp"

#include <fmt/format.h>

#include "limb/symbolic/derive/templates.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;

Matrix zeros(Eigen::Index rows, Eigen::Index cols) {
  return Matrix::Constant(rows, cols, P(0));
}

/// A^T B
Matrix product(const Matrix& A, const Matrix& B) {
  Matrix result = zeros(A.cols(), B.cols());
  for (Eigen::Index i = 0; i < A.cols(); ++i) {
    for (Eigen::Index j = 0; j < B.cols(); ++j) {
      for (Eigen::Index r = 0; r < A.rows(); ++r) result(i, j) += A(r, i) * B(r, j);
    }
  }
  return result;
}

/// c = h / m, and the inertia about it; no centre if the mass is not a monomial.
void find_center(const Inertia<P>& I, LinkForm& link) {
  link.mass = I.mass();
  link.first_moment = I.first_moment();
  link.tensor = I.tensor();
  if (I.mass().is_zero()) return;
  Vector3<P> c;
  for (int i = 0; i < 3; ++i) {
    const auto quotient = try_divide(link.first_moment[i], I.mass());
    if (!quotient) return;
    c[i] = *quotient;
  }
  link.center = c;
  link.tensor = I.tensor() - I.mass() * unit_point_tensor<P>(c);
}

/// Position and potential energy of one body.
void add_position(const Robot& robot, LinkForm& link) {
  const Vector3<P>& g = robot.model.gravity();
  link.p = link.center ? Vector3<P>(link.X_WB * *link.center) : link.X_WB.p;
  link.P = -(link.mass * g.dot(link.p));
  if (!link.center) link.P -= g.dot(link.X_WB.R * link.first_moment);
}

/// Jacobians and contribution to the mass matrix of one body, given the Jacobian of its origin.
void add_inertia(const Matrix& Jo_B, LinkForm& link) {
  link.Jv_B = Jo_B;
  // w x r = -r x w for the vector r from the origin
  if (link.center) link.Jv_B -= skew<P>(*link.center).lazyProduct(link.Jw_B);
  const Matrix rotational = link.tensor.lazyProduct(link.Jw_B);
  link.M = link.mass * product(link.Jv_B, link.Jv_B) + product(link.Jw_B, rotational);
  if (!link.center) {
    // About the origin the first moment h = m c couples: m |v + w x c|^2 / 2 has v.(w x h).
    const Matrix wh = -skew<P>(link.first_moment).lazyProduct(link.Jw_B);
    const Matrix mixed = product(link.Jv_B, wh);
    link.M += mixed + mixed.transpose();
  }
}

}  // namespace

std::vector<LinkForm> derive_links(const Robot& robot, bool inertia) {
  const RingScope scope(robot.ring);
  const Model<P>& model = robot.model;
  const VectorX<P> q = model.coupling().expand_position(VectorX<P>(robot.q()));
  const Matrix G = model.coupling().matrix();
  std::vector<LinkForm> links(model.bodies().size());
  std::vector<Matrix> Jo_B(links.size());  // Jacobians of the origins
  links[0].Jw_B = Jo_B[0] = zeros(3, model.nv());
  for (std::size_t i = 1; i < links.size(); ++i) {
    const Body<P>& body = model.bodies()[i];
    const auto parent_index = static_cast<std::size_t>(body.parent.value());
    const LinkForm& parent = links[parent_index];
    LinkForm& link = links[i];
    link.name = body.name;
    const Pose<P> X_PB = body.X_PJ * body.joint.pose(q.data() + body.q_start);
    link.X_WB = parent.X_WB * X_PB;
    find_center(body.inertia, link);
    add_position(robot, link);
    if (!inertia) continue;
    Motion<P> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    const Matrix moved = Jo_B[parent_index] - skew<P>(X_PB.p).lazyProduct(parent.Jw_B);
    link.Jw_B = X_PB.R.transpose().lazyProduct(parent.Jw_B);
    Jo_B[i] = X_PB.R.transpose().lazyProduct(moved);
    for (int k = 0; k < body.joint.nv(); ++k) {
      link.Jw_B += S[k].w.lazyProduct(G.row(body.v_start + k));
      Jo_B[i] += S[k].v.lazyProduct(G.row(body.v_start + k));
    }
    add_inertia(Jo_B[i], link);
  }
  links.erase(links.begin());
  return links;
}

namespace {

/// G^T diag(x) G for one number x per joint: armature, damping.
Matrix reduced_diagonal(const Model<P>& model, const P Body<P>::*which) {
  const Matrix G = model.coupling().matrix();
  Matrix result = zeros(G.cols(), G.cols());
  for (const Body<P>& body : model.bodies()) {
    if ((body.*which).is_zero()) continue;
    for (int k = 0; k < body.joint.nv(); ++k) {
      const Matrix row = G.row(body.v_start + k);
      result += body.*which * product(row, row);
    }
  }
  return result;
}

}  // namespace

Matrix jacobian(const Robot& robot, const Vector3<P>& x) {
  Matrix J = zeros(3, static_cast<Eigen::Index>(robot.coordinates.size()));
  for (Eigen::Index j = 0; j < J.cols(); ++j) {
    for (int r = 0; r < 3; ++r) {
      J(r, j) = differentiate(x[r], robot.coordinates[static_cast<std::size_t>(j)].q);
    }
  }
  return J;
}

P kinetic_energy(const Robot& robot, const Matrix& M) {
  const Vector v = robot.v();
  P K;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    for (Eigen::Index j = 0; j < v.size(); ++j) K += M(i, j) * v[i] * v[j] / P(2);
  }
  return K;
}

namespace {

/// From M: the Christoffel symbols and the matrices made of them.
void add_velocity_terms(const Robot& robot, ClosedForm& f) {
  const int n = robot.model.nv();
  const Vector v = robot.v();
  // Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2
  ChristoffelTensor<P> dM(n);
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const SymbolId q = robot.coordinates[static_cast<std::size_t>(k)].q;
        dM(i, j, k) = dM(j, i, k) = differentiate(f.M(i, j), q);
      }
    }
  }
  f.gamma = ChristoffelTensor<P>(n);
  f.C = f.centrifugal = zeros(n, n);
  f.coriolis = zeros(n, n * (n - 1) / 2);
  for (int i = 0; i < n; ++i) {
    int column = 0;
    for (int j = 0; j < n; ++j) {
      for (int k = j; k < n; ++k) {
        f.gamma(i, j, k) = f.gamma(i, k, j) = (dM(i, j, k) + dM(i, k, j) - dM(j, k, i)) / P(2);
        if (j == k) {
          f.centrifugal(i, j) = f.gamma(i, j, j);
        } else {
          f.coriolis(i, column++) = P(2) * f.gamma(i, j, k);
        }
      }
    }
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) f.C(i, j) += f.gamma(i, j, k) * v[k];
    }
  }
}

std::vector<CoulombFriction> coulomb_friction(const Robot& robot) {
  const Matrix G = robot.model.coupling().matrix();
  std::vector<CoulombFriction> result;
  for (const Body<P>& body : robot.model.bodies()) {
    if (body.friction.is_zero()) continue;
    for (int k = 0; k < body.joint.nv(); ++k) {
      const Vector row = G.row(body.v_start + k);
      result.push_back({body.name, row.dot(robot.v()), body.friction * row});
    }
  }
  return result;
}

void add_links(const Robot& robot, bool inertia, ClosedForm& f) {
  f.links = derive_links(robot, inertia);
  for (const LinkForm& link : f.links) f.P += link.P;
  f.damping = reduced_diagonal(robot.model, &Body<P>::damping).lazyProduct(robot.v());
  f.friction = coulomb_friction(robot);
}

/// The part without these symbols.
Vector without(const Robot& robot, Vector x, SymbolId Coordinate::*which) {
  for (P& entry : x) {
    for (const Coordinate& c : robot.coordinates) entry = coefficient(entry, c.*which, 0);
  }
  return x;
}

}  // namespace

ClosedForm derive_lagrange(const Robot& robot, const ClosedFormParts& parts,
                           const ClosedFormStage& stage) {
  const RingScope scope(robot.ring);
  ClosedForm f;
  const Vector a = robot.a();
  const auto finish = [&] {
    if (stage) stage(f);
  };
  add_links(robot, parts.inertia, f);
  f.G = Vector::Constant(a.size(), P(0));
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    f.G[i] = differentiate(f.P, robot.coordinates[static_cast<std::size_t>(i)].q);
  }
  f.tau = f.G;
  finish();
  if (!parts.inertia) return f;
  f.M = reduced_diagonal(robot.model, &Body<P>::armature);
  for (const LinkForm& link : f.links) f.M += link.M;
  f.K = kinetic_energy(robot, f.M);
  const Vector inertial = f.M.lazyProduct(a);
  f.tau += inertial;
  finish();
  if (!parts.velocity) return f;
  add_velocity_terms(robot, f);
  f.V = f.C.lazyProduct(robot.v());
  f.tau += f.V + f.damping;
  finish();
  return f;
}

ClosedForm closed_form_from_torques(const Robot& robot, const Vector& tau,
                                    const ClosedFormParts& parts, const ClosedFormStage& stage) {
  const RingScope scope(robot.ring);
  ClosedForm f;
  const auto finish = [&] {
    if (stage) stage(f);
  };
  add_links(robot, parts.inertia, f);
  f.tau = tau;
  const Vector bias = without(robot, tau, &Coordinate::a);
  f.G = without(robot, bias, &Coordinate::v);
  finish();
  if (!parts.inertia) return f;
  f.M.resize(tau.size(), tau.size());
  for (Eigen::Index i = 0; i < f.M.rows(); ++i) {
    for (Eigen::Index j = 0; j < f.M.cols(); ++j) {
      f.M(i, j) = coefficient(tau[i], robot.coordinates[static_cast<std::size_t>(j)].a, 1);
    }
  }
  f.K = kinetic_energy(robot, f.M);
  finish();
  if (!parts.velocity) return f;
  f.V = bias - f.G - f.damping;
  add_velocity_terms(robot, f);
  finish();
  return f;
}

Vector derive_newton_euler(const Robot& robot, const ClosedFormParts& parts) {
  const RingScope scope(robot.ring);
  Workspace<P> work(robot.model);
  Vector tau = Vector::Constant(robot.model.nv(), P(0));
  const JointEffects effects{.armature = true, .damping = true, .friction = false};
  const Vector zero = tau;
  rnea(robot.model, work, robot.q(), parts.velocity ? robot.v() : zero,
       parts.inertia ? robot.a() : zero, tau, effects);
  return tau;
}

FrameForm derive_frame(const Robot& robot, const std::string& frame) {
  const RingScope scope(robot.ring);
  const FrameId id = robot.model.find_frame(frame);
  Kinematics<P> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q(), robot.v(), kinematics);
  FrameForm form;
  form.name = frame;
  form.X_WF = frame_pose(robot.model, kinematics, id);
  Matrix6X<P> J = Matrix6X<P>::Constant(6, robot.model.nv(), P(0));
  frame_jacobian(robot.model, kinematics, id, FrameAxes::local_world_aligned, J);
  form.J = J;
  form.Jdot = form.J.unaryExpr([](const P& x) { return rate(x); });
  return form;
}

std::size_t term_count(const Matrix& m) {
  std::size_t count = 0;
  for (Eigen::Index i = 0; i < m.size(); ++i) count += m.data()[i].size();
  return count;
}

}  // namespace limb::symbolic
