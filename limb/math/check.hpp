#pragma once

#include <cmath>
#include <string_view>

#include "limb/base/check.hpp"
#include "limb/math/scalar.hpp"

/// Value checks for the math room. They run for machine numbers; for other scalars (duals, packs,
/// graph nodes) they compile to nothing, since there is no one value to look at.
namespace limb {

/// Error text of a small matrix or vector: "[1, 2, 3]", rows one after another.
template <typename Derived>
std::string to_text(const Eigen::MatrixBase<Derived>& m) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows =
      m.template cast<double>();
  return to_text(std::span<const double>(rows.data(), static_cast<std::size_t>(rows.size())));
}

template <typename Derived>
void check_finite(std::string_view call, std::string_view argument,
                  const Eigen::MatrixBase<Derived>& m) {
  if constexpr (Real<typename Derived::Scalar>) {
    if (!m.allFinite()) fail(call, argument, to_text(m), "finite numbers");
  }
}

/// Unit length to sqrt(eps): an axis typed with eight digits passes, a forgotten normalisation
/// fails.
template <typename Derived>
void check_unit(std::string_view call, std::string_view argument,
                const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  if constexpr (Real<T>) {
    // |m|^2 - 1 is twice the error of the length; not-a-number fails the comparison too.
    if (std::abs(m.squaredNorm() - T(1)) <= T(2) * std::sqrt(epsilon<T>())) return;
    check_finite(call, argument, m);
    const T norm = m.norm();
    fail(call, argument, to_text(m) + " of length " + to_text(double(norm)), "length 1",
         norm == T(0) ? "a zero vector has no direction" : "normalise it first");
  }
}

/// Symmetric to 64 eps of its largest entry: rounding passes, a mistyped entry does not.
template <typename Derived>
void check_symmetric(std::string_view call, std::string_view argument,
                     const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  if constexpr (Real<T>) {
    check_finite(call, argument, m);
    const T skewness = (m - m.transpose()).cwiseAbs().maxCoeff();
    if (skewness > T(64) * epsilon<T>() * m.cwiseAbs().maxCoeff()) {
      fail(call, argument, to_text(m) + ", off by " + to_text(double(skewness)),
           "a symmetric matrix");
    }
  }
}

}  // namespace limb
