#pragma once

#include <vector>

#include "limb/model/core/model.hpp"

/// Kinematics and dynamics of a model from first principles, short and slow: the reference of
/// tests.
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
      Eigen::Matrix<T, 6, Eigen::Dynamic>::Constant(6, model.uncoupled_nv(), T(0));
  Pose<T> X_BI;  // pose of body i in the current body of the traversal
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
  MatrixX<T> M = MatrixX<T>::Constant(model.uncoupled_nv(), model.uncoupled_nv(), T(0));
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto J = body_jacobian(model, q, i);
    M += J.transpose() * model.bodies()[i].inertia.matrix() * J;
  }
  return M;
}

/// Torques that hold the robot at rest: -sum of J^T (gravity wrench).
template <typename T>
VectorX<T> gravity_force(const Model<T>& model, const VectorX<T>& q) {
  VectorX<T> g = VectorX<T>::Constant(model.uncoupled_nv(), T(0));
  const auto X = body_poses(model, q);
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const Motion<T> fall{X[i].R.transpose() * model.gravity(), Vector3<T>::Zero()};
    g -= body_jacobian(model, q, i).transpose() * (model.bodies()[i].inertia * fall).vector();
  }
  return g;
}

/// Recursive Newton-Euler in its simplest form.
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
  VectorX<T> tau(model.uncoupled_nv());
  for (std::size_t i = n - 1; i > 0; --i) {
    const Body<T>& body = model.bodies()[i];
    Motion<T> S[6];
    body.joint.subspace(q.data() + body.q_start, S);
    for (int k = 0; k < body.joint.nv(); ++k) tau[body.v_start + k] = dot(S[k], F[i]);
    F[static_cast<std::size_t>(body.parent.value())] += X[i].act(F[i]);
  }
  return tau;
}

struct BodyMotion {
  Pose<double> X_WB;
  Motion<double> V_WB_B, A_WB_B;
};

/// Pose, body twist and spatial acceleration of every body; index 0 is the world at rest.
inline std::vector<BodyMotion> tree_motion(const Model<double>& model, const VectorX<double>& q,
                                           const VectorX<double>& v, const VectorX<double>& a) {
  std::vector<BodyMotion> motion(static_cast<std::size_t>(model.body_count()));
  for (std::size_t i = 1; i < motion.size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    const BodyMotion& parent = motion[static_cast<std::size_t>(body.parent.value())];
    const double *qi = q.data() + body.q_start, *vi = v.data() + body.v_start;
    const Pose<double> X_PB = body.X_PJ * body.joint.pose(qi);
    const Motion<double> V_J = body.joint.velocity(qi, vi);
    BodyMotion& b = motion[i];
    b.X_WB = parent.X_WB * X_PB;
    b.V_WB_B = X_PB.inv_act(parent.V_WB_B) + V_J;
    b.A_WB_B = X_PB.inv_act(parent.A_WB_B) + body.joint.velocity(qi, a.data() + body.v_start) +
               body.joint.bias(qi, vi) + cross(b.V_WB_B, V_J);
  }
  return motion;
}

}  // namespace limb::testing
