#pragma once

#include "limb/estimate/filter_state.hpp"

/// The products in which a filter's time goes: plain loops over columns, in a file that is built
/// for this processor. Columns are kStride numbers apart and are computed in whole eights, so that
/// vectors need no rest: what is beyond n in a column is computed along and counts for nothing.
namespace limb::kernel {

inline constexpr int kStride = 40;
static_assert(kStride >= kMaxErrors && kStride % 8 == 0);

/// Columns of any number, for the kernels.
template <int Columns>
struct alignas(64) Padded {
  double numbers[kStride * Columns];
  double* column(int j) { return numbers + kStride * j; }
  const double* column(int j) const { return numbers + kStride * j; }
};

/// A matrix of three by three by columns, these `stride` numbers apart, and where it stands.
struct Block {
  int place;
  const double* J;
  int stride = 3;
};

/// Y = P - A B^T: n x n, A and B n x m.
void subtract_product(const double* P, int n, const double* A, const double* B, int m, double* Y);

/// P += A B^T where that is symmetric but for rounding: the lower triangle is computed, and
/// mirrored.
void add_symmetric_product(double* P, int n, const double* A, const double* B, int m);

/// Q += A A^T: 9 x 9 by columns of 15, A 9 x m.
void add_square_of_nine(double* Q, const double* A, int m);

/// Y (n x 3) = the sum over the blocks of three columns of X, from `place` on, times J^T.
void times_blocks(const double* X, int n, const Block* blocks, int count, double* Y);

/// Y = X N - Y, n x 3 each, N 3 x 3 by columns. The first `columns` of Y are written.
void combine(double* Y, const double* X, int n, const double* N, int columns);

/// S += J X for the lower triangle of S, by columns of kMaxRows: J the blocks of the three rows
/// from `first` on, X the columns up to `last` of n numbers.
inline constexpr int kMaxRows = 3 * kMaxFeet;
void add_rows(double* S, int first, int rows, int last, const Block* blocks, int count,
              const double* X);

/// S <- L with S = L L^T, lower triangles by columns of kMaxRows. False, with anything in S, where
/// there is none.
bool factorize(double* S, int rows);

/// K <- K (L L^T)^-1 for K n x rows.
void divide_by_factor(double* K, int n, int rows, const double* L);

/// y = X r, n numbers.
void times(const double* X, int n, int columns, const double* r, double* y);

/// P <- (1 + J) P (1 + J)^T, where J adds to the rows at each block's place its J times those from
/// `from` on. P is symmetric, and so is the result to the last bit.
void mix(double* P, int n, int from, const Block* to, int count);

/// A step of the core's first nine errors, and of feet that follow the third to fifth.
/// Matrices by columns of 16, of which nine count; anything below has to be zero.
struct CoreStep {
  double E[16 * kCoreSize];   ///< the nine become those + E times the core
  double Q[16 * kCoreSize];   ///< covariance of their noise with that of the core; all of it
  double turn[9];             ///< the rotation gains turn times the gyroscope's bias, and noise
  const double* W = nullptr;  ///< a foot gains W (3 x 3, by columns) times that; none: nothing
};
/// Q of a CoreStep: U noise U^T for U 9 x 9 by columns of 16, noise 15 x 15.
void carry_noise(const double* U, const double* noise, CoreStep& step);
/// P <- F P F^T + Q, symmetric to the last bit. P n x n, n - 15 of feet.
void carry(double* P, int n, const CoreStep& step);

/// Whether P is positive semidefinite to 1e-12 of its largest number; not so if one is not finite.
bool is_semidefinite(const double* P, int n);

}  // namespace limb::kernel
