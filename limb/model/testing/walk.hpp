#pragma once

<<<<<<< HEAD
#include <vector>

#include "limb/model/model.hpp"

/// The mechanics of a model from first principles, slow and short: what tests of this room compare
/// with.
namespace limb::testing {

/// Poses of all bodies in the world.
template <typename T>
std::vector<Pose<T>> body_poses(const Model<T>& model, const VectorX<T>& q) {
  std::vector<Pose<T>> X(static_cast<std::size_t>(model.body_count()));
  for (std::size_t i = 1; i < X.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    X[i] = X[static_cast<std::size_t>(body.parent.value())] * body.X_PJ *
           body.joint.pose(q.data() + body.q_start);
  }
  return X;
}

template <typename T>
Pose<T> frame_pose(const Model<T>& model, const VectorX<T>& q, std::string_view name) {
  const Frame<T>& frame = model.frame(model.find_frame(name));
  return body_poses(model, q)[static_cast<std::size_t>(frame.body.value())] * frame.X_BF;
}

/// 6 x nv: V_WB_B = J v for body i.
template <typename T>
Eigen::Matrix<T, 6, Eigen::Dynamic> body_jacobian(const Model<T>& model, const VectorX<T>& q,
                                                  std::size_t i) {
  Eigen::Matrix<T, 6, Eigen::Dynamic> J =
      Eigen::Matrix<T, 6, Eigen::Dynamic>::Constant(6, model.nv(), T(0));
  Pose<T> X_BI;  // body i seen from the body that the walk has reached
  while (i > 0) {
    const Body<T>& body = model.bodies()[i];
    Motion<T> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    for (int k = 0; k < body.joint.nv(); ++k) {
      J.col(body.v_start + k) = X_BI.inv_act(S[k]).vector();
    }
    X_BI = body.X_PJ * body.joint.pose(q.data() + body.q_start) * X_BI;
    i = static_cast<std::size_t>(body.parent.value());
  }
  return J;
}

/// M = sum of J^T I J.
template <typename T>
MatrixX<T> mass_matrix(const Model<T>& model, const VectorX<T>& q) {
  MatrixX<T> M = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto J = body_jacobian(model, q, i);
    M += J.transpose() * model.bodies()[i].inertia.matrix() * J;
  }
  return M;
}

/// Torques that hold the robot still: -sum of J^T (weight).
template <typename T>
VectorX<T> gravity_force(const Model<T>& model, const VectorX<T>& q) {
  VectorX<T> g = VectorX<T>::Constant(model.nv(), T(0));
  const auto X = body_poses(model, q);
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Motion<T> fall{X[i].R.transpose() * model.gravity(), Vector3<T>::Zero()};
    g -= body_jacobian(model, q, i).transpose() * (model.bodies()[i].inertia * fall).vector();
  }
  return g;
}

