#include "limb/estimate/filter/covariance_kernels.hpp"

#include <cmath>
#include <initializer_list>
#include <type_traits>

namespace limb::kernel {
namespace {

constexpr int kLanes = 8, kCoreStride = 16;
// Eight numbers processed together, in as many registers as this processor needs.
typedef double Pack __attribute__((vector_size(64), aligned(8), may_alias));

inline const Pack* packs(const double* x) {
  return reinterpret_cast<const Pack*>(x);
}
inline Pack* packs(double* x) {
  return reinterpret_cast<Pack*>(x);
}

int pack_count(int n) {
  return (n + kLanes - 1) / kLanes;
}

/// Calls f with `count` as a compile-time constant, 1 to 5, so that its arrays stay in registers.
template <typename F>
inline void with_constant(int count, F f) {
  static_assert(kStride == 5 * kLanes);
  switch (count) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(std::integral_constant<int, 5>());
  }
}

/// Columns j, j + 1, .. of Y = P + sign A B^T, blocks of eight rows from `first` on. The columns
/// share the loads of A.
template <int Width>
inline void product_columns(const double* P, double sign, const double* A, const double* B, int m,
                            int j, int first, int count, double* Y) {
  for (int block = first; block < count; ++block) {
    Pack sums[Width];
    for (int c = 0; c < Width; ++c) sums[c] = sign * packs(P + kStride * (j + c))[block];
    for (int k = 0; k < m; ++k) {
      const Pack a = packs(A + kStride * k)[block];
      for (int c = 0; c < Width; ++c) sums[c] += a * B[kStride * k + j + c];
    }
    for (int c = 0; c < Width; ++c) packs(Y + kStride * (j + c))[block] = sign * sums[c];
  }
}

/// All columns in groups of four, three and two: a single one would wait for its own sums.
template <typename F>
inline void for_column_groups(int n, F f) {
  for (int j = 0; j < n;) {
    const int left = n - j;
    if (left == 4 || left >= 7) {
      f(j, std::integral_constant<int, 4>());
      j += 4;
    } else if (left == 1) {
      f(j, std::integral_constant<int, 1>());
      j += 1;
    } else if (left == 2) {
      f(j, std::integral_constant<int, 2>());
      j += 2;
    } else {
      f(j, std::integral_constant<int, 3>());
      j += 3;
    }
  }
}

/// Y (three columns) = or += the sum over the blocks.
template <int Count>
inline void sum_blocks(const double* X, const Block* blocks, int count, double* Y, bool add) {
  // Two blocks of rows together: six independent sums hide the latency.
  for (int at = 0; at < Count; at += 2) {
    const int second = at + 1 < Count ? at + 1 : at;
    Pack a[3] = {}, b[3] = {};
    if (add) {
      for (int r = 0; r < 3; ++r) {
        a[r] = packs(Y + kStride * r)[at];
        b[r] = packs(Y + kStride * r)[second];
      }
    }
    for (int k = 0; k < count; ++k) {
      const auto& [index, J, stride] = blocks[k];
      for (int c = 0; c < 3; ++c) {
        const Pack* x = packs(X + kStride * (index + c));
        for (int r = 0; r < 3; ++r) {
          a[r] += x[at] * J[stride * c + r];
          b[r] += x[second] * J[stride * c + r];
        }
      }
    }
    for (int r = 0; r < 3; ++r) {
      packs(Y + kStride * r)[at] = a[r];
      packs(Y + kStride * r)[second] = b[r];
    }
  }
}

/// S <- L, with column stride `Lead`.
template <int Lead>
bool factorize_columns(double* S, int rows) {
  static_assert(Lead % kLanes == 0);
  const int count = pack_count(rows);
  for (int j = 0; j < rows; ++j) {
    double* column = S + Lead * j;
    const double pivot = column[j];
    if (!(pivot > 0)) return false;
    const double inverse = 1 / std::sqrt(pivot);
    if (!std::isfinite(inverse)) return false;
    for (int b = j / kLanes; b < count; ++b) packs(column)[b] *= inverse;
    for (int k = j + 1; k < rows; ++k) {
      const double l = column[k];
      for (int b = k / kLanes; b < count; ++b) packs(S + Lead * k)[b] -= packs(column)[b] * l;
    }
  }
  return true;
}

/// Copies the lower triangle to the upper one.
void mirror(double* P, int n) {
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) P[kStride * i + j] = P[kStride * j + i];
  }
}

}  // namespace

