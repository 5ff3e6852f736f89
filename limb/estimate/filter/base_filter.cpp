#include "limb/estimate/filter/base_filter.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/estimate/filter/covariance_kernels.hpp"
#include "limb/estimate/filter/error_definitions.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Core = Eigen::Matrix<double, kCoreSize, 1>;

/// Beyond these a sample is not plausible, and results might overflow.
constexpr double kLargestRate = 1e3, kLargestForce = 1e5, kLargestTime = 100;

bool is_finite(const FilterState& x) {
  bool finite = x.p_WS.allFinite() && x.R_WS.allFinite() && x.v_WS.allFinite() &&
                x.gyro_bias.allFinite() && x.accel_bias.allFinite();
  for (int i = 0; i < x.feet; ++i) {
    finite = finite && x.p_WF[static_cast<std::size_t>(i)].allFinite();
  }
  return finite;
}

using Columns = kernel::Padded<kernel::kMaxRows>;
using Blocks = std::array<kernel::Block, 4>;

Blocks blocks_of(const BaseMeasurement& m) {
  Blocks blocks;
  for (std::size_t b = 0; b < static_cast<std::size_t>(m.blocks); ++b) {
    blocks[b] = {m.block[b].index, m.block[b].J.data()};
  }
  return blocks;
}

/// X J^T, three columns.
void times_transposed(const FilterCovariance& X, const BaseMeasurement& m, double* result) {
  kernel::multiply_blocks(X.data(), X.size(), blocks_of(m).data(), m.blocks, result);
}

bool is_finite(const BaseMeasurement& m) {
  const auto rows = m.rows;
  return m.residual.head(rows).allFinite() && m.noise.topLeftCorner(rows, rows).allFinite();
}

/// r^T (H P H^T + N)^-1 r, infinite if that matrix is not positive definite or a value is not
/// finite. Unused rows of a measurement are those of the identity.
double nis_of(const BaseMeasurement& m, const double* PHt, Vec* whitened = nullptr) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  using Rows =
      Eigen::Map<const Eigen::Matrix<double, 3, 3>, 0, Eigen::OuterStride<kernel::kStride>>;
  Matrix3<double> S = m.noise;
  Vector3<double> r = m.residual;
  for (int i = m.rows; i < 3; ++i) {
    S(i, i) = 1;
    r[i] = 0;
  }
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [index, J] = m.block[static_cast<std::size_t>(b)];
    S += J.lazyProduct(Rows(PHt + index));
  }
  // S = L D L^T, and L x = r.
  const double d0 = S(0, 0), l1 = S(1, 0) / d0, l2 = S(2, 0) / d0;
  const double d1 = S(1, 1) - l1 * S(1, 0), l21 = (S(2, 1) - l2 * S(1, 0)) / d1;
  const double d2 = S(2, 2) - l2 * S(2, 0) - l21 * l21 * d1;
  if (!(d0 > 0 && d1 > 0 && d2 > 0)) return kInfinity;
  const double x1 = r[1] - l1 * r[0], x2 = r[2] - l2 * r[0] - l21 * x1;
  const double nis = r[0] * r[0] / d0 + x1 * x1 / d1 + x2 * x2 / d2;
  if (!std::isfinite(nis)) return kInfinity;
  if (whitened != nullptr) {
    *whitened = {r[0] / std::sqrt(d0), x1 / std::sqrt(d1), x2 / std::sqrt(d2)};
  }
  return nis;
}

/// The matrix of a change of n errors.
MatrixX<double> dense(const ErrorTransform& transform, int n) {
  MatrixX<double> T = MatrixX<double>::Identity(n, n);
  for (std::size_t k = 0; k < transform.count; ++k) {
    T.block<3, 3>(transform.gains[k].index, transform.from) += transform.gains[k].J;
  }
  return T;
}

