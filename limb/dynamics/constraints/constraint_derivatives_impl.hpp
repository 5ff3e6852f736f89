#pragma once

#include "limb/dynamics/constraints/constrained_derivatives_data.hpp"
#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/derivatives/axis_derivatives_impl.hpp"

// Derivatives of the rows and forces of constraints by q and v. A constraint relates the points of
// bodies a and b that are at the origin of b's frame (docs/derivations/constrained.md); a is the
// world for a contact. All in world axes, motions about O (axis_derivatives_impl.hpp).

namespace limb {

template <typename T>
ConstrainedDerivativeWorkspaceData<T>::ConstrainedDerivativeWorkspaceData(
    const Model<T>& model, const ConstraintSet<T>& set)
    : constraints(model, set),
      tree(model, Loops::open),
      frames(static_cast<std::size_t>(set.size())),
      kinematics(model),
      axes(static_cast<std::size_t>(model.uncoupled_nv())),
      regressor(model),
      columns_x(static_cast<std::size_t>(model.nv())),
      columns_c(static_cast<std::size_t>(set.max_rows())),
      x(VectorX<T>::Constant(model.nv(), T(0))),
      c(VectorX<T>::Constant(set.max_rows(), T(0))),
      spare(c),
      scratch_q(MatrixX<T>::Constant(model.nv(), model.nv(), T(0))),
      scratch_v(scratch_q),
      scratch_a(scratch_q),
      scratch_rows(MatrixX<T>::Constant(set.max_rows(), model.nv(), T(0))) {
  const std::size_t contacts = set.contacts().size(), count = model.bodies().size();
  std::vector<bool> any(count, false);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ConstrainedFrames& h = frames[i];
    if (i < contacts) {
      const Contact<T>& contact = set.contacts()[i];
      const auto placement = contact.frame.resolve("ConstrainedDerivativeWorkspace", model);
      h.b = placement.body;
      h.X_bB = placement.X_BF * contact.X_FC;
    } else {
      const Loop<T>& loop = model.loops()[set.at(set.loops()[i - contacts].loop)];
      if (loop.kind == LoopKind::polynomial) continue;
      h.a = set.at(loop.body_a.value());
      h.b = set.at(loop.body_b.value());
      h.X_aA = loop.X_AL;
      h.X_bB = loop.X_BL;
    }
    std::vector<bool> on_a(count, false), on_b(count, false);
    const auto mark = [&](std::size_t body, std::vector<bool>& on) {
      for (; body > 0; body = set.at(model.bodies()[body].parent.value())) on[body] = true;
    };
    mark(h.a, on_a);
    mark(h.b, on_b);
    for (std::size_t body = 1; body < count; ++body) {
      if (!on_a[body] && !on_b[body]) continue;
      any[body] = true;
      h.support.push_back({body, on_a[body], on_b[body]});
    }
  }
  for (std::size_t body = 1; body < count; ++body) {
    if (any[body]) bodies.push_back(body);
  }
}

