// Measurements: innovations, and Joseph's form of what they leave unknown.
#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "limb/estimate/base_filter.hpp"

namespace limb {
namespace {

constexpr int kMaxRows = 3 * kMaxFeet;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxErrors, kMaxRows>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxRows, kMaxRows>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxRows, 1>;

/// X J^T, block by block: three columns for the up to three rows of a measurement.
template <typename In, typename Out>
void times_transposed(const In& X, const BaseMeasurement& m, Out&& result) {
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    for (int row = 0; row < m.rows; ++row) {
      auto column = result.col(row);
      if (b == 0) {
        column =
            X.col(place) * J(row, 0) + X.col(place + 1) * J(row, 1) + X.col(place + 2) * J(row, 2);
      } else {
        column +=
            X.col(place) * J(row, 0) + X.col(place + 1) * J(row, 1) + X.col(place + 2) * J(row, 2);
      }
    }
  }
}

bool is_finite(const BaseMeasurement& m) {
  const auto rows = m.rows;
  return m.residual.head(rows).allFinite() && m.noise.topLeftCorner(rows, rows).allFinite();
}

}  // namespace

double BaseFilter::innovation(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_own(m);
  const int rows = m.rows;
  Rows PHt(P_.rows(), rows);
  times_transposed(P_, m, PHt);
  Matrix3<double> HPHt = Matrix3<double>::Zero();
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    HPHt.topLeftCorner(rows, rows).noalias() +=
        J.topRows(rows).lazyProduct(PHt.middleRows<3>(place));
  }
  Matrix3<double> S = Matrix3<double>::Identity();
  S.topLeftCorner(rows, rows) = (HPHt + m.noise).topLeftCorner(rows, rows);
  Vector3<double> r = Vector3<double>::Zero();
  r.head(rows) = m.residual.head(rows);
  const Eigen::LLT<Matrix3<double>> factor(S);
  const double nis = factor.info() == Eigen::Success ? r.dot(factor.solve(r)) : std::nan("");
  return std::isfinite(nis) ? nis : std::numeric_limits<double>::infinity();
}

UpdateResult BaseFilter::update(std::span<const BaseMeasurement> measurements) {
  std::array<BaseMeasurement, kMaxFeet> own;
  UpdateResult result;
  if (measurements.empty() || measurements.size() > own.size()) return result;
  int rows = 0;
  bool absolute = false;
  for (std::size_t k = 0; k < measurements.size(); ++k) {
    if (!is_finite(measurements[k])) return result;
    absolute = absolute || measurements[k].absolute;
    own[k] = measurements[k];
    to_own(own[k]);
    rows += own[k].rows;
  }
  const int n = state_.errors();
  Rows PHt(n, rows), K(n, rows), C(n, rows);
  Square S(rows, rows);
  Column residual(rows);
  for (std::size_t k = 0, at = 0; k < measurements.size(); ++k) {
    const auto first = static_cast<Eigen::Index>(at);
    times_transposed(P_, own[k], PHt.middleCols(first, own[k].rows));
    residual.segment(first, own[k].rows) = own[k].residual.head(own[k].rows);
    at += static_cast<std::size_t>(own[k].rows);
  }
  // S = H P H^T + N, block row by block row.
  const auto times = [&](const Rows& X, const BaseMeasurement& m, auto&& block) {
    block.setZero();
    for (int b = 0; b < m.blocks; ++b) {
      const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
      block += J.topRows(m.rows).lazyProduct(X.middleRows<3>(place));
    }
  };
  for (std::size_t k = 0, at = 0; k < measurements.size(); ++k) {
    const auto first = static_cast<Eigen::Index>(at);
    const int r = own[k].rows;
    times(PHt, own[k], S.middleRows(first, r));
    S.block(first, first, r, r) += own[k].noise.topLeftCorner(r, r);
    at += static_cast<std::size_t>(r);
  }
  const Eigen::LLT<Square> factor(S);
  if (factor.info() != Eigen::Success) return result;
  K = PHt;
  factor.matrixU().template solveInPlace<Eigen::OnTheRight>(K);
  factor.matrixL().template solveInPlace<Eigen::OnTheRight>(K);
  // Joseph: (1 - K H) P (1 - K H)^T + K N K^T. With B = P - K (P H^T)^T and C = B H^T this is
  // B + (K N - C) K^T.
  FilterMatrix B = P_;
  B.noalias() -= K * PHt.transpose();
  for (std::size_t k = 0, at = 0; k < measurements.size(); ++k) {
    const auto first = static_cast<Eigen::Index>(at);
    const int r = own[k].rows;
    times_transposed(B, own[k], C.middleCols(first, r));
    C.middleCols(first, r) = K.middleCols(first, r).lazyProduct(own[k].noise.topLeftCorner(r, r)) -
                             C.middleCols(first, r);
    at += static_cast<std::size_t>(r);
  }
  B.noalias() += C * K.transpose();
  const FilterVector error = K.lazyProduct(residual);
  Column white = residual;
  factor.matrixL().solveInPlace(white);
  result.nis = white.squaredNorm();
  result.rows = rows;
  // One number that is not finite makes the sum so.
  if (!std::isfinite(B.sum()) || !error.allFinite() || !std::isfinite(result.nis)) return result;
  const FilterState before = state_;
  if (absolute) own_to_common(B);
  P_ = B;
  retract(error, state_);
  if (absolute) {
    common_to_own(P_);
  } else {
    after_update(before);
  }
  keep_sound();
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
