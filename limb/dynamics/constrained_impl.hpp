#pragma once

#include <limits>

#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/constraint_motion_impl.hpp"
#include "limb/dynamics/rnea.hpp"

namespace limb {
namespace constraint_detail {

template <typename T>
void check_set(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
               const ConstraintWorkspace<T>& work) {
  if (set.velocity_size() != model.velocity_size()) {
    fail(call, "set", "of a model with " + std::to_string(set.velocity_size()) + " velocities",
         std::to_string(model.velocity_size()), "make it from the same model");
  }
  if (work.velocity.size() != set.max_rows() || work.h.size() != model.velocity_size() ||
      static_cast<int>(work.J.size()) != set.column_room()) {
    fail(call, "work", "of another model or set", "one made from these");
  }
}

template <typename T>
void check_rows(const char* call, const char* argument, const ConstraintSet<T>& set,
                VectorIn<T>& x) {
  if (x.size() != set.rows()) {
    check_size(call, argument, x.size(), set.rows(), "one for each active row");
  }
}

template <typename T>
T length(const T* x, int n) {
  using std::sqrt;
  T sum = T(0);
  for (int i = 0; i < n; ++i) sum = sum + x[i] * x[i];
  return sqrt(sum);
}

template <typename T>
ConstrainedReport<T> give_up(int singular, int rows, VectorOut<T>& x, VectorOut<T>& f) {
  x.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
  f.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
  return {singular, rows, 0, T(std::numeric_limits<double>::quiet_NaN())};
}

/// A of the placed constraints, factored. @returns the rank.
template <typename T>
int factorize_forces(const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
                     const ConstrainedOptions& options) {
  assemble(set, work);
  const int rows = set.rows();
  for (int r = 0; r < rows; ++r) work.A(r, r) += T(options.compliance);
  return work.solve.factorize(work.A, rows, T(options.rank_tolerance));
}

/// What generalized forces x cause under constraints that drift by c, once A is factored: x becomes
/// the accelerations, c the constraint forces, world axes. Not work.rhs itself.
template <typename T>
void respond(const ConstraintSet<T>& set, ConstraintWorkspace<T>& work, T* x, T* c) {
  // With y = L^-T (x + J^T f), a = L^-1 D^-1 y; J a needs only D^-1 L^-T J^T.
  const auto& F = work.factor.packed();
  const int n = static_cast<int>(work.h.size()), rows = set.rows();
  kernel::solve_transposed(F, n, x);
  add_rows(set, F, work.Z, x, c);
  for (int r = 0; r < rows; ++r) work.rhs[r] = -c[r];
  work.solve.solve(work.rhs.data(), c);
  add_columns(set, F, work.Y, c, x);
  for (int i = 0; i < n; ++i) x[i] = x[i] * F.inverse[i];
  kernel::solve_forward(F, n, x);
}

/// `from` to `to`: torques to accelerations, or the other way.
template <typename T>
void check_arguments(const char* call, const Model<T>& model, const ConstraintSet<T>& set,
                     const ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     const char* from_name, VectorIn<T>& from, const char* to_name,
                     const VectorOut<T>& to, const VectorOut<T>& f) {
  check_set(call, model, set, work);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
  check_velocity(call, from_name, model, from);
  check_velocity<T>(call, to_name, model, to);
  check_rows<T>(call, "f", set, f);
}

/// With the bias, external wrenches included, in work.h; constraints are placed here.
template <typename T>
ConstrainedReport<T> forward_dynamics(const Model<T>& model, const ConstraintSet<T>& set,
                                      ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                                      VectorIn<T>& tau, VectorOut<T>& a, VectorOut<T>& f,
                                      const ConstrainedOptions& options) {
  const int n = model.velocity_size(), rows = set.rows();
  const int singular = factorize_mass<T>(model, work.tree, q, work.factor, options.effects);
  if (singular >= 0) return give_up<T>(singular, rows, a, f);
  place_constraints(model, set, q.data(), v.data(), work);

  const int rank = factorize_forces(set, work, options);
  for (int i = 0; i < n; ++i) work.y[i] = tau[i] - work.h[i];
  for (int r = 0; r < rows; ++r) work.force[r] = work.drift[r];
  respond(set, work, work.y.data(), work.force.data());

  a = work.y;
  for (int r = 0; r < rows; ++r) {
    f[r] = work.force[r];
    work.rhs[r] = work.drift[r];
  }
  turn_rows(set, work, To::user, f.data());
  add_rows(set, work.factor.packed(), work.J, a.data(), work.rhs.data());
  return {-1, rows, rank, length(work.rhs.data(), rows)};
}

}  // namespace constraint_detail

template <typename T>
void constraint_jacobian(const Model<T>& model, const ConstraintSet<T>& set,
                         ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                         MatrixOut<T> J, VectorOut<T> drift) {
  using namespace constraint_detail;
  check_set("constraint_jacobian", model, set, work);
  check_position("constraint_jacobian", "q", model, q);
  check_velocity("constraint_jacobian", "v", model, v);
  check_shape("constraint_jacobian", "J", J.rows(), J.cols(), set.rows(), model.velocity_size());
  check_rows<T>("constraint_jacobian", "drift", set, drift);
  place_constraints(model, set, q.data(), v.data(), work);
  J.setConstant(T(0));
  const auto& F = work.factor.packed();
  for_each_branch(set, [&](const auto& item, int b, int lanes) {
    const auto& branch = set.branches()[set.at(b)];
    for (int m = 0; m < branch.length; ++m) {
      const int column = F.path_of(branch.leaf)[m];
      for (int r = 0; r < item.rows; ++r) {
        J(item.first_row + r, column) += branch.sign * work.J[set.at(branch.start + m * lanes + r)];
      }
    }
  });
  for (int c = 0; c < model.velocity_size(); ++c) {
    turn_rows(set, work, To::user, J.data() + c * J.outerStride());
  }
  for (int r = 0; r < set.rows(); ++r) drift[r] = work.drift[r];
  turn_rows(set, work, To::user, drift.data());
}

namespace constraint_detail {

/// With M a + h, external wrenches included, in work.h.
template <typename T>
ConstrainedReport<T> inverse_dynamics(const Model<T>& model, const ConstraintSet<T>& set,
                                      ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                                      VectorOut<T>& tau, VectorOut<T>& f,
                                      const ConstrainedOptions& options) {
  const int rows = set.rows(), n = model.velocity_size();
  constraint_jacobian<T>(model, set, work, q, v, work.dense.topRows(rows), work.drift.head(rows));

  // X = J^T on the velocities u without a motor: f = X^T (X X^T)^+ (M a + h)_u.
  int without = 0;
  for (int i = 0; i < n; ++i) {
    if (set.has_motor(i)) continue;
    int other = 0;
    for (int k = 0; k <= i; ++k) {
      if (set.has_motor(k)) continue;
      T sum = T(0);
      for (int r = 0; r < rows; ++r) sum = sum + work.dense(r, i) * work.dense(r, k);
      work.A(other++, without) = sum;
    }
    work.y[without++] = work.h[i];
  }
  const int rank = work.solve.factorize(work.A, without, T(options.rank_tolerance));
  work.solve.solve(work.y.data(), tau.data());
  for (int r = 0; r < rows; ++r) {
    T sum = T(0);
    int k = 0;
    for (int i = 0; i < n; ++i) {
      if (!set.has_motor(i)) sum = sum + work.dense(r, i) * tau[k++];
    }
    f[r] = sum;
  }

  int k = 0;
  for (int i = 0; i < n; ++i) {
    T rest = work.h[i];
    for (int r = 0; r < rows; ++r) rest = rest - work.dense(r, i) * f[r];
    tau[i] = set.has_motor(i) ? rest : T(0);
    if (!set.has_motor(i)) work.y[k++] = rest;
  }
  return {-1, rows, rank, length(work.y.data(), without)};
}

}  // namespace constraint_detail

template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options) {
  constraint_detail::check_arguments<T>("constrained_forward_dynamics", model, set, work, q, v,
                                        "tau", tau, "a", a, f);
  bias<T>(model, work.tree, q, v, work.h, options.effects);
  return constraint_detail::forward_dynamics<T>(model, set, work, q, v, tau, a, f, options);
}