namespace constraint_derivatives_detail {

using constraint_detail::is_set;
using jacobian_detail::moved;

/// Motion of the two bodies of a constraint at the state of the kinematics.
template <typename T>
struct ConstraintState {
  bool on_world;                 ///< body a is the world
  bool accelerated;              ///< A_a, A_b are known
  Vector3<T> p;                  ///< the point, from O
  Motion<T> V_a, V_b, A_a, A_b;  ///< about O
  Vector3<T> v_a, v_b;           ///< velocity of the point fixed to body a, to body b
};

template <typename T>
ConstraintState<T> constraint_state(
    const Kinematics<T>& k,
    const typename ConstrainedDerivativeWorkspaceData<T>::ConstrainedFrames& h) {
  ConstraintState<T> state;
  state.on_world = h.a == 0;
  state.p = k.p_OB_W[h.b] + small_products::product<T>(k.X_WB[h.b].R, h.X_bB.p);
  state.V_a = axis_derivatives_detail::at_O(k, h.a, k.V_WB_B[h.a]);
  state.V_b = axis_derivatives_detail::at_O(k, h.b, k.V_WB_B[h.b]);
  state.v_a = moved<T>(state.V_a, state.p).v;
  state.v_b = moved<T>(state.V_b, state.p).v;
  state.accelerated = k.order == Kinematics<T>::Order::acceleration;
  if (state.accelerated) {
    state.A_a = axis_derivatives_detail::at_O(k, h.a, k.A_WB_B[h.a]);
    state.A_b = axis_derivatives_detail::at_O(k, h.b, k.A_WB_B[h.b]);
  }
  return state;
}

/// Derivative of a ConstraintState along one direction.
template <typename T>
struct StateDerivative {
  Vector3<T> p = Vector3<T>::Zero();
  Motion<T> V_a, V_b, A_a, A_b;
};
template <typename T, typename SupportLink>
StateDerivative<T> derivative_by_q(const ConstraintState<T>& at, const SupportLink& link,
                                   const axis_derivatives_detail::AxisDerivatives<T>& axis) {
  StateDerivative<T> d;
  if (link.supports_a) {
    d.V_a = cross(axis.S, at.V_a) + axis.psi_dot;
    if (at.accelerated) d.A_a = cross(axis.S, at.A_a) + cross(axis.psi_dot, at.V_a) + axis.psi_ddot;
  }
  if (link.supports_b) {
    d.p = moved<T>(axis.S, at.p).v;
    d.V_b = cross(axis.S, at.V_b) + axis.psi_dot;
    if (at.accelerated) d.A_b = cross(axis.S, at.A_b) + cross(axis.psi_dot, at.V_b) + axis.psi_ddot;
  }
  return d;
}
template <typename T, typename SupportLink>
StateDerivative<T> derivative_by_v(const ConstraintState<T>& at, const SupportLink& link,
                                   const axis_derivatives_detail::AxisDerivatives<T>& axis) {
  StateDerivative<T> d;
  if (link.supports_a) {
    d.V_a = axis.S;
    if (at.accelerated) d.A_a = cross(axis.S, at.V_a) + axis.psi_s_dot;
  }
  if (link.supports_b) {
    d.V_b = axis.S;
    if (at.accelerated) d.A_b = cross(axis.S, at.V_b) + axis.psi_s_dot;
  }
  return d;
}

/// Derivative of J v, the velocity of b's point relative to a.
template <typename T>
Motion<T> velocity_derivative(const ConstraintState<T>& at, const StateDerivative<T>& d) {
  Motion<T> V = moved<T>(d.V_b - d.V_a, at.p);
  V.v = small_products::add_cross<T>(V.v, at.V_b.w - at.V_a.w, d.p);
  return V;
}

/// Derivative of J a + dJ/dt v, with rows in axes fixed to a as in compute_loop_rows.
template <typename T>
Motion<T> acceleration_derivative(const ConstraintState<T>& at, const StateDerivative<T>& d) {
  // Classical acceleration of a body's point: A at the point, and w x v.
  const auto point = [&](const Motion<T>& V, const Motion<T>& A, const Vector3<T>& v,
                         const Motion<T>& dV, const Motion<T>& dA) {
    const Vector3<T> dv = small_products::add_cross<T>(moved<T>(dV, at.p).v, V.w, d.p);
    Vector3<T> da = small_products::add_cross<T>(moved<T>(dA, at.p).v, A.w, d.p);
    da = small_products::add_cross<T>(small_products::add_cross<T>(da, dV.w, v), V.w, dv);
    return Motion<T>{da, dA.w};
  };
  Motion<T> c = point(at.V_b, at.A_b, at.v_b, d.V_b, d.A_b);
  if (at.on_world) return c;
  c = c - point(at.V_a, at.A_a, at.v_a, d.V_a, d.A_a);
  const Motion<T> V{at.v_b - at.v_a, at.V_b.w - at.V_a.w}, dV = velocity_derivative(at, d);
  c.v +=
      T(2) * small_products::add_cross<T>(small_products::cross<T>(dV.v, at.V_a.w), V.v, d.V_a.w);
  c.w += small_products::add_cross<T>(small_products::cross<T>(dV.w, at.V_a.w), V.w, d.V_a.w);
  return c;
}

/// Contribution of the gains and targets of a constraint to the derivatives of its rows.
template <typename T>
class TargetDerivatives {
 public:
  TargetDerivatives(const ConstraintSet<T>& set, const ConstrainedDerivativeWorkspaceData<T>& work,
                    int i)
      : contact_(i < static_cast<int>(set.contacts().size())) {
    const Kinematics<T>& k = work.kinematics;
    const auto& frames = work.frames[set.at(i)];
    gains_ = contact_ ? set.contacts()[set.at(i)].stabilization
                      : set.loops()[set.at(i) - set.contacts().size()].stabilization;
    if (contact_) {
      const Contact<T>& contact = set.contacts()[set.at(i)];
      rotating_axes_ = contact.axes == ContactAxes::contact;
      A_target_ =
          constraint_detail::rotated(work.constraints.data().R_W[set.at(i)], contact.A_target);
    }
    if (!is_set(gains_.stiffness)) return;
    const Matrix3<T> R_A =
        contact_ ? set.contacts()[set.at(i)].X_WC_target.R : k.X_WB[frames.a].R * frames.X_aA.R;
    const Matrix3<T> R_B = k.X_WB[frames.b].R * frames.X_bB.R;
    const Vector3<T> error = so3::log<T>(R_A.transpose() * R_B);
    p_A_ = k.p_OB_W[frames.a] + small_products::product<T>(k.X_WB[frames.a].R, frames.X_aA.p);
    rotation_error_ = R_A * error;
    rotation_error_jacobian_ = R_A * so3::right_jacobian_inverse<T>(error) * R_B.transpose();
  }

