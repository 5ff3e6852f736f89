#include "limb/estimate/base_filter.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/estimate/covariance_kernels.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;
using Core = Eigen::Matrix<double, kCoreSize, 1>;

/// Beyond these a sample is no measurement of a robot, and numbers might overflow.
constexpr double kLargestRate = 1e3, kLargestForce = 1e5, kLargestTime = 100;
/// Variances stay below: a kilometre, and far more than anything else can be unknown by.
constexpr double kLargestVariance = 1e6;

bool is_finite(const FilterState& x) {
  bool finite = x.p_WS.allFinite() && x.R_WS.allFinite() && x.v_WS.allFinite() &&
                x.gyro_bias.allFinite() && x.accel_bias.allFinite();
  for (int i = 0; i < x.feet; ++i) {
    finite = finite && x.p_WF[static_cast<std::size_t>(i)].allFinite();
  }
  return finite;
}

}  // namespace

BaseFilter::BaseFilter(const FilterOptions& options)
    : P_(FilterMatrix::Zero(kCoreSize, kCoreSize)), options_(options) {
  check_noise("BaseFilter", options.imu);
  check_not_negative("BaseFilter", "contact_noise", options.contact_noise);
  for (int i = 0; i < 3; ++i) check_finite("BaseFilter", "gravity_W", options.gravity_W[i]);
}

FilterMatrix BaseFilter::common_covariance() const {
  FilterMatrix P = P_;
  own_to_common(P);
  return P;
}

void BaseFilter::reset(const FilterState& state, const Matrix15& covariance) {
  if (!is_finite(state)) throw Error("BaseFilter::reset: the state is not finite");
  check_rotation("BaseFilter::reset", "R_WS", state.R_WS, 1e-6);
  if (!covariance.allFinite()) throw Error("BaseFilter::reset: the covariance is not finite");
  const double scale = covariance.cwiseAbs().maxCoeff();
  constexpr double kRounding = 1e-9;
  const Matrix15 symmetric = (covariance + covariance.transpose()) / 2;
  const Matrix15 raised = symmetric + kRounding * scale * Matrix15::Identity();
  if ((covariance - symmetric).cwiseAbs().maxCoeff() > kRounding * scale ||
      (scale > 0 && raised.llt().info() != Eigen::Success)) {
    throw Error("BaseFilter::reset: the covariance is not symmetric positive semidefinite");
  }
  state_ = state;
  state_.feet = 0;
  P_ = symmetric;
  common_to_own(P_);
  symmetrize(0, kCoreSize);
  bound_variances();
}

FilterState BaseFilter::advanced(const FilterState& x, const ImuStep& step) const {
  const Vec g = options_.gravity_W;
  FilterState y = x;
  y.p_WS += x.v_WS * step.T + g * (step.T * step.T / 2) + x.R_WS * step.dp;
  y.v_WS += g * step.T + x.R_WS * step.dv;
  y.R_WS = renormalize<double>(x.R_WS * step.R);
  return y;
}

bool BaseFilter::predict(const ImuSample& sample, double T, const ImuNoise& noise) {
  // Written so that NaN is refused, too.
  if (!(T > 0 && T <= kLargestTime)) return false;
  if (!(sample.gyro.squaredNorm() <= kLargestRate * kLargestRate)) return false;
  if (!(sample.accel.squaredNorm() <= kLargestForce * kLargestForce)) return false;
  const ImuSample true_to_bias{sample.gyro - state_.gyro_bias, sample.accel - state_.accel_bias};
  const int pieces = imu_pieces(true_to_bias, T);
  ImuStep step;
  integrate_imu(true_to_bias, T / pieces, noise, step);
  Propagation propagation;
  for (int i = 0; i < pieces; ++i) {
    const FilterState before = state_;
    state_ = advanced(before, step);
    linearize(before, state_, step, propagation);
    propagate(propagation, step.T);
  }
  bound_variances();
  return true;
}

void BaseFilter::propagate(const Propagation& propagation, double T) {
  constexpr int kMoved = 9, kBiases = 6;
  const auto& F = propagation.F;
  const auto& Q = propagation.Q;
  const int n = state_.errors(), feet = n - kCoreSize;
  if (propagation.feet_turn) {
    const Mat turn = F.block<3, 3>(Place::rotation, Place::gyro_bias);
    for (int i = 0; i < state_.feet; ++i) {
      mix(P_, Place::foot(i), Place::gyro_bias, propagation.W[static_cast<std::size_t>(i)] * turn);
    }
  }
  // P F^T, all rows; then F on its first ones.
  kernel::Padded<kCoreSize> core;
  kernel::Padded<kMoved> moved;
  for (int j = 0; j < kCoreSize; ++j) std::copy_n(P_.col(j).data(), n, core.column(j));
  kernel::times_transition(core.numbers, n, F.data(), moved.numbers);
  const Eigen::Map<const Eigen::Matrix<double, kernel::kStride, kMoved>> PFt(moved.numbers);
  P_.topLeftCorner<kMoved, kMoved>().noalias() = F.lazyProduct(PFt.topRows<kCoreSize>());
  P_.block<kMoved, kBiases>(0, kMoved) = PFt.middleRows<kBiases>(kMoved).transpose();
  P_.topLeftCorner<kCoreSize, kCoreSize>() += Q;
  symmetrize(0, kMoved);
  P_.block<kBiases, kMoved>(kMoved, 0) = P_.block<kMoved, kBiases>(0, kMoved).transpose();
  if (feet == 0) return;
  P_.block(0, kCoreSize, kMoved, feet) = PFt.middleRows(kCoreSize, feet).transpose();
  if (propagation.feet_turn) {
    symmetrize(kCoreSize, feet);
    const auto Q_rotation = Q.middleRows<3>(Place::rotation);
    for (int i = 0; i < state_.feet; ++i) {
      const Mat& W = propagation.W[static_cast<std::size_t>(i)];
      P_.block<kCoreSize, 3>(0, Place::foot(i)) += (W * Q_rotation).transpose();
      const Mat WQ = W * Q.block<3, 3>(Place::rotation, Place::rotation);
      for (int k = 0; k < state_.feet; ++k) {
        P_.block<3, 3>(Place::foot(i), Place::foot(k)) +=
            WQ * propagation.W[static_cast<std::size_t>(k)].transpose();
      }
    }
  }
  const double creep = options_.contact_noise * options_.contact_noise * T;
  P_.diagonal().tail(feet).array() += creep;
  P_.block(kCoreSize, 0, feet, kCoreSize) = P_.block(0, kCoreSize, kCoreSize, feet).transpose();
}

