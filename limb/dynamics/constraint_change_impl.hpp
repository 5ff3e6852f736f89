#pragma once

#include "limb/dynamics/carried_impl.hpp"
#include "limb/dynamics/constrained_derivatives.hpp"
#include "limb/dynamics/constrained_impl.hpp"

// How the rows and forces of constraints change with coordinates and velocities. Bodies a and b are
// asked about one point, the origin of b's frame (docs/derivations/constrained.md); a is the world
// for a contact. All in world axes, motions about O (carried_impl.hpp).

namespace limb {

template <typename T>
ConstrainedDerivativeWorkspace<T>::ConstrainedDerivativeWorkspace(const Model<T>& model,
                                                                  const ConstraintSet<T>& set)
    : constraints(model, set),
      tree(model, Loops::open),
      held(static_cast<std::size_t>(set.size())),
      kinematics(model),
      axes(static_cast<std::size_t>(model.nv())),
      regressor(model),
      columns_x(static_cast<std::size_t>(model.velocity_size())),
      columns_c(static_cast<std::size_t>(set.max_rows())),
      x(VectorX<T>::Constant(model.velocity_size(), T(0))),
      c(VectorX<T>::Constant(set.max_rows(), T(0))),
      spare(c),
      room_q(MatrixX<T>::Constant(model.velocity_size(), model.velocity_size(), T(0))),
      room_v(room_q),
      room_a(room_q),
      room_row(MatrixX<T>::Constant(set.max_rows(), model.velocity_size(), T(0))) {
  const std::size_t contacts = set.contacts().size(), count = model.bodies().size();
  std::vector<bool> any(count, false);
  for (std::size_t i = 0; i < held.size(); ++i) {
    Held& h = held[i];
    if (i < contacts) {
      const Contact<T>& contact = set.contacts()[i];
      const auto place = contact.frame.on("ConstrainedDerivativeWorkspace", model);
      h.b = place.body;
      h.X_bB = place.X_BF * contact.X_FC;
    } else {
      const Loop<T>& loop = model.loops()[set.at(set.loops()[i - contacts].loop)];
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
      h.carriers.push_back({body, on_a[body], on_b[body]});
    }
  }
  for (std::size_t body = 1; body < count; ++body) {
    if (any[body]) bodies.push_back(body);
  }
}

namespace constraint_change_detail {

using constraint_detail::is_set;
using jacobian_detail::moved;

/// A constraint at the state of the kinematics.
template <typename T>
struct Place {
  bool on_world;                 ///< a rests
  bool accelerated;              ///< A_a, A_b are known
  Vector3<T> p;                  ///< the point, from O
  Motion<T> V_a, V_b, A_a, A_b;  ///< about O
  Vector3<T> v_a, v_b;           ///< of the point of either body
};

template <typename T>
Place<T> place_of(const Kinematics<T>& k,
                  const typename ConstrainedDerivativeWorkspace<T>::Held& h) {
  Place<T> place;
  place.on_world = h.a == 0;
  place.p = k.p_OB_W[h.b] + entries::product<T>(k.X_WB[h.b].R, h.X_bB.p);
  place.V_a = carried_detail::at_O(k, h.a, k.V_WB_B[h.a]);
  place.V_b = carried_detail::at_O(k, h.b, k.V_WB_B[h.b]);
  place.v_a = moved<T>(place.V_a, place.p).v;
  place.v_b = moved<T>(place.V_b, place.p).v;
  place.accelerated = k.order == Kinematics<T>::Order::acceleration;
  if (place.accelerated) {
    place.A_a = carried_detail::at_O(k, h.a, k.A_WB_B[h.a]);
    place.A_b = carried_detail::at_O(k, h.b, k.A_WB_B[h.b]);
  }
  return place;
}

/// How all this changes along one direction.
template <typename T>
struct Change {
  Vector3<T> p = Vector3<T>::Zero();
  Motion<T> V_a, V_b, A_a, A_b;
};
template <typename T, typename Carrier>
Change<T> by_coordinate(const Place<T>& at, const Carrier& carrier,
                        const carried_detail::Axis<T>& axis) {
  Change<T> d;
  if (carrier.carries_a) {
    d.V_a = cross(axis.S, at.V_a) + axis.rate;
    if (at.accelerated) d.A_a = cross(axis.S, at.A_a) + cross(axis.rate, at.V_a) + axis.bend;
  }
  if (carrier.carries_b) {
    d.p = moved<T>(axis.S, at.p).v;
    d.V_b = cross(axis.S, at.V_b) + axis.rate;
    if (at.accelerated) d.A_b = cross(axis.S, at.A_b) + cross(axis.rate, at.V_b) + axis.bend;
  }
  return d;
}
template <typename T, typename Carrier>
Change<T> by_velocity(const Place<T>& at, const Carrier& carrier,
                      const carried_detail::Axis<T>& axis) {
  Change<T> d;
  if (carrier.carries_a) {
    d.V_a = axis.S;
    if (at.accelerated) d.A_a = cross(axis.S, at.V_a) + axis.sum;
  }
  if (carrier.carries_b) {
    d.V_b = axis.S;
    if (at.accelerated) d.A_b = cross(axis.S, at.V_b) + axis.sum;
  }
  return d;
}

/// Of the velocity of b's point seen from a: J v.
template <typename T>
Motion<T> velocity_change(const Place<T>& at, const Change<T>& d) {
  Motion<T> V = moved<T>(d.V_b - d.V_a, at.p);
  V.v = entries::add_cross<T>(V.v, at.V_b.w - at.V_a.w, d.p);
  return V;
}

/// Of J a + dJ/dt v, rows that turn with a, as place_loop writes them.
template <typename T>
Motion<T> acceleration_change(const Place<T>& at, const Change<T>& d) {
  // Classical acceleration of a body's point: A at the point, and w x v.
  const auto point = [&](const Motion<T>& V, const Motion<T>& A, const Vector3<T>& v,
                         const Motion<T>& dV, const Motion<T>& dA) {
    const Vector3<T> dv = entries::add_cross<T>(moved<T>(dV, at.p).v, V.w, d.p);
    Vector3<T> da = entries::add_cross<T>(moved<T>(dA, at.p).v, A.w, d.p);
    da = entries::add_cross<T>(entries::add_cross<T>(da, dV.w, v), V.w, dv);
    return Motion<T>{da, dA.w};
  };
  Motion<T> c = point(at.V_b, at.A_b, at.v_b, d.V_b, d.A_b);
  if (at.on_world) return c;
  c = c - point(at.V_a, at.A_a, at.v_a, d.V_a, d.A_a);
  const Motion<T> V{at.v_b - at.v_a, at.V_b.w - at.V_a.w}, dV = velocity_change(at, d);
  c.v += T(2) * entries::add_cross<T>(entries::cross<T>(dV.v, at.V_a.w), V.v, d.V_a.w);
  c.w += entries::add_cross<T>(entries::cross<T>(dV.w, at.V_a.w), V.w, d.V_a.w);
  return c;
}

/// What the gains and wishes of a constraint add to the change of its rows.
template <typename T>
class Wishes {
 public:
  Wishes(const ConstraintSet<T>& set, const ConstrainedDerivativeWorkspace<T>& work, int i)
      : contact_(i < static_cast<int>(set.contacts().size())) {
    const Kinematics<T>& k = work.kinematics;
    const auto& held = work.held[set.at(i)];
    gains_ = contact_ ? set.contacts()[set.at(i)].stabilization
                      : set.loops()[set.at(i) - set.contacts().size()].stabilization;
    if (contact_) {
      const Contact<T>& contact = set.contacts()[set.at(i)];
      turning_ = contact.axes == ContactAxes::contact;
      wanted_ = constraint_detail::turned(work.constraints.R_W[set.at(i)], contact.A_wanted);
    }
    if (!is_set(gains_.stiffness)) return;
    const Matrix3<T> R_A =
        contact_ ? set.contacts()[set.at(i)].X_WC_wanted.R : k.X_WB[held.a].R * held.X_aA.R;
    const Matrix3<T> R_B = k.X_WB[held.b].R * held.X_bB.R;
    const Vector3<T> turn = so3::log<T>(R_A.transpose() * R_B);
    p_A_ = k.p_OB_W[held.a] + entries::product<T>(k.X_WB[held.a].R, held.X_aA.p);
    turn_ = R_A * turn;
    turn_rate_ = R_A * so3::right_jacobian_inverse<T>(turn) * R_B.transpose();
  }