  template <typename SupportLink>
  void add_by_q(const ConstraintState<T>& at, const StateDerivative<T>& d, const SupportLink& link,
                const Motion<T>& S, Motion<T>& c) const {
    add_damping(at, d, c);
    if (rotating_axes_ && link.supports_b) {
      c.v = small_products::add_cross<T>(c.v, A_target_.v, S.w);
      c.w = small_products::add_cross<T>(c.w, A_target_.w, S.w);
    }
    if (!is_set(gains_.stiffness)) return;
    const Vector3<T> none = Vector3<T>::Zero();
    const bool moves_a = link.supports_a && !contact_;
    const Vector3<T> w_a = moves_a ? S.w : none, w_b = link.supports_b ? S.w : none;
    Motion<T> error{d.p, small_products::cross<T>(w_a, rotation_error_)};
    if (moves_a) error.v -= moved<T>(S, p_A_).v;
    error.w += small_products::product<T>(rotation_error_jacobian_, w_b - w_a);
    c += error * gains_.stiffness;
  }
  void add_damping(const ConstraintState<T>& at, const StateDerivative<T>& d, Motion<T>& c) const {
    if (is_set(gains_.damping)) c += velocity_derivative(at, d) * gains_.damping;
  }

 private:
  bool contact_, rotating_axes_ = false;
  Stabilization<T> gains_;
  Motion<T> A_target_;
  Vector3<T> p_A_, rotation_error_;
  Matrix3<T> rotation_error_jacobian_;
};

/// Updates the axes of all joints that support a constraint, from the kinematics of the state.
template <typename T>
void update_support_axes(const Model<T>& model, ConstrainedDerivativeWorkspaceData<T>& work) {
  for (const std::size_t body : work.bodies) {
    axis_derivatives_detail::compute_axis_derivatives(
        model, work.kinematics, body, work.axes.data() + model.bodies()[body].v_start);
  }
}

/// Calls use(link, j, axis) for each joint velocity that moves constraint i.
template <typename T, typename Use>
void for_each_axis(const Model<T>& model, const ConstrainedDerivativeWorkspaceData<T>& work,
                   std::size_t i, const Use& use) {
  for (const auto& link : work.frames[i].support) {
    const Body<T>& body = model.bodies()[link.body];
    for (int j = 0; j < body.joint.nv(); ++j) {
      use(link, j, work.axes[static_cast<std::size_t>(body.v_start + j)]);
    }
  }
}

/// Calls use(i, item) for each active constraint between frames.
template <typename T, typename Use>
void for_each_active(const ConstraintSet<T>& set, const Use& use) {
  for (int i = 0; i < set.size(); ++i) {
    const auto& item = set.items()[set.at(i)];
    if (item.active && !item.is_polynomial()) use(i, item);
  }
}

/// An active constraint q_b - p(q_a) = 0: its row, p at q_a, and the motion of joint a.
template <typename T>
struct PolynomialState {
  int row;
  std::size_t a, b;  ///< bodies
  PolynomialValue<T> p;
  T v_a, a_a;
  Stabilization<T> gains;
};

/// Calls use(state) for each active polynomial coupling.
template <typename T, typename Use>
void for_each_polynomial(const Model<T>& model, const ConstraintSet<T>& set, const Kinematics<T>& k,
                         const Use& use) {
  for (std::size_t i = set.contacts().size(); i < set.items().size(); ++i) {
    const auto& item = set.items()[i];
    if (!item.active || !item.is_polynomial()) continue;
    const LoopClosure<T>& closure = set.loops()[i - set.contacts().size()];
    const Loop<T>& loop = model.loops()[set.at(closure.loop)];
    const Body<T>& a = model.body(loop.body_a);
    use(PolynomialState<T>{item.first_row, set.at(loop.body_a.value()), set.at(loop.body_b.value()),
                           evaluate_polynomial<T>(loop.polynomial, k.q[a.q_start]), k.v[a.v_start],
                           k.a[a.v_start], closure.stabilization});
  }
}

/// Adds `value` for the velocity of a body's joint to one row.
template <typename T>
void add_to_row(const Model<T>& model, int row, std::size_t body, const T& value,
                MatrixOut<T>& out) {
  for_each_column(model, body, 0,
                  [&](int column, const T& ratio) { out(row, column) += ratio * value; });
}

/// Adds the rows of V to the columns of the generalized velocities that move velocity j of a body.
template <typename T, typename Item>
void add_rows_to(const Model<T>& model, const Item& item, std::size_t body, int j,
                 const Motion<T>& V, MatrixOut<T>& out) {
  for_each_column(model, body, j, [&](int column, const T& ratio) {
    for (int r = 0; r < 3; ++r) out(item.first_row + r, column) += ratio * V.v[r];
    if (item.rows == 3) return;
    for (int r = 0; r < 3; ++r) out(item.first_row + 3 + r, column) += ratio * V.w[r];
  });
}

/// by_q += d(J a + dJ/dt v - a*)/dq, by_v += ... /dv, at fixed a; kinematics of order acceleration.
template <typename T>
void add_acceleration_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                                  const ConstrainedDerivativeWorkspaceData<T>& work,
                                  MatrixOut<T> by_q, MatrixOut<T> by_v) {
  for_each_active(set, [&](int i, const auto& item) {
    const ConstraintState<T> at = constraint_state(work.kinematics, work.frames[set.at(i)]);
    const TargetDerivatives<T> targets(set, work, i);
    for_each_axis(model, work, set.at(i), [&](const auto& link, int j, const auto& axis) {
      const StateDerivative<T> dq = derivative_by_q(at, link, axis),
                               dv = derivative_by_v(at, link, axis);
      Motion<T> q = acceleration_derivative(at, dq), v = acceleration_derivative(at, dv);
      targets.add_by_q(at, dq, link, axis.S, q);
      targets.add_damping(at, dv, v);
      add_rows_to<T>(model, item, link.body, j, q, by_q);
      add_rows_to<T>(model, item, link.body, j, v, by_v);
    });
  });
  for_each_polynomial(model, set, work.kinematics, [&](const PolynomialState<T>& s) {
    const auto& [stiffness, damping] = s.gains;
    add_to_row<T>(model, s.row, s.a,
                  -(s.p.second * (s.a_a + damping * s.v_a) + s.p.third * s.v_a * s.v_a +
                    stiffness * s.p.first),
                  by_q);
    add_to_row<T>(model, s.row, s.b, stiffness, by_q);
    add_to_row<T>(model, s.row, s.a, -(T(2) * s.p.second * s.v_a + damping * s.p.first), by_v);
    add_to_row<T>(model, s.row, s.b, damping, by_v);
  });
}