/// Whether a state is plausible for a robot; otherwise the filter has diverged.
/// Written so that NaN is rejected, too.
bool is_plausible(const FilterState& x) {
  constexpr double kPosition = 1e9, kSpeed = 1e6, kGyroBias = 100, kAccelBias = 1e4;
  bool plausible = x.p_WS.norm() < kPosition && x.v_WS.norm() < kSpeed &&
                   x.gyro_bias.norm() < kGyroBias && x.accel_bias.norm() < kAccelBias &&
                   x.R_WS.allFinite();
  for (int i = 0; i < x.feet; ++i) {
    plausible = plausible && x.p_WF[static_cast<std::size_t>(i)].norm() < kPosition;
  }
  return plausible;
}

}  // namespace

BaseFilter::BaseFilter(const FilterOptions& options) : options_(options) {
  check_noise("BaseFilter", options.imu);
  check_not_negative("BaseFilter", "contact_noise", options.contact_noise);
  for (int i = 0; i < 3; ++i) check_finite("BaseFilter", "gravity_W", options.gravity_W[i]);
}

FilterMatrix BaseFilter::common_covariance() const {
  FilterCovariance P = P_;
  to_common(state_).apply(P);
  return P.dense();
}

FilterMatrix BaseFilter::to_common(const FilterState& x, const FilterMatrix& P) const {
  const MatrixX<double> T = dense(to_common(x), static_cast<int>(P.rows()));
  return T * P * T.transpose();
}

void BaseFilter::reset(const FilterState& state, const Matrix15& covariance) {
  const char* problem = "";
  if (set_initial(state, covariance, problem) != Status::ok) {
    throw Error(std::string("BaseFilter::reset: ") + problem);
  }
}

Status BaseFilter::try_reset(const FilterState& state, const Matrix15& covariance) {
  const char* problem = "";
  return set_initial(state, covariance, problem);
}

Status BaseFilter::set_initial(const FilterState& state, const Matrix15& covariance,
                               const char*& problem) {
  constexpr double kRounding = 1e-9, kRotation = 1e-6;
  const auto refuse = [&](Status status, const char* why) {
    problem = why;
    return status;
  };
  if (!is_finite(state)) return refuse(Status::not_finite, "the state is not finite");
  if (!is_rotation<double>(state.R_WS, kRotation)) {
    return refuse(Status::rejected, "R_WS is not a rotation");
  }
  if (!covariance.allFinite()) return refuse(Status::not_finite, "the covariance is not finite");
  const double scale = covariance.cwiseAbs().maxCoeff();
  const Matrix15 symmetric = (covariance + covariance.transpose()) / 2;
  const Matrix15 raised = symmetric + kRounding * scale * Matrix15::Identity();
  if ((covariance - symmetric).cwiseAbs().maxCoeff() > kRounding * scale ||
      (scale > 0 && raised.llt().info() != Eigen::Success)) {
    return refuse(Status::rejected, "the covariance is not symmetric positive semidefinite");
  }
  state_ = state;
  state_.feet = 0;
  P_.set_core(symmetric);
  from_common(state_).apply(P_);
  P_.bound(kLargestVariance);
  if (record_.target != nullptr) record_.target->add_restart();
  return Status::ok;
}

FilterState BaseFilter::propagated(const FilterState& x, const ImuStep& step) const {
  return propagated_state<double>(x, options_.gravity_W, step);
}

Status BaseFilter::predict(const ImuSample& sample, double T, const ImuNoise& noise) {
  if (!std::isfinite(T) || !sample.gyro.allFinite() || !sample.accel.allFinite()) {
    return Status::not_finite;
  }
  // Written so that squares that overflow are rejected, too.
  if (!(T > 0 && T <= kLargestTime)) return Status::rejected;
  if (!(sample.gyro.squaredNorm() <= kLargestRate * kLargestRate)) return Status::rejected;
  if (!(sample.accel.squaredNorm() <= kLargestForce * kLargestForce)) return Status::rejected;
  const ImuSample corrected{sample.gyro - state_.gyro_bias, sample.accel - state_.accel_bias};
  const int substeps = imu_substeps(corrected, T);
  ImuStep step;
  integrate_imu(corrected, T / substeps, noise, step);
  Propagation propagation;
  for (int i = 0; i < substeps; ++i) {
    const FilterState before = state_;
    state_ = propagated(before, step);
    linearize(before, state_, step, propagation);
    if (record_.target != nullptr) record_.target->add_transition(transition(propagation));
    kernel::propagate_noise(propagation.U_numbers, step.noise.data(), propagation.step);
    kernel::propagate_covariance(P_.data(), P_.size(), propagation.step);
    P_.add_variance(kCoreSize, options_.contact_noise * options_.contact_noise * step.T);
  }
  P_.bound(kLargestVariance);
  return Status::ok;
}

