#pragma once

#include <vector>

#include "limb/model/model.hpp"

/// The mechanics of a tree in its plainest form, for tests that must not lean on the algorithms
/// that they check: every quantity from its definition, no thought for speed.
namespace limb::testing {

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

/// V_WB_B = J v, one column a unit velocity.
inline MatrixX<double> body_jacobian(const Model<double>& model, BodyId id,
                                     const VectorX<double>& q) {
  MatrixX<double> J(6, model.nv());
  const VectorX<double> zero = VectorX<double>::Zero(model.nv());
  for (int k = 0; k < model.nv(); ++k) {
    const auto motion = tree_motion(model, q, VectorX<double>::Unit(model.nv(), k), zero);
    J.col(k) = motion[static_cast<std::size_t>(id.value())].V_WB_B.vector();
  }
  return J;
}

inline MatrixX<double> mass_matrix(const Model<double>& model, const VectorX<double>& q) {
  MatrixX<double> M = MatrixX<double>::Zero(model.nv(), model.nv());
  for (int i = 1; i < model.body_count(); ++i) {
    const MatrixX<double> J = body_jacobian(model, BodyId(i), q);
    M += J.transpose() * model.body(BodyId(i)).inertia.matrix() * J;
  }
  return M;
}

/// tau = sum J^T (I (A - g) + V x* I V), gravity included: d'Alembert, body by body.
inline VectorX<double> inverse_dynamics(const Model<double>& model, const VectorX<double>& q,
                                        const VectorX<double>& v, const VectorX<double>& a) {
  VectorX<double> tau = VectorX<double>::Zero(model.nv());
  const auto motion = tree_motion(model, q, v, a);
  for (int i = 1; i < model.body_count(); ++i) {
    const BodyMotion& b = motion[static_cast<std::size_t>(i)];
    const Matrix6<double> I = model.body(BodyId(i)).inertia.matrix();
    Motion<double> A = b.A_WB_B;
    A.v -= b.X_WB.R.transpose() * model.gravity();
    const auto momentum = Force<double>::from_vector(I * b.V_WB_B.vector());
    const Vector6<double> F = I * A.vector() + cross(b.V_WB_B, momentum).vector();
    tau += body_jacobian(model, BodyId(i), q).transpose() * F;
  }
  return tau;
}

}  // namespace limb::testing
