#pragma once

#include "limb/estimate/filter/covariance_layout.hpp"

/// The hot matrix products of a filter: plain loops over columns, compiled for this processor.
/// Columns are kStride entries apart and are processed in packs of eight without a remainder loop:
/// the entries beyond n of a column are computed, too, and ignored.
namespace limb::kernel {

/// A 3 x 3 matrix, column-major with columns `stride` entries apart, and its index in the errors.
struct Block {
  int index;
  const double* J;
  int stride = 3;
};

/// Y = P - A B^T: n x n, A and B n x m.
void subtract_product(const double* P, int n, const double* A, const double* B, int m, double* Y);

/// P += A B^T, symmetric up to rounding: the lower triangle is computed and mirrored.
void add_symmetric_product(double* P, int n, const double* A, const double* B, int m);

/// Q += A A^T: 9 x 9 with column stride 15, A 9 x m.
void add_outer_product_9(double* Q, const double* A, int m);

/// Y (n x 3) = sum over the blocks of (three columns of X from `index` on) J^T.
void multiply_blocks(const double* X, int n, const Block* blocks, int count, double* Y);

/// Y = X N - Y, n x 3 each, N 3 x 3 column-major. The first `columns` of Y are written.
void combine(double* Y, const double* X, int n, const double* N, int columns);

/// S += J X for the lower triangle of S, with column stride kMaxRows: J the blocks of the three
/// rows from `first` on, X the columns up to `last`.
inline constexpr int kMaxRows = 3 * kMaxFeet;
void add_rows(double* S, int first, int rows, int last, const Block* blocks, int count,
              const double* X);

/// Cholesky: S <- L with S = L L^T, lower triangles, column stride kMaxRows. @returns false, with S
/// unspecified, if S is not positive definite.
bool factorize(double* S, int rows);

/// K <- K (L L^T)^-1 for K n x rows.
void solve_by_factor(double* K, int n, int rows, const double* L);

/// y = X r, n entries.
void multiply(const double* X, int n, int columns, const double* r, double* y);

/// P <- (1 + J) P (1 + J)^T, where J adds to the rows at the index of each block its J times the
/// rows from `from` on. P is symmetric, and the result exactly so.
void transform(double* P, int n, int from, const Block* to, int count);

/// Q of a CoreStep: U noise U^T for U 9 x 9 with column stride 16, noise 15 x 15.
void propagate_noise(const double* U, const double* noise, CoreStep& step);
/// P <- F P F^T + Q, exactly symmetric. P is n x n, with n - 15 errors of feet.
void propagate_covariance(double* P, int n, const CoreStep& step);

/// Whether P is positive semidefinite to 1e-12 of its largest variance; false if it is not finite.
bool is_semidefinite(const double* P, int n);

}  // namespace limb::kernel