  template <typename Carrier>
  void add_by_coordinate(const Place<T>& at, const Change<T>& d, const Carrier& carrier,
                         const Motion<T>& S, Motion<T>& c) const {
    add_damping(at, d, c);
    if (turning_ && carrier.carries_b) {
      c.v = entries::add_cross<T>(c.v, wanted_.v, S.w);
      c.w = entries::add_cross<T>(c.w, wanted_.w, S.w);
    }
    if (!is_set(gains_.stiffness)) return;
    const Vector3<T> none = Vector3<T>::Zero();
    const bool moves_a = carrier.carries_a && !contact_;
    const Vector3<T> w_a = moves_a ? S.w : none, w_b = carrier.carries_b ? S.w : none;
    Motion<T> error{d.p, entries::cross<T>(w_a, turn_)};
    if (moves_a) error.v -= moved<T>(S, p_A_).v;
    error.w += entries::product<T>(turn_rate_, w_b - w_a);
    c += error * gains_.stiffness;
  }
  void add_damping(const Place<T>& at, const Change<T>& d, Motion<T>& c) const {
    if (is_set(gains_.damping)) c += velocity_change(at, d) * gains_.damping;
  }

 private:
  bool contact_, turning_ = false;
  Stabilization<T> gains_;
  Motion<T> wanted_;
  Vector3<T> p_A_, turn_;
  Matrix3<T> turn_rate_;
};

/// Axes of all that carries a constraint, once the kinematics are those of the state.
template <typename T>
void see_carriers(const Model<T>& model, ConstrainedDerivativeWorkspace<T>& work) {
  for (const std::size_t body : work.bodies) {
    carried_detail::see_axes(model, work.kinematics, body,
                             work.axes.data() + model.bodies()[body].v_start);
  }
}

/// Calls use(carrier, j, axis) for each joint velocity that moves constraint i.
template <typename T, typename Use>
void for_each_axis(const Model<T>& model, const ConstrainedDerivativeWorkspace<T>& work,
                   std::size_t i, const Use& use) {
  for (const auto& carrier : work.held[i].carriers) {
    const Body<T>& body = model.bodies()[carrier.body];
    for (int j = 0; j < body.joint.nv(); ++j) {
      use(carrier, j, work.axes[static_cast<std::size_t>(body.v_start + j)]);
    }
  }
}

/// Calls use(i, item) for each active constraint.
template <typename T, typename Use>
void for_each_active(const ConstraintSet<T>& set, const Use& use) {
  for (int i = 0; i < set.size(); ++i) {
    const auto& item = set.items()[set.at(i)];
    if (item.active) use(i, item);
  }
}

/// Adds the rows of V to the columns of the robot's velocities that move velocity j of a body.
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
void add_acceleration_changes(const Model<T>& model, const ConstraintSet<T>& set,
                              const ConstrainedDerivativeWorkspace<T>& work, MatrixOut<T> by_q,
                              MatrixOut<T> by_v) {
  for_each_active(set, [&](int i, const auto& item) {
    const Place<T> at = place_of(work.kinematics, work.held[set.at(i)]);
    const Wishes<T> wishes(set, work, i);
    for_each_axis(model, work, set.at(i), [&](const auto& carrier, int j, const auto& axis) {
      const Change<T> dq = by_coordinate(at, carrier, axis), dv = by_velocity(at, carrier, axis);
      Motion<T> q = acceleration_change(at, dq), v = acceleration_change(at, dv);
      wishes.add_by_coordinate(at, dq, carrier, axis.S, q);
      wishes.add_damping(at, dv, v);
      add_rows_to<T>(model, item, carrier.body, j, q, by_q);
      add_rows_to<T>(model, item, carrier.body, j, v, by_v);
    });
  });
}

/// by_q += d(J v)/dq at the velocities of the kinematics.
template <typename T>
void add_velocity_changes(const Model<T>& model, const ConstraintSet<T>& set,
                          const ConstrainedDerivativeWorkspace<T>& work, MatrixOut<T> by_q) {
  for_each_active(set, [&](int i, const auto& item) {
    const Place<T> at = place_of(work.kinematics, work.held[set.at(i)]);
    for_each_axis(model, work, set.at(i), [&](const auto& carrier, int j, const auto& axis) {
      add_rows_to<T>(model, item, carrier.body, j,
                     velocity_change(at, by_coordinate(at, carrier, axis)), by_q);
    });
  });
}

/// out += J.
template <typename T>
void add_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                  const ConstrainedDerivativeWorkspace<T>& work, MatrixOut<T> out) {
  for_each_active(set, [&](int i, const auto& item) {
    const Place<T> at = place_of(work.kinematics, work.held[set.at(i)]);
    for_each_axis(model, work, set.at(i), [&](const auto& carrier, int j, const auto& axis) {
      add_rows_to<T>(model, item, carrier.body, j,
                     velocity_change(at, by_velocity(at, carrier, axis)), out);
    });
  });
}

/// out += d(J^T f)/dq times the sign, for forces f of constant world components.
template <typename T>
void add_force_changes(const Model<T>& model, const ConstraintSet<T>& set,
                       const ConstrainedDerivativeWorkspace<T>& work, const T* f, const T& sign,
                       MatrixOut<T> out) {
  for_each_active(set, [&](int i, const auto& item) {
    const Place<T> at = place_of(work.kinematics, work.held[set.at(i)]);
    const T* rows = f + item.first_row;
    Force<T> F{{rows[0], rows[1], rows[2]}, Vector3<T>::Zero()};
    if (item.rows == 6) F.n = {rows[3], rows[4], rows[5]};
    const Vector3<T> force = F.f;
    F.n = entries::add_cross<T>(F.n, at.p, force);
    for_each_axis(model, work, set.at(i), [&](const auto& by, int j, const auto& direction) {
      const Force<T> carried = cross(direction.S, F);
      // The point goes with b.
      Vector3<T> shift = Vector3<T>::Zero();
      if (by.carries_b) shift = entries::cross<T>(moved<T>(direction.S, at.p).v, force);
      for_each_axis(model, work, set.at(i), [&](const auto& of, int l, const auto& axis) {
        if (of.carries_a == of.carries_b) return;  // pushed from both sides
        T value = axis.S.w.dot(shift);
        const bool on_one_path = of.carries_a ? by.carries_a : by.carries_b;
        const bool together = model.bodies()[by.body].joint.subspace_is_constant();
        if (on_one_path && (by.body < of.body || (by.body == of.body && (together || j < l)))) {
          value = value - dot(axis.S, carried);
        }
        if (of.carries_a) value = -value;
        for_each_column(model, by.body, j, [&](int column, const T& column_ratio) {
          for_each_column(model, of.body, l, [&](int row, const T& row_ratio) {
            out(row, column) += sign * column_ratio * row_ratio * value;
          });
        });
      });
    });
  });
}

/// out += w x x times the sign for each direction, w the turn of the axes that the user of the
/// constraint sees.
template <typename T>
void add_turns(const Model<T>& model, const ConstraintSet<T>& set,
               const ConstrainedDerivativeWorkspace<T>& work, const T* x, const T& sign,
               MatrixOut<T> out) {
  const int contacts = static_cast<int>(set.contacts().size());
  for_each_active(set, [&](int i, const auto& item) {
    const bool contact = i < contacts;
    if (contact && set.contacts()[set.at(i)].axes == ContactAxes::world) return;
    const T* rows = x + item.first_row;
    const Vector3<T> linear(rows[0], rows[1], rows[2]);
    Vector3<T> angular = Vector3<T>::Zero();
    if (item.rows == 6) angular = {rows[3], rows[4], rows[5]};
    for_each_axis(model, work, set.at(i), [&](const auto& carrier, int j, const auto& axis) {
      if (!(contact ? carrier.carries_b : carrier.carries_a)) return;
      const Vector3<T> w = sign * axis.S.w;
      add_rows_to<T>(model, item, carrier.body, j,
                     {entries::cross<T>(w, linear), entries::cross<T>(w, angular)}, out);
    });
  });
}

}  // namespace constraint_change_detail
}  // namespace limb
