#pragma once

#include <limits>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/model/canonical/canonical.hpp"

namespace limb {
namespace mass_factor_detail {

template <typename T>
kernel::PackedFactor<T> make_factor(const Model<T>& model) {
  if (!model.coupling().is_identity()) {
    return kernel::PackedFactor<T>::dense(model.nv());
  }
  return kernel::PackedFactor<T>(model.canonical().v_parent);
}

template <typename T>
void check_ready(const char* call, const MassFactor<T>& factor) {
  if (factor.is_ready()) return;
  throw Error(std::string(call) +
              ": no nonsingular mass matrix has been factored; call factorize_mass first");
}

template <typename T>
void check_made_for(const char* call, const Model<T>& model, const MassFactor<T>& factor) {
  if (factor.size() == model.nv()) return;
  fail(call, "factor", "of size " + std::to_string(factor.size()), std::to_string(model.nv()),
       "make it from the same model");
}

}  // namespace mass_factor_detail

template <typename T>
MassFactor<T>::MassFactor(const Model<T>& model)
    : packed_(CopyablePtr<kernel::PackedFactor<T>>::make(mass_factor_detail::make_factor(model))),
      M_buffer_(MatrixX<T>::Constant(model.nv(), model.nv(), T(0))) {}

template <typename T>
FactorReport factorize_mass(const Model<T>& model, MatrixIn<T>& M, MassFactor<T>& factor) {
  const int n = model.nv();
  mass_factor_detail::check_made_for("factorize_mass", model, factor);
  check_shape("factorize_mass", "M", M.rows(), M.cols(), n, n);
  int singular = -1;
  // As in aba: a pivot not larger than the rounding errors of its diagonal entry counts as zero.
  const T tolerance = T(16) * epsilon<T>() * T(double(n));
  kernel::factorize(factor.packed(), n, M.data(), M.outerStride(), tolerance, singular);
  factor.set_ready(singular < 0);
  return FactorReport::from_pivot(singular);
}

template <typename T>
FactorReport factorize_mass(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                            MassFactor<T>& factor, const JointEffects& effects) {
  check_position("factorize_mass", "q", model, q);
  mass_factor_detail::check_made_for("factorize_mass", model, factor);
  crba<T>(model, work, q, factor.M_buffer(), effects);
  return factorize_mass<T>(model, factor.M_buffer(), factor);
}

template <typename T>
void solve_mass(const MassFactor<T>& factor, VectorIn<T>& b, VectorOut<T> x) {
  mass_factor_detail::check_ready("solve_mass", factor);
  if (b.size() != factor.size()) check_size("solve_mass", "b", b.size(), factor.size());
  if (x.size() != factor.size()) check_size("solve_mass", "x", x.size(), factor.size());
  if (x.data() != b.data()) x = b;
  kernel::solve(factor.packed(), factor.size(), x.data());
}

template <typename T>
void solve_mass_columns(const MassFactor<T>& factor, MatrixIn<T>& B, MatrixOut<T> X) {
  mass_factor_detail::check_ready("solve_mass_columns", factor);
  check_shape("solve_mass_columns", "B", B.rows(), B.cols(), factor.size(), B.cols());
  check_shape("solve_mass_columns", "X", X.rows(), X.cols(), B.rows(), B.cols());
  if (X.data() != B.data()) X = B;
  for (Eigen::Index c = 0; c < X.cols(); ++c) {
    kernel::solve(factor.packed(), factor.size(), X.data() + c * X.outerStride());
  }
}

template <typename T>
FactorReport mass_inverse(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                          MassFactor<T>& factor, MatrixOut<T> M_inverse,
                          const JointEffects& effects) {
  const int n = model.nv();
  check_shape("mass_inverse", "M_inverse", M_inverse.rows(), M_inverse.cols(), n, n);
  const FactorReport report = factorize_mass<T>(model, work, q, factor, effects);
  if (!report.ok()) {
    M_inverse.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
    return report;
  }
  // Column c of L^-T is nonzero only on the path of c, and the upper triangle needs only rows up to
  // c.
  const kernel::PackedFactor<T>& F = factor.packed();
  for (int c = 0; c < n; ++c) {
    T* x = M_inverse.data() + c * M_inverse.outerStride();
    for (int k = 0; k < n; ++k) x[k] = T(0);
    x[c] = T(1);
    const int* path = F.path_of(c);
    for (int m = F.depth[F.at(c)] - 1; m >= 0; --m) {
      const T* row = F.row(path[m]);
      const T value = x[path[m]];
      for (int l = 0; l < m; ++l) x[path[l]] = x[path[l]] - row[l] * value;
      x[path[m]] = value * F.inverse[path[m]];
    }
    kernel::solve_forward(F, c + 1, x);
  }
  for (int c = 0; c < n; ++c) {
    for (int r = c + 1; r < n; ++r) M_inverse(r, c) = M_inverse(c, r);
  }
  return report;
}

}  // namespace limb
