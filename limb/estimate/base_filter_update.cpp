// Measurements: innovations, and Joseph's form of what they leave unknown.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/estimate/base_filter.hpp"
#include "limb/estimate/covariance_kernels.hpp"

namespace limb {
namespace {

constexpr int kMaxRows = 3 * kMaxFeet;
using Columns = kernel::Padded<kMaxRows>;
using View = Eigen::Map<const Eigen::Matrix<double, kernel::kStride, Eigen::Dynamic>>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxRows, kMaxRows>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxRows, 1>;

/// X J^T.
void times_transposed(const double* X, int n, const BaseMeasurement& m, double* result) {
  std::array<kernel::Block, 4> blocks;
  for (std::size_t b = 0; b < static_cast<std::size_t>(m.blocks); ++b) {
    blocks[b] = {m.block[b].place, m.block[b].J.data()};
  }
  kernel::times_blocks(X, n, blocks.data(), m.blocks, m.rows, result);
}

/// The covariance by columns of the kernels' length.
void spread(const FilterMatrix& P, kernel::Padded<kMaxErrors>& columns) {
  for (Eigen::Index j = 0; j < P.cols(); ++j) {
    std::copy_n(P.col(j).data(), P.rows(), columns.column(static_cast<int>(j)));
  }
}

bool is_finite(const BaseMeasurement& m) {
  const auto rows = m.rows;
  return m.residual.head(rows).allFinite() && m.noise.topLeftCorner(rows, rows).allFinite();
}

/// r^T (H P H^T + N)^-1 r, infinite where that has no factor.
double nis_of(const BaseMeasurement& m, const View& PHt) {
  const int rows = m.rows;
  Matrix3<double> S = Matrix3<double>::Identity();
  auto used = S.topLeftCorner(rows, rows);
  used = m.noise.topLeftCorner(rows, rows);
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    used += J.topRows(rows).lazyProduct(PHt.middleRows<3>(place));
  }
  Vector3<double> r = Vector3<double>::Zero();
  r.head(rows) = m.residual.head(rows);
  const Eigen::LLT<Matrix3<double>> factor(S);
  const double nis = factor.info() == Eigen::Success ? r.dot(factor.solve(r)) : std::nan("");
  return std::isfinite(nis) ? nis : std::numeric_limits<double>::infinity();
}

}  // namespace

double BaseFilter::innovation(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_own(m);
  kernel::Padded<kMaxErrors> P;
  kernel::Padded<3> PHt;
  spread(P_, P);
  times_transposed(P.numbers, state_.errors(), m, PHt.numbers);
  return is_finite(m) ? nis_of(m, View(PHt.numbers, kernel::kStride, m.rows))
                      : std::numeric_limits<double>::infinity();
}

UpdateResult BaseFilter::update(std::span<const BaseMeasurement> measurements,
                                std::span<InnovationTest> tests) {
  std::array<BaseMeasurement, kMaxFeet> own;
  UpdateResult result;
  if (measurements.empty() || measurements.size() > own.size()) return result;
  if (!tests.empty() && tests.size() != measurements.size()) return result;
  const int n = state_.errors();
  kernel::Padded<kMaxErrors> B;
  Columns PHt, K, C;
  spread(P_, B);
  std::size_t count = 0;
  int rows = 0;
  bool absolute = false;
  for (std::size_t k = 0; k < measurements.size(); ++k) {
    BaseMeasurement& m = own[count];
    m = measurements[k];
    to_own(m);
    times_transposed(B.numbers, n, m, PHt.column(rows));
    if (!tests.empty()) {
      tests[k].nis = is_finite(m) ? nis_of(m, View(PHt.column(rows), kernel::kStride, m.rows))
                                  : std::numeric_limits<double>::infinity();
      tests[k].passed = tests[k].nis <= tests[k].gate;
      if (!tests[k].passed) continue;
    }
    if (!is_finite(m)) return result;
    absolute = absolute || m.absolute;
    rows += m.rows;
    ++count;
  }
  if (count == 0) return result;
  // S = H P H^T + N, block row by block row.
  Square S(rows, rows);
  Column residual(rows);
  for (std::size_t k = 0, at = 0; k < count; ++k) {
    const auto first = static_cast<Eigen::Index>(at);
    const int r = own[k].rows;
    S.middleRows(first, r).setZero();
    for (int b = 0; b < own[k].blocks; ++b) {
      const auto& [place, J] = own[k].block[static_cast<std::size_t>(b)];
      for (int c = 0; c < rows; ++c) {
        const double* x = PHt.column(c) + place;
        for (int i = 0; i < r; ++i) {
          S(first + i, c) += J(i, 0) * x[0] + J(i, 1) * x[1] + J(i, 2) * x[2];
        }
      }
    }
    S.block(first, first, r, r) += own[k].noise.topLeftCorner(r, r);
    residual.segment(first, r) = own[k].residual.head(r);
    at += static_cast<std::size_t>(r);
  }
  const Eigen::LLT<Square> factor(S);
  if (factor.info() != Eigen::Success) return result;
  std::copy_n(PHt.numbers, kernel::kStride * rows, K.numbers);
  kernel::divide_by_factor(K.numbers, n, rows, factor.matrixLLT().data(), rows);
  // Joseph: (1 - K H) P (1 - K H)^T + K N K^T. With B = P - K (P H^T)^T and C = K N - B H^T this is
  // B + C K^T.
  for (int i = 0; i < kernel::kStride * rows; ++i) C.numbers[i] = -K.numbers[i];
  kernel::add_product(B.numbers, n, C.numbers, PHt.numbers, rows);
  for (std::size_t k = 0, at = 0; k < count; ++k) {
    const BaseMeasurement& m = own[k];
    const auto first = static_cast<int>(at);
    double* block = C.column(first);
    times_transposed(B.numbers, n, m, block);
    kernel::combine(block, -1, K.column(first), n, m.noise.data(), m.rows);
    at += static_cast<std::size_t>(m.rows);
  }
  kernel::add_product(B.numbers, n, C.numbers, K.numbers, rows);
  FilterVector error = FilterVector::Zero(n);
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < n; ++i) error[i] += residual[j] * K.column(j)[i];
  }
  // |L^-1 r|^2
  const Square& L = factor.matrixLLT();
  Column white = residual;
  for (int j = 0; j < rows; ++j) {
    white[j] /= L(j, j);
    for (int i = j + 1; i < rows; ++i) white[i] -= L(i, j) * white[j];
  }
  result.nis = white.squaredNorm();
  result.rows = rows;
  // One number that is not finite makes the sum so.
  FilterMatrix P(n, n);
  for (int j = 0; j < n; ++j) std::copy_n(B.column(j), n, P.col(j).data());
  if (!std::isfinite(P.sum()) || !error.allFinite() || !std::isfinite(result.nis)) return result;
  const FilterState before = state_;
  if (absolute) own_to_common(P);
  P_ = P;
  retract(error, state_);
  if (absolute) {
    common_to_own(P_);
  } else {
    after_update(before);
  }
  symmetrize(0, P_.rows());
  bound_variances();
  result.accepted = true;
  return result;
}

MatrixX<double> BaseFilter::jacobian(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_own(m);
  MatrixX<double> H = MatrixX<double>::Zero(m.rows, state_.errors());
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    H.middleCols<3>(place) += J.topRows(m.rows);
  }
  return H;
}

}  // namespace limb