Status BaseFilter::add_foot(int foot, const Vec& p_SF, const Mat& noise_S) {
  if (state_.feet == kMaxFeet || state_.slot_of(foot) >= 0) return Status::rejected;
  if (!p_SF.allFinite() || !noise_S.allFinite()) return Status::not_finite;
  const int n = state_.errors();
  const Vec p_SF_W = state_.R_WS * p_SF;
  P_.append();
  // p_WF = p_WS + R p_SF
  const FilterCovariance::Gain by_position{n, Mat::Identity()},
      by_rotation{n, foot_rotation_jacobian(p_SF_W)};
  if (record_.target != nullptr) {
    MatrixX<double> F = MatrixX<double>::Identity(n + 3, n);
    F.block<3, 3>(n, ErrorIndex::position) = by_position.J;
    F.block<3, 3>(n, ErrorIndex::rotation) = by_rotation.J;
    record_.target->add_transition(std::move(F));
  }
  P_.transform(ErrorIndex::position, std::span(&by_position, 1));
  P_.transform(ErrorIndex::rotation, std::span(&by_rotation, 1));
  const Mat noise = state_.R_WS * noise_S * state_.R_WS.transpose();
  P_.block(n, n) += (noise + noise.transpose()) / 2;
  state_.foot[static_cast<std::size_t>(state_.feet)] = foot;
  state_.p_WF[static_cast<std::size_t>(state_.feet)] = state_.p_WS + p_SF_W;
  ++state_.feet;
  P_.bound(kLargestVariance);
  return Status::ok;
}

Status BaseFilter::remove_foot(int foot) {
  const int slot = state_.slot_of(foot);
  if (slot < 0) return Status::rejected;
  if (record_.target != nullptr) {
    const int n = state_.errors(), at = ErrorIndex::foot(slot);
    MatrixX<double> F = MatrixX<double>::Zero(n - 3, n);
    F.topLeftCorner(at, at).setIdentity();
    F.bottomRightCorner(n - 3 - at, n - 3 - at).setIdentity();
    record_.target->add_transition(std::move(F));
  }
  P_.remove(ErrorIndex::foot(slot));
  P_.bound(kLargestVariance);
  for (int i = slot; i + 1 < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    state_.foot[k] = state_.foot[k + 1];
    state_.p_WF[k] = state_.p_WF[k + 1];
  }
  --state_.feet;
  return Status::ok;
}

Status BaseFilter::widen(const Matrix15& added) {
  if (!added.allFinite()) return Status::not_finite;
  FilterCovariance P = P_;
  to_common(state_).apply(P);
  for (int c = 0; c < kCoreSize; c += 3) {
    for (int r = 0; r < kCoreSize; r += 3) {
      P.block(r, c) += (added.block<3, 3>(r, c) + added.block<3, 3>(c, r).transpose()) / 2;
    }
  }
  from_common(state_).apply(P);
  P.bound(kLargestVariance);
  if (!P.is_semidefinite()) return Status::rejected;
  P_ = P;
  return Status::ok;
}

Status BaseFilter::widen_position(const Mat& added) {
  if (!added.allFinite()) return Status::not_finite;
  // A translation of the whole scene is the same error for every filter.
  const Mat symmetric = (added + added.transpose()) / 2;
  std::array<int, 1 + kMaxFeet> index;
  std::size_t count = 0;
  index[count++] = ErrorIndex::position;
  for (int i = 0; i < state_.feet; ++i) index[count++] = ErrorIndex::foot(i);
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t r = 0; r < count; ++r) P_.block(index[r], index[c]) += symmetric;
  }
  P_.bound(kLargestVariance);
  return Status::ok;
}