void BaseFilter::symmetrize(Eigen::Index first, Eigen::Index size) {
  for (Eigen::Index j = first; j < first + size; ++j) {
    for (Eigen::Index i = j + 1; i < first + size; ++i) {
      P_(i, j) = P_(j, i) = (P_(i, j) + P_(j, i)) / 2;
    }
  }
}

void BaseFilter::bound_variances() {
  const auto n = P_.rows();
  for (Eigen::Index i = 0; i < n; ++i) {
    double& variance = P_(i, i);
    if (variance > kLargestVariance) {
      // Scaled with its row, so that correlations stay and nothing becomes indefinite.
      const double scale = std::sqrt(kLargestVariance / variance);
      P_.row(i) *= scale;
      P_.col(i) *= scale;
    } else if (variance < 0) {
      P_.row(i).setZero();
      P_.col(i).setZero();
    }
  }
}

bool BaseFilter::add_foot(int foot, const Vec& p_SF, const Mat& noise_S) {
  if (state_.feet == kMaxFeet || state_.slot_of(foot) >= 0) return false;
  if (!p_SF.allFinite() || !noise_S.allFinite()) return false;
  const int n = state_.errors();
  const Vec p_SF_W = state_.R_WS * p_SF;
  P_.conservativeResize(n + 3, n + 3);
  P_.bottomRows<3>().setZero();
  P_.rightCols<3>().setZero();
  // p_WF = p_WS + R p_SF
  mix(P_, n, Place::position, Mat::Identity());
  mix(P_, n, Place::rotation, foot_by_rotation(p_SF_W));
  P_.bottomRightCorner<3, 3>() += state_.R_WS * noise_S * state_.R_WS.transpose();
  state_.foot[static_cast<std::size_t>(state_.feet)] = foot;
  state_.p_WF[static_cast<std::size_t>(state_.feet)] = state_.p_WS + p_SF_W;
  ++state_.feet;
  symmetrize(0, n + 3);
  bound_variances();
  return true;
}

bool BaseFilter::remove_foot(int foot) {
  const int slot = state_.slot_of(foot);
  if (slot < 0) return false;
  const int at = Place::foot(slot), n = state_.errors(), rest = n - at - 3;
  // One column, then one row after the other: each is read before it is written.
  for (int j = 0; j < rest; ++j) P_.col(at + j) = P_.col(at + 3 + j);
  for (int i = 0; i < rest; ++i) P_.row(at + i) = P_.row(at + 3 + i);
  P_.conservativeResize(n - 3, n - 3);
  for (int i = slot; i + 1 < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    state_.foot[k] = state_.foot[k + 1];
    state_.p_WF[k] = state_.p_WF[k + 1];
  }
  --state_.feet;
  return true;
}

void BaseFilter::mix(FilterMatrix& P, int to, int from, const Mat& J) {
  const Eigen::Index n = P.rows();
  for (Eigen::Index j = 0; j < n; ++j) {
    double* column = P.col(j).data();
    const Vec x(column[from], column[from + 1], column[from + 2]);
    for (int i = 0; i < 3; ++i) column[to + i] += J.row(i).dot(x);
  }
  const double *x = P.col(from).data(), *y = P.col(from + 1).data(), *z = P.col(from + 2).data();
  for (int k = 0; k < 3; ++k) {
    double* column = P.col(to + k).data();
    for (Eigen::Index i = 0; i < n; ++i)
      column[i] += J(k, 0) * x[i] + J(k, 1) * y[i] + J(k, 2) * z[i];
  }
}

void BaseFilter::turn(FilterMatrix& P, int place, const Mat& R) {
  for (Eigen::Index j = 0; j < P.cols(); ++j) {
    P.block<3, 1>(place, j) = (R * P.block<3, 1>(place, j)).eval();
  }
  for (Eigen::Index i = 0; i < P.rows(); ++i) {
    P.block<1, 3>(i, place) = (P.block<1, 3>(i, place) * R.transpose()).eval();
  }
}

double BaseFilter::nees(const FilterState& truth) const {
  const Core e = core_error(truth);
  const Matrix15 P = P_.topLeftCorner<kCoreSize, kCoreSize>();
  return e.dot(P.ldlt().solve(e));
}

MatrixX<double> BaseFilter::transition(const ImuStep& step) const {
  Propagation propagation;
  linearize(state_, advanced(state_, step), step, propagation);
  const int n = state_.errors();
  MatrixX<double> F = MatrixX<double>::Identity(n, n);
  F.topLeftCorner<9, kCoreSize>() = propagation.F;
  if (!propagation.feet_turn) return F;
  const Mat turn = propagation.F.block<3, 3>(Place::rotation, Place::gyro_bias);
  for (int i = 0; i < state_.feet; ++i) {
    F.block<3, 3>(Place::foot(i), Place::gyro_bias) =
        propagation.W[static_cast<std::size_t>(i)] * turn;
  }
  return F;
}

}  // namespace limb
