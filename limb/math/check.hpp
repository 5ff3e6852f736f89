#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "limb/base/check.hpp"
#include "limb/math/scalar.hpp"

/// Value checks for the math module. They run for machine numbers; for other scalars (duals, packs,
/// graph nodes) they compile to nothing, since there is no single value to check.
namespace limb {

/// A matrix of any type, read entry by entry as doubles, so that the checks are compiled once, in
/// check.cpp, and not for each matrix type in each user file.
struct MatrixView {
  Eigen::Index rows, cols;
  double (*entry)(const void* matrix, Eigen::Index row, Eigen::Index col);
  const void* matrix;

  template <typename Derived>
  explicit MatrixView(const Eigen::DenseCoeffsBase<Derived, Eigen::ReadOnlyAccessors>& m)
      : rows(m.rows()),
        cols(m.cols()),
        entry([](const void* object, Eigen::Index row, Eigen::Index col) {
          return static_cast<double>(static_cast<const Derived*>(object)->coeff(row, col));
        }),
        matrix(&m.derived()) {}

  double operator()(Eigen::Index row, Eigen::Index col) const { return entry(matrix, row, col); }
};

/// Error text of a small matrix or vector: "[1, 2, 3]", row by row.
std::string to_text(const MatrixView& m);
template <typename Derived>
std::string to_text(const Eigen::MatrixBase<Derived>& m) {
  return to_text(MatrixView(m));
}

void check_finite(std::string_view call, std::string_view argument, const MatrixView& m);
template <typename Derived>
void check_finite(std::string_view call, std::string_view argument,
                  const Eigen::MatrixBase<Derived>& m) {
  if constexpr (Real<typename Derived::Scalar>) check_finite(call, argument, MatrixView(m));
}

/// Throws the error for a vector that is not finite or not of unit length.
[[noreturn]] void fail_unit(std::string_view call, std::string_view argument, const MatrixView& m);

/// Checks unit length to sqrt(eps): an axis typed with eight digits passes, a forgotten
/// normalization fails.
template <typename Derived>
void check_unit(std::string_view call, std::string_view argument,
                const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  if constexpr (Real<T>) {
    // |m|^2 - 1 is twice the error of the length; not-a-number fails the comparison too.
    if (!(std::abs(m.squaredNorm() - T(1)) <= T(2) * std::sqrt(epsilon<T>()))) {
      fail_unit(call, argument, MatrixView(m));
    }
  }
}

/// Checks symmetry to 64 eps of the largest entry: rounding passes, a mistyped entry does not.
void check_symmetric(std::string_view call, std::string_view argument, const MatrixView& m,
                     double epsilon);
template <typename Derived>
void check_symmetric(std::string_view call, std::string_view argument,
                     const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  if constexpr (Real<T>) {
    check_symmetric(call, argument, MatrixView(m), static_cast<double>(epsilon<T>()));
  }
}

}  // namespace limb