void subtract_product(const double* P, int n, const double* A, const double* B, int m, double* Y) {
  const int count = pack_count(n);
  for_column_groups(
      n, [&](int j, auto width) { product_columns<width()>(P, -1, A, B, m, j, 0, count, Y); });
}

void add_symmetric_product(double* P, int n, const double* A, const double* B, int m) {
  const int count = pack_count(n);
  for_column_groups(n, [&](int j, auto width) {
    product_columns<width()>(P, 1, A, B, m, j, j / kLanes, count, P);
  });
  mirror(P, n);
}

void add_outer_product_9(double* Q, const double* A, int m) {
  // Rows 0 to 7 of nine columns, and the last entry; the rest by symmetry.
  constexpr int kSize = 9, kRows = 15;
  Pack sums[kSize] = {};
  double last = 0;
  for (int k = 0; k < m; ++k) {
    const double* a = A + kStride * k;
    const Pack rows = packs(a)[0];
    for (int c = 0; c < kSize; ++c) sums[c] += rows * a[c];
    last += a[kSize - 1] * a[kSize - 1];
  }
  for (int c = 0; c < kSize; ++c) {
    for (int i = 0; i < kLanes; ++i) Q[kRows * c + i] += sums[c][i];
  }
  for (int c = 0; c < kLanes; ++c) Q[kRows * c + kLanes] += sums[kLanes][c];
  Q[kRows * kLanes + kLanes] += last;
}

void multiply_blocks(const double* X, int n, const Block* blocks, int count, double* Y) {
  with_constant(pack_count(n), [&](auto e) { sum_blocks<e()>(X, blocks, count, Y, false); });
}

void combine(double* Y, const double* X, int n, const double* N, int columns) {
  for (int block = 0; block < pack_count(n); ++block) {
    for (int r = 0; r < columns; ++r) {
      Pack s = -packs(Y + kStride * r)[block];
      for (int k = 0; k < columns; ++k) s += packs(X + kStride * k)[block] * N[3 * r + k];
      packs(Y + kStride * r)[block] = s;
    }
  }
}

void add_rows(double* S, int first, int rows, int last, const Block* blocks, int count,
              const double* X) {
  for (int c = 0; c < last; ++c) {
    double s[3] = {};
    for (int b = 0; b < count; ++b) {
      const auto& [index, J, stride] = blocks[b];
      const double* x = X + kStride * c + index;
      for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i) s[i] += J[stride * k + i] * x[k];
      }
    }
    for (int i = 0; i < rows; ++i) S[kMaxRows * c + first + i] += s[i];
  }
}

bool factorize(double* S, int rows) {
  return factorize_columns<kMaxRows>(S, rows);
}

void solve_by_factor(double* K, int n, int rows, const double* L) {
  const auto l = [&](int i, int j) { return L[kMaxRows * j + i]; };
  double inverse[kMaxRows];
  for (int j = 0; j < rows; ++j) inverse[j] = 1 / l(j, j);
  with_constant(pack_count(n), [&](auto count) {
    const auto column = [&](int j, int from, int to, auto factor) {
      Pack s[count()];
      for (int b = 0; b < count(); ++b) s[b] = packs(K + kStride * j)[b];
      for (int i = from; i < to; ++i) {
        const double f = factor(i);
        for (int b = 0; b < count(); ++b) s[b] -= packs(K + kStride * i)[b] * f;
      }
      for (int b = 0; b < count(); ++b) packs(K + kStride * j)[b] = s[b] * inverse[j];
    };
    for (int j = 0; j < rows; ++j) column(j, 0, j, [&](int i) { return l(j, i); });
    for (int j = rows - 1; j >= 0; --j) column(j, j + 1, rows, [&](int i) { return l(i, j); });
  });
}

