#pragma once

#include "limb/dynamics/kinematics/columns.hpp"
#include "limb/dynamics/kinematics/frames_impl.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"

// Symbols: S_W, dS_W motion of a joint at unit rate and its rate, world axes, at the origin of its
// body; arm from that origin to the point; x the same motion at the point.
namespace limb {
namespace jacobian_detail {

using kinematics_detail::rotated;
using kinematics_detail::rotated_back;

/// The reference point of a frame's velocity relative to each body: the frame's origin, or the
/// origin of the world, which is fixed.
template <typename T>
class Point {
 public:
  Point(const Kinematics<T>& k, const typename AnyFrame<T>::Placement& placement, FrameAxes axes)
      : k_(k), at_world_(axes == FrameAxes::world) {
    if (at_world_) return;
    const Matrix3<T>& R = k.X_WB[placement.body].R;
    const Motion<T>& V = k.V_WB_B[placement.body];
    p_O_ = k.p_OB_W[placement.body] + small_products::product<T>(R, placement.X_BF.p);
    v_ = small_products::product<T>(R, small_products::add_cross<T>(V.v, V.w, placement.X_BF.p));
  }

  /// From the origin of the body to the point, world axes.
  Vector3<T> arm(std::size_t body) const {
    if (at_world_) return -k_.X_WB[body].p;
    return p_O_ - k_.p_OB_W[body];
  }
  /// Rate of the arm. The velocity of the point is zero if the kinematics have none.
  Vector3<T> arm_rate(std::size_t body) const {
    return v_ - small_products::product<T>(k_.X_WB[body].R, k_.V_WB_B[body].v);
  }

 private:
  const Kinematics<T>& k_;
  bool at_world_;
  Vector3<T> p_O_ = Vector3<T>::Zero(), v_ = Vector3<T>::Zero();
};

/// Motion of the point at unit rate of one joint velocity, world axes.
template <typename T>
Motion<T> moved(const Motion<T>& S, const Vector3<T>& arm) {
  return {small_products::add_cross<T>(S.v, S.w, arm), S.w};
}

template <typename T>
void add_to(JacobianOut<T>& J, int column, const T& ratio, const Motion<T>& S) {
  for (int r = 0; r < 3; ++r) {
    J(r, column) += ratio * S.v[r];
    J(r + 3, column) += ratio * S.w[r];
  }
}

}  // namespace jacobian_detail

template <typename T>
void frame_jacobian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                    FrameAxes axes, JacobianOut<T> J) {
  using namespace jacobian_detail;
  check_kinematics("frame_jacobian", model, kinematics, Kinematics<T>::Order::position);
  check_columns("frame_jacobian", "J", model, J);
  const auto placement = frame.resolve("frame_jacobian", model);
  const Point<T> point(kinematics, placement, axes);
  const bool local = axes == FrameAxes::local;
  const Matrix3<T> R_WF = kinematics.X_WB[placement.body].R * placement.X_BF.R;
  J.setConstant(T(0));
  for_each_ancestor(model, placement.body, [&](std::size_t body, int j, std::size_t index) {
    Motion<T> S = moved<T>(kinematics.S_W[index], point.arm(body));
    if (local) S = rotated_back(R_WF, S);
    for_each_column(model, body, j,
                    [&](int column, const T& ratio) { add_to<T>(J, column, ratio, S); });
  });
}

template <typename T>
void frame_jacobian_rate(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                         FrameAxes axes, JacobianOut<T> dJ) {
  using namespace jacobian_detail;
  check_kinematics("frame_jacobian_rate", model, kinematics, Kinematics<T>::Order::velocity);
  check_columns("frame_jacobian_rate", "dJ", model, dJ);
  const auto placement = frame.resolve("frame_jacobian_rate", model);
  const Point<T> point(kinematics, placement, axes);
  const bool local = axes == FrameAxes::local;
  const Matrix3<T>& R_WB = kinematics.X_WB[placement.body].R;
  const Matrix3<T> R_WF = R_WB * placement.X_BF.R;
  const Vector3<T> w_WF = small_products::product<T>(R_WB, kinematics.V_WB_B[placement.body].w);
  dJ.setConstant(T(0));
  for_each_ancestor(model, placement.body, [&](std::size_t body, int j, std::size_t index) {
    const Motion<T>& S = kinematics.S_W[index];
    const Vector3<T> arm = point.arm(body);
    Motion<T> dS = moved<T>(kinematics.dS_W[index], arm);
    dS.v = small_products::add_cross<T>(dS.v, S.w, point.arm_rate(body));
    if (local) {
      // d(R^T x)/dt = R^T (dx/dt - w x x).
      const Motion<T> x = moved<T>(S, arm);
      dS = rotated_back<T>(R_WF, {small_products::add_cross<T>(dS.v, x.v, w_WF),
                                  small_products::add_cross<T>(dS.w, x.w, w_WF)});
    }
    for_each_column(model, body, j,
                    [&](int column, const T& ratio) { add_to<T>(dJ, column, ratio, dS); });
  });
}

