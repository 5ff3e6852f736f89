#pragma once

#include "limb/dynamics/constraint_set_impl.hpp"
#include "limb/dynamics/triple.hpp"

/// Where constraints are, how they move, and what a unit of force on them accelerates.
///
/// Columns of a branch stand over its path in the factor, `kLanes` numbers for each velocity: 4 for
/// the rows of a point, 8 for those of a frame; the rest are zero.
namespace limb::constraint_detail {

template <typename T>
std::size_t parent_of(const Model<T>& model, std::size_t body) {
  return static_cast<std::size_t>(model.bodies()[body].parent.value());
}

/// Poses, velocities and accelerations at rest of the joints, of the bodies that matter.
template <typename T>
void move_support(const Model<T>& model, const ConstraintSet<T>& set, const T* q, const T* v,
                  ConstraintWorkspace<T>& work) {
  const bool world = !set.loops().empty();
  for (const int body_index : set.support()) {
    const std::size_t i = static_cast<std::size_t>(body_index), p = parent_of(model, i);
    const Body<T>& body = model.bodies()[i];
    const T* qi = q + body.q_start;
    Motion<T>* S = work.S.data() + body.v_start;
    work.X_PB[i] = body.X_PJ * body.joint.pose(qi);
    body.joint.subspace(qi, S);
    Motion<T> V_J;
    for (int k = 0; k < body.joint.nv(); ++k) V_J += S[k] * v[body.v_start + k];
    work.V_WB_B[i] = work.X_PB[i].inv_act(work.V_WB_B[p]) + V_J;
    work.A_WB_B[i] = work.X_PB[i].inv_act(work.A_WB_B[p]) + cross(work.V_WB_B[i], V_J);
    if (!body.joint.subspace_is_constant()) {
      work.A_WB_B[i] += body.joint.bias(qi, v + body.v_start);
    }
    if (world) work.X_WB[i] = work.X_WB[p] * work.X_PB[i];
  }
}

/// Velocity and classical acceleration at rest of the joints, of a frame C on a body, in its axes.
template <typename T>
struct FrameMotion {
  Motion<T> V, a;
};
template <typename T>
FrameMotion<T> motion_on(const ConstraintWorkspace<T>& work, std::size_t body,
                         const Pose<T>& X_BC) {
  FrameMotion<T> m{X_BC.inv_act(work.V_WB_B[body]), X_BC.inv_act(work.A_WB_B[body])};
  m.a.v = entries::add_cross<T>(m.a.v, m.V.w, m.V.v);
  return m;
}

/// Fills J of one branch for a frame at X_BC on its body. @returns X_WC.
template <int kLanes, typename T>
Pose<T> fill_columns(const Model<T>& model, const typename ConstraintSet<T>::Branch& branch,
                     Pose<T> X, ConstraintWorkspace<T>& work) {
  T* J = work.J.data() + branch.start;
  const bool coupled = !model.coupling().is_identity();
  for (int m = 0; m < branch.length * kLanes; ++m) J[m] = T(0);
  const auto add = [&](int position, const T& ratio, const Motion<T>& V) {
    T* column = J + position * kLanes;
    for (int r = 0; r < 3; ++r) {
      column[r] = column[r] + ratio * V.v[r];
      if constexpr (kLanes == 8) column[r + 3] = column[r + 3] + ratio * V.w[r];
    }
  };
  int position = branch.length;
  for (std::size_t i = branch.body; i > 0; i = parent_of(model, i)) {
    const Body<T>& body = model.bodies()[i];
    const int nv = body.joint.nv();
    position -= nv;  // means the place on the path only where none follows another
    for (int k = 0; k < nv; ++k) {
      const Motion<T> V = X.inv_act(work.S[static_cast<std::size_t>(body.v_start + k)]);
      if (coupled) {
        for_each_column(model, i, k, [&](int y, const T& ratio) { add(y, ratio, V); });
      } else {
        add(position + k, T(1), V);
      }
    }
    X = work.X_PB[i] * X;
  }
  return X;
}

/// (linear, angular) of 3 or 6 rows.
template <typename T>
void write_rows(int rows, const Motion<T>& V, T* x) {
  for (int r = 0; r < 3; ++r) x[r] = V.v[r];
  if (rows == 3) return;
  for (int r = 0; r < 3; ++r) x[r + 3] = V.w[r];
}

template <typename T>
Motion<T> turned(const Matrix3<T>& R, const Motion<T>& V) {
  return {entries::product<T>(R, V.v), entries::product<T>(R, V.w)};
}

template <typename T>
void turn_columns(const Matrix3<T>& R, int lanes, int count, T* J) {
  for (int m = 0; m < count; ++m) {
    for (int part = 0; part + 3 < lanes; part += 3) {
      T* x = J + m * lanes + part;
      const Vector3<T> y = entries::product<T>(R, Vector3<T>(x[0], x[1], x[2]));
      for (int r = 0; r < 3; ++r) x[r] = y[r];
    }
  }
}

/// Whether a gain is set: always, where that cannot be asked.
template <typename T>
bool is_set(const T& gain) {
  if constexpr (Branching<T>) return T(0) < gain;
  return true;
}

/// a - wanted + damping V + stiffness error: what J a must be the opposite of.
template <typename T, typename Error>
Motion<T> drift_of(const Motion<T>& a, const Motion<T>& V, const Stabilization<T>& s,
                   const Error& error) {
  Motion<T> drift = a;
  if (is_set(s.damping)) drift += V * s.damping;
  if (is_set(s.stiffness)) drift += error() * s.stiffness;
  return drift;
}

template <typename T>
void place_contact(const Model<T>& model, const ConstraintSet<T>& set, int i,
                   ConstraintWorkspace<T>& work) {
  const auto& item = set.items()[set.at(i)];
  const auto& branch = set.branches()[set.at(item.first_branch)];
  const Contact<T>& contact = set.contacts()[set.at(i)];
  const Pose<T> X_WC = item.rows == 3 ? fill_columns<4>(model, branch, branch.X_BC, work)
                                      : fill_columns<8>(model, branch, branch.X_BC, work);
  FrameMotion<T> m = motion_on(work, branch.body, branch.X_BC);
  const bool world = contact.axes == ContactAxes::world;
  if (world) {
    m = {turned(X_WC.R, m.V), turned(X_WC.R, m.a)};
    turn_columns(X_WC.R, lanes_of(item.rows), branch.length, work.J.data() + branch.start);
  }
  const Motion<T> drift = drift_of(m.a - contact.A_wanted, m.V, contact.stabilization, [&] {
    const Pose<T>& X_wanted = contact.X_WC_wanted;
    const Matrix3<T> R_error = X_wanted.R.transpose() * X_WC.R;
    Motion<T> error{X_WC.p - X_wanted.p, so3::log<T>(R_error)};
    if (world) {
      error.w = entries::product<T>(X_WC.R, error.w);
    } else {
      error.v = entries::transpose_product<T>(X_WC.R, error.v);
    }
    return error;
  });
  write_rows(item.rows, m.V, work.velocity.data() + item.first_row);
  write_rows(item.rows, drift, work.drift.data() + item.first_row);
}

template <typename T>
void place_loop(const Model<T>& model, const ConstraintSet<T>& set, int i,
                ConstraintWorkspace<T>& work) {
  const auto& item = set.items()[set.at(i)];
  const auto& B = set.branches()[set.at(item.first_branch)];
  const auto& A = set.branches()[set.at(item.first_branch + 1)];
  const LoopClosure<T>& closure = set.loops()[set.at(i) - set.contacts().size()];
  // C: the axes of A's loop frame, at the origin of B's, on either body.
  const Pose<T> X_WA = work.X_WB[A.body] * A.X_BC, X_WL = work.X_WB[B.body] * B.X_BC;
  const Pose<T> X_AL = X_WA.inverse() * X_WL;
  const Pose<T> on_A = A.X_BC * Pose<T>{Matrix3<T>::Identity(), X_AL.p};
  const Pose<T> on_B{B.X_BC.R * X_AL.R.transpose(), B.X_BC.p};
  if (item.rows == 3) {
    fill_columns<4>(model, B, on_B, work);
    fill_columns<4>(model, A, on_A, work);
  } else {
    fill_columns<8>(model, B, on_B, work);
    fill_columns<8>(model, A, on_A, work);
  }
  const FrameMotion<T> b = motion_on(work, B.body, on_B), a = motion_on(work, A.body, on_A);
  const Motion<T> V = b.V - a.V;
  Motion<T> bias = b.a - a.a;  // and the axes turn with A
  bias.v += T(2) * entries::cross<T>(V.v, a.V.w);
  bias.w += entries::cross<T>(V.w, a.V.w);
  const Motion<T> drift = drift_of(bias, V, closure.stabilization, [&] {
    return Motion<T>{X_AL.p, so3::log<T>(X_AL.R)};
  });
  write_rows(item.rows, V, work.velocity.data() + item.first_row);
  write_rows(item.rows, drift, work.drift.data() + item.first_row);
}

/// J, J v and drift of all active constraints at the robot's own q, v.
template <typename T>
void place_constraints(const Model<T>& model, const ConstraintSet<T>& set, const T* q, const T* v,
                       ConstraintWorkspace<T>& work) {
  if (!model.coupling().is_identity()) {
    model.coupling().expand_position(q, work.q.data());
    model.coupling().expand_velocity(v, work.v.data());
    q = work.q.data();
    v = work.v.data();
  }
  move_support(model, set, q, v, work);
  const int contacts = static_cast<int>(set.contacts().size());
  for (int i = 0; i < set.size(); ++i) {
    if (!set.items()[set.at(i)].active) continue;
    if (i < contacts) {
      place_contact(model, set, i, work);
    } else {
      place_loop(model, set, i, work);
    }
  }
}

/// Calls use(item, branch, lanes) for each branch of each active constraint.
template <typename T, typename Use>
void for_each_branch(const ConstraintSet<T>& set, const Use& use) {
  for (const auto& item : set.items()) {
    if (!item.active) continue;
    for (int b = item.first_branch; b < item.first_branch + item.branches; ++b) {
      use(item, b, lanes_of(item.rows));
    }
  }
}

/// Y = L^-T J^T on one branch, and Z = D^-1 Y.
template <int kLanes, typename T>
void release_branch(const kernel::PackedFactor<T>& F,
                    const typename ConstraintSet<T>::Branch& branch, ConstraintWorkspace<T>& work) {
  using Lanes = Eigen::Array<T, kLanes, 1>;
  using Map = Eigen::Map<Lanes>;
  if (branch.length == 0) return;
  const T* J = work.J.data() + branch.start;
  T *Y = work.Y.data() + branch.start, *Z = work.Z.data() + branch.start;
  const int* path = F.path_of(branch.leaf);
  for (int m = 0; m < branch.length * kLanes; ++m) Y[m] = J[m];
  for (int m = branch.length - 1; m >= 0; --m) {
    const T* row = F.row(path[m]);
    const Lanes y = Map(Y + m * kLanes);
    for (int l = 0; l < m; ++l) Map(Y + l * kLanes) -= row[l] * y;
    Map(Z + m * kLanes) = F.inverse[path[m]] * y;
  }
}

/// A(first_b .., first_a ..) += Z_b^T Y_a over the velocities that two branches share.
template <int kRowsA, int kLanesA, int kLanesB, typename T>
LIMB_INLINE void add_block(int shared, int rows_b, const T* Y, const T* Z, const T& sign, T* A,
                           Eigen::Index stride) {
  using Lanes = Eigen::Array<T, kLanesB, 1>;
  Lanes sum[kRowsA];
  for (int r = 0; r < kRowsA; ++r) sum[r] = Lanes::Constant(T(0));
  for (int m = 0; m < shared; ++m) {
    const Lanes z = Eigen::Map<const Lanes>(Z + m * kLanesB);
    for (int r = 0; r < kRowsA; ++r) sum[r] += Y[m * kLanesA + r] * z;
  }
  for (int r = 0; r < kRowsA; ++r) {
    for (int s = 0; s < rows_b; ++s) A[s + r * stride] = A[s + r * stride] + sign * sum[r][s];
  }
}

/// Y and Z of all branches, and the upper triangle of A = J M^-1 J^T, whole blocks.
template <typename T>
void assemble(const ConstraintSet<T>& set, ConstraintWorkspace<T>& work) {
  const int rows = set.rows();
  for (int c = 0; c < rows; ++c) {
    for (int r = 0; r < rows; ++r) work.A(r, c) = T(0);
  }
  const auto& F = work.factor.packed();
  for_each_branch(set, [&](const auto&, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    if (lanes == 4) {
      release_branch<4>(F, branch, work);
    } else {
      release_branch<8>(F, branch, work);
    }
  });
  for_each_branch(set, [&](const auto& item_a, int a, int lanes_a) {
    for_each_branch(set, [&](const auto& item_b, int b, int lanes_b) {
      if (item_b.first_row > item_a.first_row) return;
      const auto &branch_a = set.branches()[set.at(a)], &branch_b = set.branches()[set.at(b)];
      const T* Y = work.Y.data() + branch_a.start;
      const T* Z = work.Z.data() + branch_b.start;
      T* A = &work.A(item_b.first_row, item_a.first_row);
      const Eigen::Index stride = work.A.outerStride();
      const T sign = branch_a.sign * branch_b.sign;
      const int shared = set.shared(a, b);
      if (lanes_a == 4 && lanes_b == 4) {
        add_block<3, 4, 4>(shared, 3, Y, Z, sign, A, stride);
      } else if (lanes_a == 4) {
        add_block<3, 4, 8>(shared, 6, Y, Z, sign, A, stride);
      } else if (lanes_b == 4) {
        add_block<6, 8, 4>(shared, 3, Y, Z, sign, A, stride);
      } else {
        add_block<6, 8, 8>(shared, 6, Y, Z, sign, A, stride);
      }
    });
  });
}

/// x_rows += columns^T y for all active rows: with J and v this is J v.
template <typename T>
void add_rows(const ConstraintSet<T>& set, const kernel::PackedFactor<T>& F,
              const std::vector<T>& columns, const T* y, T* x) {
  for_each_branch(set, [&](const auto& item, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    if (branch.length == 0) return;
    const int* path = F.path_of(branch.leaf);
    const T* C = columns.data() + branch.start;
    T sum[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    for (int m = 0; m < branch.length; ++m) {
      const T& value = y[path[m]];
      for (int r = 0; r < item.rows; ++r) sum[r] = sum[r] + C[m * lanes + r] * value;
    }
    for (int r = 0; r < item.rows; ++r) {
      x[item.first_row + r] = x[item.first_row + r] + branch.sign * sum[r];
    }
  });
}

/// y += columns f over all active rows: with J and forces this is J^T f.
template <typename T>
void add_columns(const ConstraintSet<T>& set, const kernel::PackedFactor<T>& F,
                 const std::vector<T>& columns, const T* f, T* y) {
  for_each_branch(set, [&](const auto& item, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    if (branch.length == 0) return;
    const int* path = F.path_of(branch.leaf);
    const T* C = columns.data() + branch.start;
    for (int m = 0; m < branch.length; ++m) {
      T sum = T(0);
      for (int r = 0; r < item.rows; ++r) sum = sum + C[m * lanes + r] * f[item.first_row + r];
      y[path[m]] = y[path[m]] + branch.sign * sum;
    }
  });
}

}  // namespace limb::constraint_detail