/// Recursive Newton-Euler in its plainest form.
template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, const VectorX<T>& q, const VectorX<T>& v,
                            const VectorX<T>& a) {
  const std::size_t n = model.bodies().size();
  std::vector<Pose<T>> X(n);
  std::vector<Motion<T>> V(n), A(n);
  std::vector<Force<T>> F(n);
  A[0].v = -model.gravity();
  for (std::size_t i = 1; i < n; ++i) {
    const Body<T>& body = model.bodies()[i];
    const std::size_t p = static_cast<std::size_t>(body.parent.value());
    const T* qi = q.data() + body.q_start;
    const T* vi = v.data() + body.v_start;
    X[i] = body.X_PJ * body.joint.pose(qi);
    const Motion<T> V_J = body.joint.velocity(qi, vi);
    V[i] = X[i].inv_act(V[p]) + V_J;
    A[i] = X[i].inv_act(A[p]) + body.joint.velocity(qi, a.data() + body.v_start) +
           body.joint.bias(qi, vi) + cross(V[i], V_J);
    F[i] = body.inertia * A[i] + cross(V[i], body.inertia * V[i]);
  }
  VectorX<T> tau(model.nv());
  for (std::size_t i = n - 1; i > 0; --i) {
    const Body<T>& body = model.bodies()[i];
    Motion<T> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    for (int k = 0; k < body.joint.nv(); ++k) tau[body.v_start + k] = dot(S[k], F[i]);
    F[static_cast<std::size_t>(body.parent.value())] += X[i].act(F[i]);
  }
  return tau;
=======
#include <map>
#include <string>
#include <vector>

#include "limb/math/se3.hpp"
#include "limb/model/description.hpp"

/// A slow and plain walk over a Description, for tests of readers: poses by the exponential map,
/// geometric Jacobians, M = sum m Jv^T Jv + Jw^T I Jw. Joints must stand parent before child and
/// have at most one degree of freedom; a free joint stays at identity.
namespace limb::testing {

struct WalkedJoint {
  std::string name;
  bool revolute = false;
  Vector3<double> axis_W, point_W;
};

struct WalkedLink {
  std::string name;
  Pose<double> X_WL;
  std::vector<int> ancestors;  ///< moving joints between the world and the link
  Inertia<double> I_W;         ///< about the world's origin, in its axes
  double mass = 0;
  Vector3<double> com_W = Vector3<double>::Zero();
  Matrix3<double> tensor_W = Matrix3<double>::Zero();  ///< about the mass centre
};

struct Walk {
  std::vector<WalkedJoint> joints;  ///< the moving ones, in file order: the order of q
  std::vector<WalkedLink> links;    ///< in the order of the joints
};

inline int moving_joints(const Description<double>& d) {
  int n = 0;
  for (const auto& joint : d.joints) n += joint_nv(joint.type) == 1 ? 1 : 0;
  return n;
}

inline Walk walk(const Description<double>& d, const VectorX<double>& q) {
  Walk result;
  std::map<std::string, const LinkDescription<double>*> links;
  for (const auto& link : d.links) links[link.name] = &link;
  std::map<std::string, WalkedLink> done;
  done[kWorldLink] = {};
  for (const auto& joint : d.joints) {
    const WalkedLink& parent = done.at(joint.parent);
    const Pose<double> X_WJ = parent.X_WL * joint.X_PJ;
    WalkedLink link;
    link.name = joint.child;
    link.ancestors = parent.ancestors;
    Pose<double> X_J;
    if (joint_nv(joint.type) == 1) {
      const int i = static_cast<int>(result.joints.size());
      const bool prismatic = joint.type == JointType::prismatic;
      link.ancestors.push_back(i);
      result.joints.push_back({joint.name, !prismatic, X_WJ.R * joint.axis, X_WJ.p});
      if (!prismatic) X_J.R = so3::exp<double>(joint.axis * q[i]);
      if (prismatic) X_J.p = joint.axis * q[i];
      if (joint.type == JointType::helical) X_J.p = joint.axis * (joint.pitch * q[i]);
    }
    link.X_WL = X_WJ * X_J * joint.X_JC;
    if (const auto& inertial = links.at(joint.child)->inertial) {
      const Pose<double> X_WI = link.X_WL * inertial->X_LI;
      link.mass = inertial->mass;
      link.com_W = X_WI.p;
      link.tensor_W = rotate_tensor<double>(X_WI.R, inertial->tensor);
      link.I_W = inertial->inertia().seen_from(link.X_WL);
    }
    done[joint.child] = link;
    result.links.push_back(link);
  }
  return result;
}

/// q = G y + q0: the identity with a row replaced for each coupled joint.
inline MatrixX<double> coupling_matrix(const Description<double>& d, const Walk& w) {
  const auto n = static_cast<Eigen::Index>(w.joints.size());
  const auto index = [&](const std::string& name) {
    for (Eigen::Index i = 0; i < n; ++i) {
      if (w.joints[static_cast<std::size_t>(i)].name == name) return i;
    }
    return Eigen::Index(-1);
  };
  MatrixX<double> G = MatrixX<double>::Identity(n, n);
  std::vector<Eigen::Index> dependent;
  for (const auto& coupling : d.couplings) {
    const Eigen::Index row = index(coupling.joint);
    dependent.push_back(row);
    G.row(row).setZero();
    for (const auto& term : coupling.terms) G(row, index(term.joint)) += term.ratio;
  }
  MatrixX<double> independent(n, n - static_cast<Eigen::Index>(dependent.size()));
  Eigen::Index column = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (std::find(dependent.begin(), dependent.end(), i) == dependent.end()) {
      independent.col(column++) = G.col(i);
    }
  }
  return independent;
}

struct Dynamics {
  MatrixX<double> M;
  VectorX<double> gravity_force;
  double potential = 0;
};

/// In the independent coordinates y.
inline Dynamics dynamics(const Description<double>& d, const VectorX<double>& y) {
  const VectorX<double> zero = VectorX<double>::Zero(moving_joints(d));
  const MatrixX<double> G = coupling_matrix(d, walk(d, zero));
  const Walk w = walk(d, G * y);
  const auto n = static_cast<Eigen::Index>(w.joints.size());
  Dynamics result;
  result.M = MatrixX<double>::Zero(n, n);
  result.gravity_force = VectorX<double>::Zero(n);
  for (const WalkedLink& link : w.links) {
    Eigen::Matrix3Xd Jv = Eigen::Matrix3Xd::Zero(3, n), Jw = Jv;
    for (const int i : link.ancestors) {
      const WalkedJoint& joint = w.joints[static_cast<std::size_t>(i)];
      if (joint.revolute) {
        Jw.col(i) = joint.axis_W;
        Jv.col(i) = joint.axis_W.cross(link.com_W - joint.point_W);
      } else {
        Jv.col(i) = joint.axis_W;
      }
    }
    result.M += link.mass * Jv.transpose() * Jv + Jw.transpose() * link.tensor_W * Jw;
    result.gravity_force -= link.mass * Jv.transpose() * d.gravity;
    result.potential -= link.mass * d.gravity.dot(link.com_W);
  }
  result.M = G.transpose() * result.M * G;
  result.gravity_force = G.transpose() * result.gravity_force;
  return result;
>>>>>>> recipe
}

}  // namespace limb::testing
