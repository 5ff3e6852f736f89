#pragma once

#include "limb/dynamics/constraints/constraint_kinematics_impl.hpp"
#include "limb/math/polynomial.hpp"

/// Rows of the constraints (J, J v, drift) and the Delassus matrix A = J M^-1 J^T.
///
/// The columns of a branch follow its path in the factor, `kLanes` numbers per velocity: 4 for the
/// rows of a point or a polynomial, 8 for those of a frame; the rest are zero. Rows are in world
/// axes; arguments and results of the public functions are in the axes of each constraint
/// (rotate_rows).
namespace limb::constraint_detail {

/// Frame C on a body: position from O, velocity, and classical acceleration at zero joint
/// acceleration.
template <typename T>
struct FrameMotion {
  Vector3<T> p;
  Motion<T> V, a;
};
template <typename T>
FrameMotion<T> motion_on(const typename ConstraintWorkspaceData<T>::BodyMotion& B,
                         const Vector3<T>& arm) {
  const Vector3<T> wr = small_products::cross<T>(B.w, arm);
  return {
      B.p + arm,
      {B.v + wr, B.w},
      {small_products::add_cross<T>(small_products::add_cross<T>(B.a, B.wd, arm), B.w, wr), B.wd}};
}

/// J of one branch: motion at the point p per unit of each velocity on its path.
template <int kLanes, typename T>
void fill_columns(const Model<T>& model, const kernel::PackedFactor<T>& F,
                  const typename ConstraintSet<T>::Branch& branch, const Vector3<T>& p,
                  ConstraintWorkspaceData<T>& work) {
  T* J = work.J.data() + branch.start;
  const auto write = [&](const Motion<T>& S, T* column) {
    const Vector3<T> v = small_products::add_cross<T>(S.v, S.w, p);
    for (int r = 0; r < 3; ++r) column[r] = v[r];
    if constexpr (kLanes == 8) {
      for (int r = 0; r < 3; ++r) column[r + 3] = S.w[r];
    }
  };
  if (model.coupling().is_identity()) {
    if (branch.length == 0) return;
    const int* path = F.path_of(branch.leaf);
    for (int m = 0; m < branch.length; ++m) {
      write(work.S[static_cast<std::size_t>(path[m])], J + m * kLanes);
    }
    return;
  }
  for (int m = 0; m < branch.length * kLanes; ++m) J[m] = T(0);
  const auto& joints = model.canonical().joints;
  const std::size_t body = static_cast<std::size_t>(
      branch.joint == 0 ? 0 : joints[static_cast<std::size_t>(branch.joint)].body);
  for_each_ancestor(model, body, [&](std::size_t b, int j, std::size_t index) {
    T column[kLanes] = {};
    write(work.S[index], column);
    for_each_column(model, b, j, [&](int y, const T& ratio) {
      for (int r = 0; r < kLanes; ++r) J[y * kLanes + r] += ratio * column[r];
    });
  });
}
template <typename T>
void fill_columns(const Model<T>& model, int rows, const typename ConstraintSet<T>::Branch& branch,
                  const Vector3<T>& p, ConstraintWorkspaceData<T>& work) {
  const auto& F = work.factor.packed();
  if (rows == 3) {
    fill_columns<4>(model, F, branch, p, work);
  } else {
    fill_columns<8>(model, F, branch, p, work);
  }
}

/// (linear, angular) of 3 or 6 rows.
template <typename T>
void write_rows(int rows, const Motion<T>& V, T* x) {
  for (int r = 0; r < 3; ++r) x[r] = V.v[r];
  if (rows == 3) return;
  for (int r = 0; r < 3; ++r) x[r + 3] = V.w[r];
}

template <typename T>
Motion<T> rotated(const Matrix3<T>& R, const Motion<T>& V) {
  return {small_products::product<T>(R, V.v), small_products::product<T>(R, V.w)};
}

/// Whether a gain is not zero; true for scalars that cannot branch.
template <typename T>
bool is_set(const T& gain) {
  if constexpr (Branching<T>) return T(0) < gain;
  return true;
}

/// a + damping V + stiffness error: the constraint is J a = -drift.
template <typename T, typename Error>
Motion<T> drift_of(const Motion<T>& a, const Motion<T>& V, const Stabilization<T>& s,
                   const Error& error) {
  Motion<T> drift = a;
  if (is_set(s.damping)) drift += V * s.damping;
  if (is_set(s.stiffness)) drift += error() * s.stiffness;
  return drift;
}

template <typename T>
void compute_contact_rows(const Model<T>& model, const ConstraintSet<T>& set, int i,
                          ConstraintWorkspaceData<T>& work) {
  const auto& item = set.items()[set.at(i)];
  const auto& branch = set.branches()[set.at(item.first_branch)];
  const Contact<T>& contact = set.contacts()[set.at(i)];
  const auto& B = work.bodies[set.at(branch.joint)];
  const FrameMotion<T> m = motion_on<T>(B, small_products::product<T>(B.R, branch.X_JC.p));
  fill_columns(model, item.rows, branch, m.p, work);
  Matrix3<T>& R_W = work.R_W[set.at(i)];  // stays the identity for world axes
  if (contact.axes == ContactAxes::contact) R_W = B.R * branch.X_JC.R;
  const Motion<T> drift =
      drift_of(m.a - rotated(R_W, contact.A_target), m.V, contact.stabilization, [&] {
        const Pose<T>& X_target = contact.X_WC_target;
        const Matrix3<T> R_WC = B.R * branch.X_JC.R;
        const Matrix3<T> R_error = X_target.R.transpose() * R_WC;
        return Motion<T>{work.p_WO + m.p - X_target.p, R_WC * so3::log<T>(R_error)};
      });
  write_rows(item.rows, m.V, work.velocity.data() + item.first_row);
  write_rows(item.rows, drift, work.drift.data() + item.first_row);
}

template <typename T>
void compute_loop_rows(const Model<T>& model, const ConstraintSet<T>& set, int i,
                       ConstraintWorkspaceData<T>& work) {
  const auto& item = set.items()[set.at(i)];
  const auto& branch_b = set.branches()[set.at(item.first_branch)];
  const auto& branch_a = set.branches()[set.at(item.first_branch + 1)];
  const LoopClosure<T>& closure = set.loops()[set.at(i) - set.contacts().size()];
  auto& world = work.bodies[0];
  world.p = -work.p_WO;
  const auto &A = work.bodies[set.at(branch_a.joint)], &B = work.bodies[set.at(branch_b.joint)];
  // The points of the two bodies that are now at the origin of B's frame.
  const FrameMotion<T> b = motion_on<T>(B, small_products::product<T>(B.R, branch_b.X_JC.p));
  const FrameMotion<T> a = motion_on<T>(A, b.p - A.p);
  fill_columns(model, item.rows, branch_b, b.p, work);
  fill_columns(model, item.rows, branch_a, b.p, work);
  const Motion<T> V = b.V - a.V;
  Motion<T> bias = b.a - a.a;  // and the rows rotate with A
  bias.v += T(2) * small_products::cross<T>(V.v, A.w);
  bias.w += small_products::cross<T>(V.w, A.w);
  const Matrix3<T> R_WA = A.R * branch_a.X_JC.R;
  work.R_W[set.at(i)] = R_WA;
  const Motion<T> drift = drift_of(bias, V, closure.stabilization, [&] {
    const Vector3<T> p_OA = A.p + small_products::product<T>(A.R, branch_a.X_JC.p);
    const Matrix3<T> R_error = R_WA.transpose() * (B.R * branch_b.X_JC.R);
    return Motion<T>{b.p - p_OA, R_WA * so3::log<T>(R_error)};
  });
  world.p = Vector3<T>::Zero();
  write_rows(item.rows, V, work.velocity.data() + item.first_row);
  write_rows(item.rows, drift, work.drift.data() + item.first_row);
}

/// J of one branch of a polynomial: `value` for the velocity of the body's joint.
template <typename T>
void fill_joint_column(const Model<T>& model, const typename ConstraintSet<T>::Branch& branch,
                       BodyId body, const T& value, ConstraintWorkspaceData<T>& work) {
  constexpr int kLanes = 4;
  T* J = work.J.data() + branch.start;
  for (int m = 0; m < branch.length * kLanes; ++m) J[m] = T(0);
  if (model.coupling().is_identity()) {
    J[(branch.length - 1) * kLanes] = value;
    return;
  }
  for_each_column(model, static_cast<std::size_t>(body.value()), 0,
                  [&](int y, const T& ratio) { J[y * kLanes] += ratio * value; });
}

/// q_b - p(q_a) = 0; q, v of the joints.
template <typename T>
void compute_polynomial_row(const Model<T>& model, const ConstraintSet<T>& set, int i, const T* q,
                            const T* v, ConstraintWorkspaceData<T>& work) {
  const auto& item = set.items()[set.at(i)];
  const LoopClosure<T>& closure = set.loops()[set.at(i) - set.contacts().size()];
  const Loop<T>& loop = model.loops()[set.at(closure.loop)];
  const Body<T>&a = model.body(loop.body_a), &b = model.body(loop.body_b);
  const T &v_a = v[a.v_start], &v_b = v[b.v_start];
  const PolynomialValue<T> p = evaluate_polynomial<T>(loop.polynomial, q[a.q_start]);
  fill_joint_column(model, set.branches()[set.at(item.first_branch)], loop.body_b, T(1), work);
  fill_joint_column(model, set.branches()[set.at(item.first_branch + 1)], loop.body_a, p.first,
                    work);
  const T rate = v_b - p.first * v_a;
  T drift = -p.second * v_a * v_a;
  const Stabilization<T>& s = closure.stabilization;
  if (is_set(s.damping)) drift += s.damping * rate;
  if (is_set(s.stiffness)) drift += s.stiffness * (q[b.q_start] - p.value);
  work.velocity[item.first_row] = rate;
  work.drift[item.first_row] = drift;
}

/// J, J v and drift of all active constraints at q, v.
template <typename T>
void compute_rows(const Model<T>& model, const ConstraintSet<T>& set, const T* q, const T* v,
                  ConstraintWorkspaceData<T>& work) {
  if (!model.coupling().is_identity()) {
    model.coupling().expand_position(q, work.q.data());
    model.coupling().expand_velocity(v, work.v.data());
    q = work.q.data();
    v = work.v.data();
  }
  constraint_kinematics(model, set, q, v, work);
  const int contacts = static_cast<int>(set.contacts().size());
  for (int i = 0; i < set.size(); ++i) {
    if (!set.items()[set.at(i)].active) continue;
    if (i < contacts) {
      compute_contact_rows(model, set, i, work);
    } else if (set.items()[set.at(i)].is_polynomial()) {
      compute_polynomial_row(model, set, i, q, v, work);
    } else {
      compute_loop_rows(model, set, i, work);
    }
  }
}

/// Rotates rows from world axes into those of the constraints, R^T x, or back, R x.
enum class RowAxes { constraint, world };
template <typename T>
void rotate_rows(const ConstraintSet<T>& set, const ConstraintWorkspaceData<T>& work, RowAxes to,
                 T* x) {
  for (int i = 0; i < set.size(); ++i) {
    const auto& item = set.items()[set.at(i)];
    if (!item.active || item.is_polynomial()) continue;
    const Matrix3<T>& R = work.R_W[set.at(i)];
    for (int part = item.first_row; part < item.first_row + item.rows; part += 3) {
      T* y = x + part;
      const Vector3<T> old(y[0], y[1], y[2]);
      const Vector3<T> z = to == RowAxes::constraint ? small_products::transpose_product<T>(R, old)
                                                     : small_products::product<T>(R, old);
      for (int r = 0; r < 3; ++r) y[r] = z[r];
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
void solve_branch(const kernel::PackedFactor<T>& F, const typename ConstraintSet<T>::Branch& branch,
                  ConstraintWorkspaceData<T>& work) {
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
void assemble_delassus(const ConstraintSet<T>& set, ConstraintWorkspaceData<T>& work) {
  const int rows = set.rows();
  for (int c = 0; c < rows; ++c) {
    for (int r = 0; r < rows; ++r) work.A(r, c) = T(0);
  }
  const auto& F = work.factor.packed();
  for_each_branch(set, [&](const auto&, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    if (lanes == 4) {
      solve_branch<4>(F, branch, work);
    } else {
      solve_branch<8>(F, branch, work);
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
      const auto add = [&]<int kRowsA, int kLanesA>() {
        if (lanes_b == 4) {
          add_block<kRowsA, kLanesA, 4>(shared, item_b.rows, Y, Z, sign, A, stride);
        } else {
          add_block<kRowsA, kLanesA, 8>(shared, item_b.rows, Y, Z, sign, A, stride);
        }
      };
      if (item_a.rows == 1) {
        add.template operator()<1, 4>();
      } else if (lanes_a == 4) {
        add.template operator()<3, 4>();
      } else {
        add.template operator()<6, 8>();
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
    const auto add = [&]<int kLanes>() {
      using Lanes = Eigen::Array<T, kLanes, 1>;
      Lanes sum = Lanes::Constant(T(0));
      for (int m = 0; m < branch.length; ++m) {
        sum += y[path[m]] * Eigen::Map<const Lanes>(C + m * kLanes);
      }
      for (int r = 0; r < item.rows; ++r) x[item.first_row + r] += branch.sign * sum[r];
    };
    if (lanes == 4) {
      add.template operator()<4>();
    } else {
      add.template operator()<8>();
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
    T force[6];
    for (int r = 0; r < item.rows; ++r) force[r] = branch.sign * f[item.first_row + r];
    for (int r = item.rows; r < 3; ++r) force[r] = T(0);
    for (int m = 0; m < branch.length; ++m) {
      const T* c = C + m * lanes;
      T sum = c[0] * force[0] + c[1] * force[1] + c[2] * force[2];
      if (lanes == 8) sum = sum + (c[3] * force[3] + c[4] * force[4] + c[5] * force[5]);
      y[path[m]] = y[path[m]] + sum;
    }
  });
}

}  // namespace limb::constraint_detail