/// by_q += d(J v)/dq at the velocities of the kinematics.
template <typename T>
void add_velocity_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                              const ConstrainedDerivativeWorkspaceData<T>& work,
                              MatrixOut<T> by_q) {
  for_each_active(set, [&](int i, const auto& item) {
    const ConstraintState<T> at = constraint_state(work.kinematics, work.frames[set.at(i)]);
    for_each_axis(model, work, set.at(i), [&](const auto& link, int j, const auto& axis) {
      add_rows_to<T>(model, item, link.body, j,
                     velocity_derivative(at, derivative_by_q(at, link, axis)), by_q);
    });
  });
  for_each_polynomial(model, set, work.kinematics, [&](const PolynomialState<T>& s) {
    add_to_row<T>(model, s.row, s.a, -s.p.second * s.v_a, by_q);
  });
}

/// out += J.
template <typename T>
void add_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                  const ConstrainedDerivativeWorkspaceData<T>& work, MatrixOut<T> out) {
  for_each_active(set, [&](int i, const auto& item) {
    const ConstraintState<T> at = constraint_state(work.kinematics, work.frames[set.at(i)]);
    for_each_axis(model, work, set.at(i), [&](const auto& link, int j, const auto& axis) {
      add_rows_to<T>(model, item, link.body, j,
                     velocity_derivative(at, derivative_by_v(at, link, axis)), out);
    });
  });
  for_each_polynomial(model, set, work.kinematics, [&](const PolynomialState<T>& s) {
    add_to_row<T>(model, s.row, s.a, -s.p.first, out);
    add_to_row<T>(model, s.row, s.b, T(1), out);
  });
}

