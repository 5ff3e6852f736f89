// Measurements: innovations, and Joseph's form of what they leave unknown.
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/estimate/base_filter.hpp"
#include "limb/estimate/covariance_kernels.hpp"

namespace limb {
namespace {

using Columns = kernel::Padded<kernel::kMaxRows>;
using Blocks = std::array<kernel::Block, 4>;

Blocks blocks_of(const BaseMeasurement& m) {
  Blocks blocks;
  for (std::size_t b = 0; b < static_cast<std::size_t>(m.blocks); ++b) {
    blocks[b] = {m.block[b].place, m.block[b].J.data()};
  }
  return blocks;
}

/// X J^T, three columns.
void times_transposed(const FilterCovariance& X, const BaseMeasurement& m, double* result) {
  kernel::times_blocks(X.data(), X.size(), blocks_of(m).data(), m.blocks, result);
}

bool is_finite(const BaseMeasurement& m) {
  const auto rows = m.rows;
  return m.residual.head(rows).allFinite() && m.noise.topLeftCorner(rows, rows).allFinite();
}

/// r^T (H P H^T + N)^-1 r, infinite where that has no factor or a number is not finite. Rows that a
/// measurement has not are zero, but for their part of the identity.
double nis_of(const BaseMeasurement& m, const double* PHt) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  using Rows =
      Eigen::Map<const Eigen::Matrix<double, 3, 3>, 0, Eigen::OuterStride<kernel::kStride>>;
  Matrix3<double> S = m.noise;
  Vector3<double> r = m.residual;
  for (int i = m.rows; i < 3; ++i) {
    S(i, i) = 1;
    r[i] = 0;
  }
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    S += J.lazyProduct(Rows(PHt + place));
  }
  // S = L D L^T, and L x = r.
  const double d0 = S(0, 0), l1 = S(1, 0) / d0, l2 = S(2, 0) / d0;
  const double d1 = S(1, 1) - l1 * S(1, 0), l21 = (S(2, 1) - l2 * S(1, 0)) / d1;
  const double d2 = S(2, 2) - l2 * S(2, 0) - l21 * l21 * d1;
  if (!(d0 > 0 && d1 > 0 && d2 > 0)) return kNone;
  const double x1 = r[1] - l1 * r[0], x2 = r[2] - l2 * r[0] - l21 * x1;
  const double nis = r[0] * r[0] / d0 + x1 * x1 / d1 + x2 * x2 / d2;
  return std::isfinite(nis) ? nis : kNone;
}

/// Whether a state may be that of a robot on earth: else it is the filter that has gone astray.
/// Written so that NaN is refused, too.
bool is_possible(const FilterState& x) {
  constexpr double kPlace = 1e9, kSpeed = 1e6, kGyroBias = 100, kAccelBias = 1e4;
  bool possible = x.p_WS.norm() < kPlace && x.v_WS.norm() < kSpeed &&
                  x.gyro_bias.norm() < kGyroBias && x.accel_bias.norm() < kAccelBias &&
                  x.R_WS.allFinite();
  for (int i = 0; i < x.feet; ++i) {
    possible = possible && x.p_WF[static_cast<std::size_t>(i)].norm() < kPlace;
  }
  return possible;
}

}  // namespace

double BaseFilter::innovation(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_own(m);
  kernel::Padded<3> PHt;
  times_transposed(P_, m, PHt.numbers);
  return nis_of(m, PHt.numbers);
}

UpdateResult BaseFilter::update(std::span<const BaseMeasurement> measurements,
                                std::span<InnovationTest> tests) {
  std::array<BaseMeasurement, kMaxFeet> own;
  UpdateResult result;
  if (measurements.empty() || measurements.size() > own.size()) return result;
  if (!tests.empty() && tests.size() != measurements.size()) return result;
  const int n = state_.errors();
  Columns PHt, K, C;
  std::size_t count = 0;
  int rows = 0;
  bool absolute = false;
  for (std::size_t k = 0; k < measurements.size(); ++k) {
    BaseMeasurement& m = own[count];
    m = measurements[k];
    to_own(m);
    times_transposed(P_, m, PHt.column(rows));
    if (!tests.empty()) {
      tests[k].nis = nis_of(m, PHt.column(rows));
      tests[k].passed = tests[k].nis <= tests[k].gate;
      if (!tests[k].passed) continue;
    }
    if (!is_finite(m)) return result;
    absolute = absolute || m.absolute;
    rows += m.rows;
    ++count;
  }
  if (count == 0) return result;
  // S = H P H^T + N, its lower triangle, block row by block row.
  constexpr int kLead = kernel::kMaxRows;
  alignas(64) double S[kLead * kLead];
  double residual[kLead];
  std::fill_n(S, kLead * rows, 0.0);
  for (std::size_t k = 0, at = 0; k < count; ++k) {
    const BaseMeasurement& m = own[k];
    const int first = static_cast<int>(at);
    kernel::add_rows(S, first, m.rows, first + m.rows, blocks_of(m).data(), m.blocks, PHt.numbers);
    for (int c = 0; c < m.rows; ++c) {
      for (int i = 0; i < m.rows; ++i) S[kLead * (first + c) + first + i] += m.noise(i, c);
      residual[first + c] = m.residual[c];
    }
    at += static_cast<std::size_t>(m.rows);
  }
  if (!kernel::factorize(S, rows)) return result;
  std::copy_n(PHt.numbers, kernel::kStride * rows, K.numbers);
  kernel::divide_by_factor(K.numbers, n, rows, S);
  // Joseph: (1 - K H) P (1 - K H)^T + K N K^T. With B = P - K (P H^T)^T and C = K N - B H^T this is
  // B + C K^T.
  FilterCovariance P = FilterCovariance::unset(n);
  kernel::subtract_product(P_.data(), n, K.numbers, PHt.numbers, rows, P.data());
  for (std::size_t k = 0, at = 0; k < count; ++k) {
    const BaseMeasurement& m = own[k];
    const auto first = static_cast<int>(at);
    times_transposed(P, m, C.column(first));
    kernel::combine(C.column(first), K.column(first), n, m.noise.data(), m.rows);
    at += static_cast<std::size_t>(m.rows);
  }
  kernel::add_symmetric_product(P.data(), n, C.numbers, K.numbers, rows);
  alignas(64) double correction[kernel::kStride];
  kernel::times(K.numbers, n, rows, residual, correction);
  const FilterVector error = Eigen::Map<const FilterVector>(correction, n);
  // |L^-1 r|^2
  for (int j = 0; j < rows; ++j) {
    const double white = residual[j] /= S[kLead * j + j];
    for (int i = j + 1; i < rows; ++i) residual[i] -= S[kLead * j + i] * white;
    result.nis += white * white;
  }
  result.rows = rows;
  P.round_up();
  const FilterState after = moved(error);
  if (!P.is_sound() || !std::isfinite(result.nis) || !is_possible(after)) return result;
  const FilterState before = state_;
  if (absolute) own_to_common(P);
  P_.take(P);
  state_ = after;
  if (absolute) {
    common_to_own(P_);
  } else {
    after_update(before);
  }
  P_.bound(kLargestVariance);
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
