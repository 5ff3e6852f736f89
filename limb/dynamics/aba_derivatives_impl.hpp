#pragma once

#include <limits>

#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/rnea_derivatives_impl.hpp"

namespace limb {
namespace kernel {

/// X <- (L^T D L)^-1 X for 4 kLanes columns of X, which stands by rows, `stride` apart. Rows that
/// are no concern of these columns are zero at the beginning.
template <int kLanes, typename T>
void solve_columns(const PackedFactor<T>& F, int n,
                   std::span<const typename DerivativeWorkspace<T>::Concern> concerns, T* X,
                   Eigen::Index stride) {
  using P = PackedFactor<T>;
  const auto read = [](const T* row, Lanes<T>(&x)[kLanes]) __attribute__((always_inline)) {
    for (int m = 0; m < kLanes; ++m) x[m] = load(row + 4 * m);
  };
  const auto take =
      [](const T& entry, const T* row, Lanes<T>(&x)[kLanes]) __attribute__((always_inline)) {
    for (int m = 0; m < kLanes; ++m) x[m] -= entry * load(row + 4 * m);
  };
  const auto write = [](const Lanes<T>(&x)[kLanes], T* row) __attribute__((always_inline)) {
    for (int m = 0; m < kLanes; ++m) store<T>(x[m], row + 4 * m);
  };
  Lanes<T> x[kLanes];
  for (size_t i = concerns.size(); i-- > 0;) {  // L^-T: what the descendants of a row take from it
    const int r = concerns[i].row;
    T* const row = X + r * stride;
    read(row, x);
    const T* const L = F.L.data() + F.depth[P::at(r)] - 1;
    for (size_t k = i + 1; k < static_cast<size_t>(concerns[i].end); ++k) {
      const int descendant = concerns[k].row;
      take(L[F.start[P::at(descendant)]], X + descendant * stride, x);
    }
    write(x, row);
  }
  for (int k = 0; k < n; ++k) {  // D^-1, L^-1
    T* const row = X + k * stride;
    read(row, x);
    for (int m = 0; m < kLanes; ++m) x[m] *= F.inverse[k];
    const int* path = F.path_of(k);
    const T* entries = F.row(k);
    for (int m = F.depth[P::at(k)] - 2; m >= 0; --m) take(entries[m], X + path[m] * stride, x);
    write(x, row);
  }
}

/// out(r, c) = -rows[r * stride + c], four columns at a time.
template <typename T>
void write_transposed(const T* rows, Eigen::Index stride, int n, MatrixOut<T>& out) {
  const Eigen::Index next = out.outerStride();
  int c = 0;
  for (; c + 4 <= n; c += 4) {
    T *const first = out.data() + c * next, *const second = first + next,
             *const third = second + next, *const fourth = third + next;
    const T* from = rows + c;
    for (int r = 0; r < n; ++r, from += stride) {
      first[r] = -from[0];
      second[r] = -from[1];
      third[r] = -from[2];
      fourth[r] = -from[3];
    }
  }
  for (; c < n; ++c) {
    for (int r = 0; r < n; ++r) out(r, c) = -rows[r * stride + c];
  }
}

template <typename T>
int give_up(int singular, VectorOut<T>& a, MatrixOut<T>& first, MatrixOut<T>& second,
            MatrixOut<T>& third) {
  const T nan = T(std::numeric_limits<double>::quiet_NaN());
  a.setConstant(nan);
  first.setConstant(nan);
  second.setConstant(nan);
  third.setConstant(nan);
  return singular;
}

/// With the accelerations in a and the factor of M ready.
template <bool kExternal, typename T>
void forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  const JointEffects& effects, MatrixOut<T>& ddq_dq,
                                  MatrixOut<T>& ddq_dv, MatrixOut<T>& ddq_dtau) {
  const Canonical<T>& robot = model.canonical();
  const int n = model.velocity_size();
  const Eigen::Index stride = work.row_stride;
  T* const rows = work.first_row();
  // Right sides by rows: [dtau_dq, dtau_dv, 1].
  clear(rows, stride * n);
  if (model.coupling().is_identity()) {
    place(robot, q.data(), work.tree);
    // dtau_da is not needed: it lands where 1 will stand.
    const DerivativeOut<T> out = {rows, rows + n, rows + 2 * n, stride, 1};
    rnea_derivatives<kExternal>(robot, work, v.data(), a.data(), out);
    add_drive_derivatives(robot, effects, out);
  } else {
    MatrixOut<T> dq = work.own_q, dv = work.own_v, da = work.own_a;
    inverse_dynamics_derivatives<kExternal, T>(model, work, q, v, a, effects, dq, dv, da);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        rows[r * stride + c] = dq(r, c);
        rows[r * stride + n + c] = dv(r, c);
      }
    }
  }
  for (int r = 0; r < n; ++r) {
    T* const unit = rows + r * stride + 2 * n;
    for (int c = 0; c < n; ++c) unit[c] = T(0);
    unit[r] = T(-1);
  }
  const PackedFactor<T>& F = work.factor.packed();
  for (const auto& group : work.groups) {
    T* const X = rows + group.first;
    switch (group.columns / 8) {
      case 1:
        solve_columns<2, T>(F, n, group.concerns, X, stride);
        break;
      case 2:
        solve_columns<4, T>(F, n, group.concerns, X, stride);
        break;
      case 3:
        solve_columns<6, T>(F, n, group.concerns, X, stride);
        break;
      case 4:
        solve_columns<8, T>(F, n, group.concerns, X, stride);
        break;
      default:
        solve_columns<10, T>(F, n, group.concerns, X, stride);
    }
  }
  write_transposed<T>(rows, stride, n, ddq_dq);
  write_transposed<T>(rows + n, stride, n, ddq_dv);
  write_transposed<T>(rows + 2 * n, stride, n, ddq_dtau);
}

