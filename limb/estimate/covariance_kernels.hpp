#pragma once

#include "limb/estimate/filter_state.hpp"

/// The products in which a filter's time goes: plain loops over columns, in a file that is built
/// for this processor. Columns are kStride numbers apart and are computed in whole eights, so that
/// vectors need no rest: what is beyond n in a column is anything.
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

/// P += A B^T: n x n, A and B n x m.
void add_product(double* P, int n, const double* A, const double* B, int m);

/// Y = P F^T, n x 9, for a sparse F of 9 x 15: the first 15 columns of P count.
void times_transition(const double* P, int n, const double* F, double* Y);

/// Three columns of X from `place` on, times J^T, J 3 x 3 by columns.
struct Block {
  int place;
  const double* J;
};
/// Y (n x rows) = the sum over the blocks, rows at most 3: the first rows of each J count.
void times_blocks(const double* X, int n, const Block* blocks, int count, int rows, double* Y);

/// Y = sign Y + X N, n x rows each, N rows x rows by columns of three, rows at most 3.
void combine(double* Y, double sign, const double* X, int n, const double* N, int rows);

/// K <- K (L L^T)^-1 for K n x rows and a lower triangle L.
void divide_by_factor(double* K, int n, int rows, const double* L, int ld_l);

}  // namespace limb::kernel