template <typename T>
ConstrainedReport<T> constrained_forward_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, const ConstrainedOptions& options) {
  constraint_detail::check_arguments<T>("constrained_forward_dynamics", model, set, work, q, v,
                                        "tau", tau, "a", a, f);
  work.y.setConstant(T(0));
  rnea<T>(model, work.tree, q, v, work.y, external, work.h, options.effects);
  return constraint_detail::forward_dynamics<T>(model, set, work, q, v, tau, a, f, options);
}

template <typename T>
ConstrainedReport<T> impact(const Model<T>& model, const ConstraintSet<T>& set,
                            ConstraintWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                            VectorIn<T>& restitution, VectorOut<T> v_after, VectorOut<T> impulse,
                            const ConstrainedOptions& options) {
  using namespace constraint_detail;
  check_set("impact", model, set, work);
  check_position("impact", "q", model, q);
  check_velocity("impact", "v", model, v);
  check_velocity<T>("impact", "v_after", model, v_after);
  check_rows<T>("impact", "impulse", set, impulse);
  if (restitution.size() != 1) check_rows<T>("impact", "restitution", set, restitution);
  if constexpr (Real<T>) {
    for (Eigen::Index r = 0; r < restitution.size(); ++r) {
      if (restitution[r] >= 0 && restitution[r] <= 1) continue;
      fail("impact", "restitution[" + std::to_string(r) + "]", to_text(double(restitution[r])),
           "0 to 1");
    }
  }

  const int n = model.velocity_size(), rows = set.rows();
  const int singular = factorize_mass<T>(model, work.tree, q, work.factor, options.effects);
  if (singular >= 0) return give_up<T>(singular, rows, v_after, impulse);
  place_constraints(model, set, q.data(), v.data(), work);
  const int rank = factorize_forces(set, work, options);
  const auto e = [&](int r) { return restitution[restitution.size() == 1 ? 0 : r]; };
  turn_rows(set, work, To::user, work.velocity.data());
  for (int r = 0; r < rows; ++r) work.force[r] = (T(1) + e(r)) * work.velocity[r];
  turn_rows(set, work, To::world, work.force.data());
  for (int i = 0; i < n; ++i) work.y[i] = T(0);
  respond(set, work, work.y.data(), work.force.data());
  for (int i = 0; i < n; ++i) v_after[i] = v[i] + work.y[i];
  for (int r = 0; r < rows; ++r) {
    impulse[r] = work.force[r];
    work.rhs[r] = e(r) * work.velocity[r];
  }
  turn_rows(set, work, To::user, impulse.data());
  turn_rows(set, work, To::world, work.rhs.data());
  add_rows(set, work.factor.packed(), work.J, v_after.data(), work.rhs.data());
  return {-1, rows, rank, length(work.rhs.data(), rows)};
}

template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(const Model<T>& model,
                                                  const ConstraintSet<T>& set,
                                                  ConstraintWorkspace<T>& work, VectorIn<T>& q,
                                                  VectorIn<T>& v, VectorIn<T>& a, VectorOut<T> tau,
                                                  VectorOut<T> f,
                                                  const ConstrainedOptions& options) {
  constraint_detail::check_arguments<T>("constrained_inverse_dynamics", model, set, work, q, v, "a",
                                        a, "tau", tau, f);
  rnea<T>(model, work.tree, q, v, a, work.h, options.effects);
  return constraint_detail::inverse_dynamics<T>(model, set, work, q, v, tau, f, options);
}

template <typename T>
ConstrainedReport<T> constrained_inverse_dynamics(
    const Model<T>& model, const ConstraintSet<T>& set, ConstraintWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau,
    VectorOut<T> f, const ConstrainedOptions& options) {
  constraint_detail::check_arguments<T>("constrained_inverse_dynamics", model, set, work, q, v, "a",
                                        a, "tau", tau, f);
  rnea<T>(model, work.tree, q, v, a, external, work.h, options.effects);
  return constraint_detail::inverse_dynamics<T>(model, set, work, q, v, tau, f, options);
}

}  // namespace limb