/// out += d(J^T f)/dq times the sign, for forces f of constant world components.
template <typename T>
void add_force_derivatives(const Model<T>& model, const ConstraintSet<T>& set,
                           const ConstrainedDerivativeWorkspaceData<T>& work, const T* f,
                           const T& sign, MatrixOut<T> out) {
  for_each_active(set, [&](int i, const auto& item) {
    const ConstraintState<T> at = constraint_state(work.kinematics, work.frames[set.at(i)]);
    const T* rows = f + item.first_row;
    Force<T> F{{rows[0], rows[1], rows[2]}, Vector3<T>::Zero()};
    if (item.rows == 6) F.n = {rows[3], rows[4], rows[5]};
    const Vector3<T> force = F.f;
    F.n = small_products::add_cross<T>(F.n, at.p, force);
    for_each_axis(model, work, set.at(i), [&](const auto& by, int j, const auto& direction) {
      const Force<T> carried = cross(direction.S, F);
      // The point moves with b.
      Vector3<T> shift = Vector3<T>::Zero();
      if (by.supports_b) shift = small_products::cross<T>(moved<T>(direction.S, at.p).v, force);
      for_each_axis(model, work, set.at(i), [&](const auto& of, int l, const auto& axis) {
        if (of.supports_a == of.supports_b) return;  // action and reaction cancel
        T value = axis.S.w.dot(shift);
        const bool on_one_path = of.supports_a ? by.supports_a : by.supports_b;
        const bool together = model.bodies()[by.body].joint.subspace_is_constant();
        if (on_one_path && (by.body < of.body || (by.body == of.body && (together || j < l)))) {
          value = value - dot(axis.S, carried);
        }
        if (of.supports_a) value = -value;
        for_each_column(model, by.body, j, [&](int column, const T& column_ratio) {
          for_each_column(model, of.body, l, [&](int row, const T& row_ratio) {
            out(row, column) += sign * column_ratio * row_ratio * value;
          });
        });
      });
    });
  });
  for_each_polynomial(model, set, work.kinematics, [&](const PolynomialState<T>& s) {
    const T value = -sign * s.p.second * f[s.row];
    for_each_column(model, s.a, 0, [&](int column, const T& column_ratio) {
      for_each_column(model, s.a, 0, [&](int row, const T& row_ratio) {
        out(row, column) += column_ratio * row_ratio * value;
      });
    });
  });
}

/// out += w x x times the sign for each direction, w the rotation rate of the constraint's axes.
template <typename T>
void add_axis_rotation(const Model<T>& model, const ConstraintSet<T>& set,
                       const ConstrainedDerivativeWorkspaceData<T>& work, const T* x, const T& sign,
                       MatrixOut<T> out) {
  const int contacts = static_cast<int>(set.contacts().size());
  for_each_active(set, [&](int i, const auto& item) {
    const bool contact = i < contacts;
    if (contact && set.contacts()[set.at(i)].axes == ContactAxes::world) return;
    const T* rows = x + item.first_row;
    const Vector3<T> linear(rows[0], rows[1], rows[2]);
    Vector3<T> angular = Vector3<T>::Zero();
    if (item.rows == 6) angular = {rows[3], rows[4], rows[5]};
    for_each_axis(model, work, set.at(i), [&](const auto& link, int j, const auto& axis) {
      if (!(contact ? link.supports_b : link.supports_a)) return;
      const Vector3<T> w = sign * axis.S.w;
      add_rows_to<T>(model, item, link.body, j,
                     {small_products::cross<T>(w, linear), small_products::cross<T>(w, angular)},
                     out);
    });
  });
}

}  // namespace constraint_derivatives_detail
}  // namespace limb
