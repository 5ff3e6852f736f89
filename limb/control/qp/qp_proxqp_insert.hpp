#pragma once

#include <proxsuite/linalg/dense/modify.hpp>

// Insertion of a newly active constraint into the factors of ProxQP without allocation.
// ProxQP 0.8.0 uses Eigen products that allocate temporaries: for a single last row, and for
// blocks of rows of large matrices. Must be included before ProxQP, whose template this
// specializes.
//
// For A = L D L^T, with new rows and columns [a01; a11; a21] between the first and the last ones:
//
//   L00 y = a01,  l10 = (D0^-1 y)^T,  l11 d1 l11^T = a11 - l10 y,  l21 = (a21 - L20 y) l11^-T d1^-1
//
// and l21 d1 l21^T is subtracted from L22 D22 L22^T.
namespace proxsuite::linalg::dense::_detail {

using InsertView = Eigen::Map<Eigen::MatrixXd, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, 1>>;
using InsertedView =
    Eigen::Map<const Eigen::MatrixXd, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, 1>>;

/// Shifts the entries to free r rows and columns at pos.
inline void make_gap(InsertView& ld, isize pos, isize r) {
  const isize n = ld.rows(), old = n - r;
  for (isize j = old - 1; j >= 0; --j) {
    const isize to = j < pos ? j : j + r;
    for (isize i = old - 1; i >= j; --i) ld(i < pos ? i : i + r, to) = ld(i, j);
  }
}

/// x -= factor y
inline void subtract(double* x, const double* y, double factor, isize size) {
  for (isize i = 0; i < size; ++i) x[i] -= factor * y[i];
}

template <>
void ldlt_insert_rows_and_cols_impl<InsertView, InsertedView>(
    InsertView ld, isize pos, InsertedView a, proxsuite::linalg::veg::dynstack::DynStackMut stack) {
  const proxsuite::linalg::veg::Tag<double> tag;
  const isize n = ld.rows(), r = a.cols(), after = pos + r, rest = n - after;
  make_gap(ld, pos, r);
  for (isize k = 0; k < r; ++k) {
    for (isize i = pos + k; i < n; ++i) ld(i, pos + k) = a(i, k);
  }

  {  // Column by column of L00 and L20: y, and the subtraction of l10 y and L20 y.
    auto buffer = stack.make_new_for_overwrite(tag, pos * r + 1, align<double>());
    double* const y = buffer.ptr_mut();
    for (isize k = 0; k < r; ++k) std::copy_n(a.data() + k * a.outerStride(), pos, y + k * pos);
    for (isize j = 0; j < pos; ++j) {
      const double* const column = &ld(0, j);
      for (isize k = 0; k < r; ++k) {
        const double y_j = y[k * pos + j];
        subtract(y + k * pos + j + 1, column + j + 1, y_j, pos - j - 1);
        subtract(&ld(0, pos + k) + after, column + after, y_j, rest);
      }
      const double d = column[j];
      for (isize k = 0; k < r; ++k) ld(pos + k, j) = y[k * pos + j] / d;
      for (isize k = 0; k < r; ++k) {
        subtract(&ld(0, pos + k) + pos + k, column + pos + k, y[k * pos + j], r - k);
      }
    }
  }

  // The new block and the rows below it.
  for (isize k = 0; k < r; ++k) {
    double* const column = &ld(0, pos + k);
    const double d = column[pos + k];
    for (isize m = k + 1; m < r; ++m) {
      double* const later = &ld(0, pos + m);
      subtract(later + pos + m, column + pos + m, column[pos + m] / d, n - pos - m);
    }
    for (isize i = pos + k + 1; i < n; ++i) column[i] /= d;
  }

  const isize stride = adjusted_stride<double>(rest);
  auto buffer = stack.make_new(tag, r * stride, align<double>());
  auto signs = stack.make_new_for_overwrite(tag, r);
  for (isize k = 0; k < r; ++k) {
    const double* const column = &ld(0, pos + k);
    signs.ptr_mut()[k] = -column[pos + k];
    std::copy(column + after, column + n, buffer.ptr_mut() + k * stride);
  }
  rank_r_update_clobber_w_impl(util::submatrix(ld, after, after, rest, rest), buffer.ptr_mut(),
                               stride, signs.ptr_mut(), ConstantR{r});
}

}  // namespace proxsuite::linalg::dense::_detail