template <typename T>
Motion<T> frame_jacobian_rate_times_v(const Model<T>& model, const Kinematics<T>& kinematics,
                                      FrameIn<T> frame, FrameAxes axes) {
  return frame_bias_acceleration(model, kinematics, frame, axes,
                                 axes == FrameAxes::local_world_aligned
                                     ? AccelerationKind::classical
                                     : AccelerationKind::spatial);
}

template <typename T>
void point_jacobian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                    const std::type_identity_t<Vector3<T>>& p_FQ, PointJacobianOut<T> J) {
  using namespace jacobian_detail;
  check_kinematics("point_jacobian", model, kinematics, Kinematics<T>::Order::position);
  check_columns("point_jacobian", "J", model, J);
  auto placement = frame.resolve("point_jacobian", model);
  placement.X_BF.p = placement.X_BF * p_FQ;
  const Point<T> point(kinematics, placement, FrameAxes::local_world_aligned);
  J.setConstant(T(0));
  for_each_ancestor(model, placement.body, [&](std::size_t body, int j, std::size_t index) {
    const Vector3<T> v = moved<T>(kinematics.S_W[index], point.arm(body)).v;
    for_each_column(model, body, j, [&](int column, const T& ratio) {
      for (int r = 0; r < 3; ++r) J(r, column) += ratio * v[r];
    });
  });
}

template <typename T>
Vector3<T> point_jacobian_rate_times_v(const Model<T>& model, const Kinematics<T>& kinematics,
                                       FrameIn<T> frame,
                                       const std::type_identity_t<Vector3<T>>& p_FQ) {
  const auto placement = frame.resolve("point_jacobian_rate_times_v", model);
  const BodyId body(static_cast<int>(placement.body));
  const Pose<T> X_BQ{placement.X_BF.R, placement.X_BF * p_FQ};
  return frame_bias_acceleration(model, kinematics, AnyFrame<T>(body, X_BQ),
                                 FrameAxes::local_world_aligned, AccelerationKind::classical)
      .v;
}

template <typename T>
void frame_hessian(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> frame,
                   FrameAxes axes, KinematicHessian<T>& H) {
  using namespace jacobian_detail;
  check_kinematics("frame_hessian", model, kinematics, Kinematics<T>::Order::position);
  if (H.size() != model.nv()) {
    fail("frame_hessian", "H", "of size " + std::to_string(H.size()), std::to_string(model.nv()),
         "make it from the same model");
  }
  const auto placement = frame.resolve("frame_hessian", model);
  const Point<T> point(kinematics, placement, axes);
  const Matrix3<T> R_WF = kinematics.X_WB[placement.body].R * placement.X_BF.R;
  H.set_zero();
  const auto moved_by = [&](std::size_t body, std::size_t index) {
    return moved<T>(kinematics.S_W[index], point.arm(body));
  };

  // x_j, x_k: motions at the point per unit of the two joint velocities, world axes. Direction k
  // moves the whole subtree of its body, x_j included if joint j is in it; if j is nearer to the
  // root, only the point moves with k.
  for_each_ancestor(model, placement.body, [&](std::size_t body_k, int k, std::size_t index_k) {
    const Motion<T> x_k = moved_by(body_k, index_k);
    const Body<T>& joint_k = model.bodies()[body_k];
    // The motion subspace of a joint may also depend on its own q.
    T unit[6];
    for (int i = 0; i < 6; ++i) unit[i] = T(i == k ? 1 : 0);
    Motion<T> own[6];
    joint_k.joint.subspace_rate(kinematics.q.data() + joint_k.q_start, unit, own);

    for_each_ancestor(model, placement.body, [&](std::size_t body_j, int j, std::size_t index_j) {
      const Motion<T> x_j = moved_by(body_j, index_j);
      const bool k_moves_j = body_j >= body_k;  // both are on one path to the root
      Motion<T> d;
      switch (axes) {
        case FrameAxes::local:  // the frame moves with k: relative to it x_j is constant
          if (!k_moves_j) d = rotated_back<T>(R_WF, cross(x_j, x_k));
          break;
        case FrameAxes::local_world_aligned:
          d = k_moves_j ? Motion<T>{x_k.w.cross(x_j.v), x_k.w.cross(x_j.w)}
                        : Motion<T>{x_j.w.cross(x_k.v), Vector3<T>::Zero()};
          break;
        default:
          if (k_moves_j) d = cross(x_k, x_j);
      }
      if (body_j == body_k) {
        const Motion<T> own_W = rotated<T>(kinematics.X_WB[body_j].R, own[j]);
        const Motion<T> own_x = moved<T>(own_W, point.arm(body_j));
        d += axes == FrameAxes::local ? rotated_back<T>(R_WF, own_x) : own_x;
      }
      for_each_column(model, body_k, k, [&](int column_k, const T& ratio_k) {
        for_each_column(model, body_j, j, [&](int column_j, const T& ratio_j) {
          auto column = H.column(column_j, column_k);
          const T ratio = ratio_j * ratio_k;
          for (int r = 0; r < 3; ++r) {
            column[r] += ratio * d.v[r];
            column[r + 3] += ratio * d.w[r];
          }
        });
      });
    });
  });
}

}  // namespace limb