void multiply(const double* X, int n, int columns, const double* r, double* y) {
  with_constant(pack_count(n), [&](auto count) {
    Pack s[count()] = {};
    for (int j = 0; j < columns; ++j) {
      for (int b = 0; b < count(); ++b) s[b] += packs(X + kStride * j)[b] * r[j];
    }
    for (int b = 0; b < count(); ++b) packs(y)[b] = s[b];
  });
}

void transform(double* P, int n, int from, const Block* to, int count) {
  Padded<3> E;
  const int rows = pack_count(n);
  for (int c = 0; c < 3; ++c) {
    for (int b = 0; b < rows; ++b) packs(E.column(c))[b] = Pack{};
    for (int k = 0; k < count; ++k) {
      for (int i = 0; i < 3; ++i) E.column(c)[to[k].index + i] = to[k].J[to[k].stride * c + i];
    }
  }
  // Columns; the source columns, which all others read, come last.
  with_constant(rows, [&](auto e) {
    const auto add = [&](const Block& b) {
      const Block source{from, b.J, b.stride};
      sum_blocks<e()>(P, &source, 1, P + kStride * b.index, true);
    };
    for (int k = 0; k < count; ++k) {
      if (to[k].index != from) add(to[k]);
    }
    for (int k = 0; k < count; ++k) {
      if (to[k].index == from) add(to[k]);
    }
  });
  // Rows of the lower triangle.
  for (int j = 0; j < n; ++j) {
    double* column = P + kStride * j;
    const double x[3] = {column[from], column[from + 1], column[from + 2]};
    for (int b = j / kLanes; b < rows; ++b) {
      Pack s = packs(column)[b];
      for (int c = 0; c < 3; ++c) s += packs(E.column(c))[b] * x[c];
      packs(column)[b] = s;
    }
  }
  mirror(P, n);
}

void propagate_noise(const double* U, const double* noise, CoreStep& step) {
  constexpr int kPropagated = 9;
  double X[kCoreStride * kPropagated];
  const auto product = [&](const double* x, int x_stride, const double* A, double* y) {
    // y = A x with nine columns of A.
    Pack s[2] = {};
    for (int k = 0; k < kPropagated; ++k) {
      for (int b = 0; b < 2; ++b) s[b] += packs(A + kCoreStride * k)[b] * x[x_stride * k];
    }
    for (int b = 0; b < 2; ++b) packs(y)[b] = s[b];
  };
  for (int c = 0; c < kPropagated; ++c) product(noise + kCoreSize * c, 1, U, X + kCoreStride * c);
  for (int c = 0; c < kPropagated; ++c) product(U + c, kCoreStride, X, step.Q + kCoreStride * c);
  for (int c = kPropagated; c < kCoreSize; ++c) {
    double* q = step.Q + kCoreStride * c;
    product(noise + kCoreSize * c, 1, U, q);
    for (int i = 0; i < kPropagated; ++i) step.Q[kCoreStride * i + c] = q[i];
    for (int i = kPropagated; i < kCoreSize; ++i) q[i] = noise[kCoreSize * c + i];
  }
}