Status BaseFilter::widen_step(int index, double variance) {
  if (!std::isfinite(variance)) return Status::not_finite;
  const FilterMatrix P = P_.dense();
  if (!(variance >= 0) || !(P(index, index) > 0)) return Status::rejected;
  const FilterVector c = P.col(index) / P(index, index);
  FilterVector d = c;
  d[index] = 0;
  const FilterMatrix added = variance * (c * c.transpose() + d * d.transpose() / 3);
  for (int col = 0; col < P_.size(); col += 3) {
    for (int row = 0; row < P_.size(); row += 3) {
      P_.block(row, col) += added.block<3, 3>(row, col);
    }
  }
  P_.bound(kLargestVariance);
  return Status::ok;
}

Status BaseFilter::widen_foot(int foot, double deviation) {
  const int slot = state_.slot_of(foot);
  if (slot < 0) return Status::rejected;
  if (!std::isfinite(deviation)) return Status::not_finite;
  const int n = ErrorIndex::foot(slot);
  P_.block(n, n).diagonal().array() += deviation * deviation;
  P_.bound(kLargestVariance);
  return Status::ok;
}

double BaseFilter::innovation(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_filter_errors(m);
  kernel::Padded<3> PHt;
  times_transposed(P_, m, PHt.numbers);
  return nis_of(m, PHt.numbers);
}

UpdateResult BaseFilter::update(std::span<const BaseMeasurement> measurements,
                                std::span<InnovationTest> tests) {
  std::array<BaseMeasurement, kMaxFeet> used;
  UpdateResult result;
  if (measurements.empty() || measurements.size() > used.size()) return result;
  if (!tests.empty() && tests.size() != measurements.size()) return result;
  const int n = state_.errors();
  Columns PHt, K, C;
  std::size_t count = 0;
  int rows = 0;
  bool absolute = false;
  for (std::size_t k = 0; k < measurements.size(); ++k) {
    BaseMeasurement& m = used[count];
    m = measurements[k];
    to_filter_errors(m);
    times_transposed(P_, m, PHt.column(rows));
    if (!tests.empty()) {
      tests[k].nis = nis_of(m, PHt.column(rows), &tests[k].whitened);
      tests[k].passed = tests[k].nis <= tests[k].gate;
      if (!tests[k].passed) continue;
    }
    if (!is_finite(m)) {
      result.status = Status::not_finite;
      return result;
    }
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
    const BaseMeasurement& m = used[k];
    const int first = static_cast<int>(at);
    kernel::add_rows(S, first, m.rows, first + m.rows, blocks_of(m).data(), m.blocks, PHt.numbers);
    for (int c = 0; c < m.rows; ++c) {
      for (int i = 0; i < m.rows; ++i) S[kLead * (first + c) + first + i] += m.noise(i, c);
      residual[first + c] = m.residual[c];
    }
    at += static_cast<std::size_t>(m.rows);
  }
  if (!kernel::factorize(S, rows)) {
    result.status = Status::singular;
    return result;
  }
  std::copy_n(PHt.numbers, kernel::kStride * rows, K.numbers);
  kernel::solve_by_factor(K.numbers, n, rows, S);
  // Joseph form: (1 - K H) P (1 - K H)^T + K N K^T. With B = P - K (P H^T)^T and
  // C = K N - B H^T this is B + C K^T.
  FilterCovariance P = FilterCovariance::uninitialized(n);
  kernel::subtract_product(P_.data(), n, K.numbers, PHt.numbers, rows, P.data());
  for (std::size_t k = 0, at = 0; k < count; ++k) {
    const BaseMeasurement& m = used[k];
    const auto first = static_cast<int>(at);
    times_transposed(P, m, C.column(first));
    kernel::combine(C.column(first), K.column(first), n, m.noise.data(), m.rows);
    at += static_cast<std::size_t>(m.rows);
  }
  kernel::add_symmetric_product(P.data(), n, C.numbers, K.numbers, rows);
  alignas(64) double correction[kernel::kStride];
  kernel::multiply(K.numbers, n, rows, residual, correction);
  const FilterVector error = Eigen::Map<const FilterVector>(correction, n);
  // |L^-1 r|^2
  for (int j = 0; j < rows; ++j) {
    const double whitened = residual[j] /= S[kLead * j + j];
    for (int i = j + 1; i < rows; ++i) residual[i] -= S[kLead * j + i] * whitened;
    result.nis += whitened * whitened;
  }
  result.rows = rows;
  P.inflate_for_rounding();
  const FilterState after = retracted(error);
  if (!P.is_semidefinite() || !std::isfinite(result.nis) || !is_plausible(after)) return result;
  const FilterState before = state_;
  if (record_.target != nullptr) {
    FilterRecord::Step& step = record_.target->add_update(n, rows);
    for (std::size_t k = 0, at = 0; k < count; ++k) {
      const BaseMeasurement& m = used[k];
      const auto first = static_cast<Eigen::Index>(at);
      for (int b = 0; b < m.blocks; ++b) {
        const auto& [index, J] = m.block[static_cast<std::size_t>(b)];
        step.H.block(first, index, m.rows, 3) += J.topRows(m.rows);
      }
      step.noise.block(first, first, m.rows, m.rows) = m.noise.topLeftCorner(m.rows, m.rows);
      step.residual.segment(first, m.rows) = m.residual.head(m.rows);
      at += static_cast<std::size_t>(m.rows);
    }
    step.K = Eigen::Map<const MatrixX<double>, 0, Eigen::OuterStride<kernel::kStride>>(K.numbers, n,
                                                                                       rows);
    step.PHt = Eigen::Map<const MatrixX<double>, 0, Eigen::OuterStride<kernel::kStride>>(
        PHt.numbers, n, rows);
  }
  const ErrorTransform first = absolute ? to_common(state_) : ErrorTransform{};
  first.apply(P);
  P_.assign(P);
  state_ = after;
  const ErrorTransform second = absolute ? from_common(state_) : after_update(before);
  second.apply(P_);
  if (record_.target != nullptr && first.count + second.count > 0) {
    record_.target->add_transition(dense(second, n) * dense(first, n));
  }
  P_.bound(kLargestVariance);
  result.status = Status::ok;
  return result;
}