template <typename T>
void check_aba_derivatives(const Model<T>& model, const DerivativeWorkspace<T>& work,
                           VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, const VectorOut<T>& a,
                           const MatrixOut<T>& ddq_dq, const MatrixOut<T>& ddq_dv,
                           const MatrixOut<T>& ddq_dtau) {
  constexpr const char* kCall = "aba_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "tau", model, tau);
  check_velocity<T>(kCall, "a", model, a);
  check_derivatives<T>(kCall, model, work, {"ddq_dq", "ddq_dv", "ddq_dtau"}, ddq_dq, ddq_dv,
                       ddq_dtau);
  if (!model.loops().empty()) {
    fail(kCall, "model", "one with " + std::to_string(model.loops().size()) + " closed loops",
         "a tree", "derivatives of robots with loops are not there yet");
  }
}

}  // namespace kernel

template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a, MatrixOut<T> ddq_dq,
                    MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau, const JointEffects& effects) {
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, ddq_dq, ddq_dv, ddq_dtau);
  const int singular = factorize_mass<T>(model, work.tree, q, work.factor, effects);
  if (singular >= 0) return kernel::give_up<T>(singular, a, ddq_dq, ddq_dv, ddq_dtau);
  bias<T>(model, work.tree, q, v, work.a, effects);
  for (int i = 0; i < model.velocity_size(); ++i) work.a[i] = tau[i] - work.a[i];
  solve_mass<T>(work.factor, work.a, work.a);
  kernel::forward_dynamics_derivatives<false, T>(model, work, q, v, work.a, effects, ddq_dq, ddq_dv,
                                                 ddq_dtau);
  a = work.a;
  return -1;
}

template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
                    MatrixOut<T> ddq_dq, MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau,
                    const JointEffects& effects) {
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, ddq_dq, ddq_dv, ddq_dtau);
  const int singular = factorize_mass<T>(model, work.tree, q, work.factor, effects);
  if (singular >= 0) return kernel::give_up<T>(singular, a, ddq_dq, ddq_dv, ddq_dtau);
  rnea<T>(model, work.tree, q, v, work.tree.zero.head(model.velocity_size()), external, work.a,
          effects);
  for (int i = 0; i < model.velocity_size(); ++i) work.a[i] = tau[i] - work.a[i];
  solve_mass<T>(work.factor, work.a, work.a);
  kernel::forward_dynamics_derivatives<true, T>(model, work, q, v, work.a, effects, ddq_dq, ddq_dv,
                                                ddq_dtau);
  a = work.a;
  return -1;
}

}  // namespace limb