void propagate_covariance(double* P, int n, const CoreStep& step) {
  constexpr int kPropagated = 9, kFirst = 3;  // the errors before are not read
  const int rows = pack_count(n), feet = (n - kCoreSize) / 3;
  const auto block = [&](int to, int from) {
    return Block{from, step.E + kCoreStride * from + to, kCoreStride};
  };
  // P F^T: columns, each before the columns that it depends on change.
  with_constant(rows, [&](auto e) {
    const auto add = [&](int to, std::initializer_list<Block> blocks) {
      sum_blocks<e()>(P, blocks.begin(), static_cast<int>(blocks.size()), P + kStride * to, true);
    };
    for (int i = 0; i < feet && step.W != nullptr; ++i) {
      // W rotation_by_gyro
      const double* W = step.W + 9 * i;
      double J[9] = {};
      for (int c = 0; c < 3; ++c) {
        for (int k = 0; k < 3; ++k) {
          for (int r = 0; r < 3; ++r)
            J[3 * c + r] += W[3 * k + r] * step.rotation_by_gyro[3 * c + k];
        }
      }
      add(ErrorIndex::foot(i), {Block{ErrorIndex::gyro_bias, J}});
    }
    constexpr int p = ErrorIndex::position, R = ErrorIndex::rotation, v = ErrorIndex::velocity;
    constexpr int bg = ErrorIndex::gyro_bias, ba = ErrorIndex::accel_bias;
    add(p, {block(p, R), block(p, v), block(p, bg), block(p, ba)});
    add(v, {block(v, R), block(v, bg), block(v, ba)});
    add(R, {block(R, R), block(R, bg)});
  });
  // F on the rows of the core.
  for (int c = 0; c < kPropagated; ++c) {
    double* column = P + kStride * c;
    Pack s[2] = {packs(column)[0], packs(column)[1]};
    for (int k = kFirst; k < kCoreSize; ++k) {
      const double x = column[k];
      for (int b = 0; b < 2; ++b) s[b] += packs(step.E + kCoreStride * k)[b] * x;
    }
    for (int b = 0; b < 2; ++b) packs(column)[b] = s[b];
  }
  if (step.W != nullptr && feet > 0) {
    // The rows of the feet: W times the increase of the rotation, by biases and noise.
    Padded<3> W;
    for (int c = 0; c < 3; ++c) {
      for (int b = 1; b < rows; ++b) packs(W.column(c))[b] = Pack{};
      for (int i = 0; i < feet; ++i) {
        for (int r = 0; r < 3; ++r)
          W.column(c)[ErrorIndex::foot(i) + r] = step.W[9 * i + 3 * c + r];
      }
    }
    for (int c = 0; c < n; ++c) {
      double* column = P + kStride * c;
      const double* bias = column + ErrorIndex::gyro_bias;
      double gain[3] = {};
      if (c < kCoreSize) {
        for (int r = 0; r < 3; ++r) gain[r] = step.Q[kCoreStride * c + ErrorIndex::rotation + r];
      } else {
        // Q W^T
        const int i = (c - kCoreSize) / 3, r = (c - kCoreSize) % 3;
        for (int k = 0; k < 3; ++k) {
          const double* q =
              step.Q + kCoreStride * (ErrorIndex::rotation + k) + ErrorIndex::rotation;
          for (int a = 0; a < 3; ++a) gain[a] += q[a] * step.W[9 * i + 3 * k + r];
        }
      }
      for (int k = 0; k < 3; ++k) {
        for (int r = 0; r < 3; ++r) gain[r] += step.rotation_by_gyro[3 * k + r] * bias[k];
      }
      for (int b = 1; b < rows; ++b) {
        Pack s = packs(column)[b];
        for (int k = 0; k < 3; ++k) s += packs(W.column(k))[b] * gain[k];
        packs(column)[b] = s;
      }
    }
  }
  for (int c = 0; c < kCoreSize; ++c) {
    for (int b = 0; b < 2; ++b) packs(P + kStride * c)[b] += packs(step.Q + kCoreStride * c)[b];
  }
  mirror(P, n);
}

bool is_semidefinite(const double* P, int n) {
  constexpr double kRounding = 1e-12;
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    const double variance = P[kStride * j + j];
    if (!(variance <= 1e300)) return false;
    largest = largest < variance ? variance : largest;
  }
  if (largest == 0) return true;
  // Scaled to unit variances: errors that are tiny beside others must be definite, too.
  Padded<kMaxErrors> L;
  double scale[kStride] = {};
  for (int j = 0; j < n; ++j) {
    scale[j] = 1 / std::sqrt(P[kStride * j + j] + kRounding * largest);
  }
  for (int j = 0; j < n; ++j) {
    for (int b = j / kLanes; b < pack_count(n); ++b) {
      packs(L.column(j))[b] = packs(P + kStride * j)[b] * packs(scale)[b] * scale[j];
    }
    L.column(j)[j] = 1;
  }
  return factorize_columns<kStride>(L.numbers, n);
}

}  // namespace limb::kernel
