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

bool is_finite(const FilterState& x) {
  bool finite = x.p_WS.allFinite() && x.R_WS.allFinite() && x.v_WS.allFinite() &&
                x.gyro_bias.allFinite() && x.accel_bias.allFinite();
  for (int i = 0; i < x.feet; ++i) {
    finite = finite && x.p_WF[static_cast<std::size_t>(i)].allFinite();
  }
  return finite;
}

}  // namespace

BaseFilter::BaseFilter(const FilterOptions& options) : options_(options) {
  check_noise("BaseFilter", options.imu);
  check_not_negative("BaseFilter", "contact_noise", options.contact_noise);
  for (int i = 0; i < 3; ++i) check_finite("BaseFilter", "gravity_W", options.gravity_W[i]);
}

FilterMatrix BaseFilter::common_covariance() const {
  FilterCovariance P = P_;
  own_to_common(P);
  return P.dense();
}

void BaseFilter::reset(const FilterState& state, const Matrix15& covariance) {
  if (const char* problem = start(state, covariance)) {
    throw Error(std::string("BaseFilter::reset: ") + problem);
  }
}

bool BaseFilter::try_reset(const FilterState& state, const Matrix15& covariance) {
  return start(state, covariance) == nullptr;
}

const char* BaseFilter::start(const FilterState& state, const Matrix15& covariance) {
  constexpr double kRounding = 1e-9, kRotation = 1e-6;
  if (!is_finite(state)) return "the state is not finite";
  if (!is_rotation<double>(state.R_WS, kRotation)) return "R_WS is not a rotation";
  if (!covariance.allFinite()) return "the covariance is not finite";
  const double scale = covariance.cwiseAbs().maxCoeff();
  const Matrix15 symmetric = (covariance + covariance.transpose()) / 2;
  const Matrix15 raised = symmetric + kRounding * scale * Matrix15::Identity();
  if ((covariance - symmetric).cwiseAbs().maxCoeff() > kRounding * scale ||
      (scale > 0 && raised.llt().info() != Eigen::Success)) {
    return "the covariance is not symmetric positive semidefinite";
  }
  state_ = state;
  state_.feet = 0;
  P_.set_core(symmetric);
  common_to_own(P_);
  P_.bound(kLargestVariance);
  return nullptr;
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
    kernel::carry_noise(propagation.U_numbers, step.noise.data(), propagation.step);
    kernel::carry(P_.data(), P_.size(), propagation.step);
    P_.add_variance(kCoreSize, options_.contact_noise * options_.contact_noise * step.T);
  }
  P_.bound(kLargestVariance);
  return true;
}

bool BaseFilter::add_foot(int foot, const Vec& p_SF, const Mat& noise_S) {
  if (state_.feet == kMaxFeet || state_.slot_of(foot) >= 0) return false;
  if (!p_SF.allFinite() || !noise_S.allFinite()) return false;
  const int n = state_.errors();
  const Vec p_SF_W = state_.R_WS * p_SF;
  P_.append();
  // p_WF = p_WS + R p_SF
  const FilterCovariance::Gain by_position{n, Mat::Identity()},
      by_rotation{n, foot_by_rotation(p_SF_W)};
  P_.mix(Place::position, std::span(&by_position, 1));
  P_.mix(Place::rotation, std::span(&by_rotation, 1));
  const Mat noise = state_.R_WS * noise_S * state_.R_WS.transpose();
  P_.block(n, n) += (noise + noise.transpose()) / 2;
  state_.foot[static_cast<std::size_t>(state_.feet)] = foot;
  state_.p_WF[static_cast<std::size_t>(state_.feet)] = state_.p_WS + p_SF_W;
  ++state_.feet;
  P_.bound(kLargestVariance);
  return true;
}

bool BaseFilter::remove_foot(int foot) {
  const int slot = state_.slot_of(foot);
  if (slot < 0) return false;
  P_.remove(Place::foot(slot));
  P_.bound(kLargestVariance);
  for (int i = slot; i + 1 < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    state_.foot[k] = state_.foot[k + 1];
    state_.p_WF[k] = state_.p_WF[k + 1];
  }
  --state_.feet;
  return true;
}

double BaseFilter::nees(const FilterState& truth) const {
  const Core e = core_error(truth);
  const Matrix15 P = P_.dense().topLeftCorner<kCoreSize, kCoreSize>();
  return e.dot(P.ldlt().solve(e));
}

MatrixX<double> BaseFilter::transition(const ImuStep& step) const {
  Propagation propagation;
  linearize(state_, advanced(state_, step), step, propagation);
  const int n = state_.errors();
  MatrixX<double> F = MatrixX<double>::Identity(n, n);
  F.topLeftCorner<9, kCoreSize>() += propagation.E().topRows<9>();
  if (propagation.step.W == nullptr) return F;
  const Mat turn = propagation.E().block<3, 3>(Place::rotation, Place::gyro_bias);
  for (int i = 0; i < state_.feet; ++i) {
    F.block<3, 3>(Place::foot(i), Place::gyro_bias) =
        propagation.W[static_cast<std::size_t>(i)] * turn;
  }
  return F;
}

}  // namespace limb
