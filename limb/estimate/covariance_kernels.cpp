#include "limb/estimate/covariance_kernels.hpp"

#include <type_traits>

namespace limb::kernel {
namespace {

constexpr int kLanes = 8;

int eights(int n) {
  return (n + kLanes - 1) / kLanes;
}

/// y += a x, by eights.
inline void add_scaled(double* __restrict y, const double* __restrict x, double a, int count) {
  for (int block = 0; block < count; ++block, y += kLanes, x += kLanes) {
    for (int i = 0; i < kLanes; ++i) y[i] += a * x[i];
  }
}

}  // namespace

void add_product(double* P, int n, const double* A, const double* B, int m) {
  // Four columns share what is read of A. A last four may be fewer: they are computed alone.
  constexpr int kColumns = 4;
  const int count = eights(n);
  const auto columns = [&](int j, auto width) {
    for (int block = 0; block < count; ++block) {
      double sum[width()][kLanes];
      for (int c = 0; c < width(); ++c) {
        for (int i = 0; i < kLanes; ++i) sum[c][i] = P[kStride * (j + c) + kLanes * block + i];
      }
      for (int k = 0; k < m; ++k) {
        const double* a = A + kStride * k + kLanes * block;
        for (int c = 0; c < width(); ++c) {
          const double b = B[kStride * k + j + c];
          for (int i = 0; i < kLanes; ++i) sum[c][i] += a[i] * b;
        }
      }
      for (int c = 0; c < width(); ++c) {
        for (int i = 0; i < kLanes; ++i) P[kStride * (j + c) + kLanes * block + i] = sum[c][i];
      }
    }
  };
  int j = 0;
  for (; j + kColumns <= n; j += kColumns) columns(j, std::integral_constant<int, kColumns>());
  for (; j < n; ++j) columns(j, std::integral_constant<int, 1>());
}

void times_transition(const double* P, int n, const double* F, double* Y) {
  constexpr int kMoved = 9;
  const int count = eights(n);
  for (int r = 0; r < kMoved; ++r) {
    double* y = Y + kStride * r;
    for (int i = 0; i < kLanes * count; ++i) y[i] = 0;
    for (int k = 0; k < kCoreSize; ++k) {
      const double f = F[k * kMoved + r];
      if (f != 0) add_scaled(y, P + kStride * k, f, count);
    }
  }
}

void times_blocks(const double* X, int n, const Block* blocks, int count, int rows, double* Y) {
  for (int at = 0; at < kLanes * eights(n); at += kLanes) {
    double sum[3][kLanes] = {};
    for (int b = 0; b < count; ++b) {
      for (int k = 0; k < 3; ++k) {
        const double* x = X + kStride * (blocks[b].place + k) + at;
        for (int r = 0; r < 3; ++r) {
          const double j = blocks[b].J[3 * k + r];
          for (int i = 0; i < kLanes; ++i) sum[r][i] += x[i] * j;
        }
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < kLanes; ++i) Y[kStride * r + at + i] = sum[r][i];
    }
  }
}

void combine(double* Y, double sign, const double* X, int n, const double* N, int rows) {
  for (int at = 0; at < kLanes * eights(n); at += kLanes) {
    for (int r = 0; r < rows; ++r) {
      double sum[kLanes];
      for (int i = 0; i < kLanes; ++i) sum[i] = sign * Y[kStride * r + at + i];
      for (int k = 0; k < rows; ++k) {
        const double factor = N[3 * r + k];
        for (int i = 0; i < kLanes; ++i) sum[i] += X[kStride * k + at + i] * factor;
      }
      for (int i = 0; i < kLanes; ++i) Y[kStride * r + at + i] = sum[i];
    }
  }
}

void divide_by_factor(double* K, int n, int rows, const double* L, int ld_l) {
  const int count = eights(n);
  const auto l = [&](int i, int j) { return L[j * ld_l + i]; };
  const auto scale = [&](int j) {
    const double inverse = 1 / l(j, j);
    for (int i = 0; i < kLanes * count; ++i) K[kStride * j + i] *= inverse;
  };
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < j; ++i) add_scaled(K + kStride * j, K + kStride * i, -l(j, i), count);
    scale(j);
  }
  for (int j = rows - 1; j >= 0; --j) {
    for (int i = j + 1; i < rows; ++i) {
      add_scaled(K + kStride * j, K + kStride * i, -l(i, j), count);
    }
    scale(j);
  }
}

}  // namespace limb::kernel