double BaseFilter::nees(const FilterState& truth) const {
  const Core e = core_error(truth);
  const Matrix15 P = P_.dense().topLeftCorner<kCoreSize, kCoreSize>();
  return e.dot(P.ldlt().solve(e));
}

MatrixX<double> BaseFilter::transition(const ImuStep& step) const {
  Propagation propagation;
  linearize(state_, propagated(state_, step), step, propagation);
  return transition(propagation);
}

MatrixX<double> BaseFilter::transition(const Propagation& given) const {
  Propagation propagation = given;
  if (given.step.W != nullptr) propagation.step.W = propagation.W.front().data();
  const int n = state_.errors();
  MatrixX<double> F = MatrixX<double>::Identity(n, n);
  F.topLeftCorner<9, kCoreSize>() += propagation.E().topRows<9>();
  if (propagation.step.W == nullptr) return F;
  const Mat rotation_by_gyro =
      propagation.E().block<3, 3>(ErrorIndex::rotation, ErrorIndex::gyro_bias);
  for (int i = 0; i < state_.feet; ++i) {
    F.block<3, 3>(ErrorIndex::foot(i), ErrorIndex::gyro_bias) =
        propagation.W[static_cast<std::size_t>(i)] * rotation_by_gyro;
  }
  return F;
}

MatrixX<double> BaseFilter::jacobian(const BaseMeasurement& given) const {
  BaseMeasurement m = given;
  to_filter_errors(m);
  MatrixX<double> H = MatrixX<double>::Zero(m.rows, state_.errors());
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [index, J] = m.block[static_cast<std::size_t>(b)];
    H.middleCols<3>(index) += J.topRows(m.rows);
  }
  return H;
}

}  // namespace limb
