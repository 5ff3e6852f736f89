// A state that has been without measurements for too long, or that all of them speak against: what
// of it is kept, and how it is found again.
#include <algorithm>
#include <cmath>
#include <limits>

#include "limb/estimate/base_estimator.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;

/// Scales a part of a covariance so that no variance of it is above a limit.
void bound_part(int place, double limit, Matrix15& P) {
  for (int i = place; i < place + 3; ++i) {
    if (P(i, i) <= limit) continue;
    const double scale = std::sqrt(limit / P(i, i));
    P.row(i) *= scale;
    P.col(i) *= scale;
  }
}

/// A position of this covariance that has nothing to do with the rest.
void set_position(const Mat& covariance, Matrix15& P) {
  const Mat given = covariance;
  P.middleRows<3>(Place::position).setZero();
  P.middleCols<3>(Place::position).setZero();
  P.block<3, 3>(Place::position, Place::position) = given;
}

}  // namespace

void BaseEstimator::forget(double speed, double way, double tilt) {
  FilterState state = filter_->state();
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  state.v_WS.setZero();
  P.middleRows<3>(Place::velocity).setZero();
  P.middleCols<3>(Place::velocity).setZero();
  P.block<3, 3>(Place::velocity, Place::velocity) = speed * speed * Mat::Identity();
  P.block<3, 3>(Place::position, Place::position).diagonal().array() += way * way;
  P.block<3, 3>(Place::rotation, Place::rotation).diagonal().array() += tilt * tilt;
  // Of more than a radian nobody can tell which way it is.
  bound_part(Place::rotation, 1, P);
  filter_->try_reset(state, (P + P.transpose()) / 2);
  for (auto& foot : feet_) foot.refused_since = std::nan("");
}

void BaseEstimator::lose() {
  lost_ = true;
  rest_.reset();
}

bool BaseEstimator::set_back(double t, const ImuSample& sample) {
  if (t <= t_late_) late_begin_ = t;
  t_late_ = t;
  const double lost = t - late_begin_;
  if (lost < options_.lost_gap) return false;
  ++diagnostics_.clock_set_back;
  constexpr double kSpeed = 1, kTilt = 0.3;
  const double inf = std::numeric_limits<double>::infinity();
  t_ = t;
  t_legs_ = t_watch_ = -inf;
  t_late_ = inf;
  last_ = sample;
  has_imu_ = true;
  feet_refused_since_ = positions_refused_since_ = yaws_refused_since_ = std::nan("");
  for (auto& foot : feet_) foot = {};
  for (auto& detector : detectors_) detector.reset();
  rest_.reset();
  if (ready_) forget(kSpeed, kSpeed * lost, kTilt);
  return true;
}

void BaseEstimator::part_position() {
  // Where the velocity is unknown by metres per second, feet measure it to some millimetres per
  // second. Through seconds of flight that would be centimetres of the position, out of hundreds of
  // metres that are unknown: gains of 1e4 and more, whose rounding is larger than what feet tell.
  constexpr double kFast = 0.5;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  if (P.diagonal().segment<3>(Place::velocity).maxCoeff() <= kFast * kFast) return;
  set_position(P.block<3, 3>(Place::position, Place::position), P);
  filter_->try_reset(filter_->state(), P);
}

void BaseEstimator::watch(double t, const ImuSample& sample) {
  if (lost_ && rest_.add(t, sample)) take_rest();
  // The velocity's certainty needs a look now and then only.
  constexpr double kPeriod = 0.1;
  if (t - t_watch_ < kPeriod) return;
  t_watch_ = t;
  const double largest =
      filter_->common_covariance().diagonal().segment<3>(Place::velocity).maxCoeff();
  if (largest <= options_.lost_speed * options_.lost_speed) return;
  constexpr double kSpeed = 1;
  ++diagnostics_.velocity_lost;
  forget(kSpeed, 0, 0);
  if (!lost_) lose();
}

void BaseEstimator::take_rest() {
  // Tilt, velocity and the gyroscope's bias from rest; place and heading as they are.
  lost_ = false;
  ++diagnostics_.rest_recovered;
  const FilterState& now = filter_->state();
  const Matrix15 before = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  FilterState state = rest_.state();
  Matrix15 P = rest_.covariance();
  const Vec x_S = legs_.X_BS().R.transpose().col(0),
            up = -filter_->options().gravity_W.stableNormalized();
  const Vec x = state.R_WS * x_S, y = now.R_WS * x_S;
  const double turn = std::atan2(up.dot(x.cross(y)), x.dot(y) - up.dot(x) * up.dot(y));
  state.R_WS = so3::exp<double>(turn * up) * state.R_WS;
  state.p_WS = now.p_WS;
  P.block<3, 3>(Place::position, Place::position) =
      before.block<3, 3>(Place::position, Place::position);
  const Vec up_before = now.R_WS.transpose() * up, up_S = state.R_WS.transpose() * up;
  const double yaw =
      up_before.dot(before.block<3, 3>(Place::rotation, Place::rotation) * up_before);
  P.block<3, 3>(Place::rotation, Place::rotation) += yaw * up_S * up_S.transpose();
  filter_->try_reset(state, (P + P.transpose()) / 2);
  for (auto& foot : feet_) foot.refused_since = std::nan("");
}

void BaseEstimator::place_at(const Vec& shift) {
  FilterState state = filter_->state();
  state.p_WS += shift;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  // A metre: what comes next measures it.
  set_position(Mat::Identity(), P);
  filter_->try_reset(state, P);
}

void BaseEstimator::turn_by(double yaw, double deviation) {
  FilterState state = filter_->state();
  const Mat turn = so3::exp<double>(yaw * Vec::UnitZ());
  state.R_WS = renormalize<double>(turn * state.R_WS);
  state.v_WS = turn * state.v_WS;
  Matrix15 P = filter_->common_covariance().topLeftCorner<kCoreSize, kCoreSize>();
  const Vec up_S = state.R_WS.transpose().col(2);
  P.block<3, 3>(Place::rotation, Place::rotation) +=
      deviation * deviation * up_S * up_S.transpose();
  P.middleRows<3>(Place::velocity) = (turn * P.middleRows<3>(Place::velocity)).eval();
  P.middleCols<3>(Place::velocity) = (P.middleCols<3>(Place::velocity) * turn.transpose()).eval();
  set_position(P.block<3, 3>(Place::position, Place::position), P);
  filter_->try_reset(state, (P + P.transpose()) / 2);
}

bool BaseEstimator::refused_for_long(double t, bool refused, double& since) const {
  if (!refused) {
    since = std::nan("");
    return false;
  }
  if (std::isnan(since)) since = t;
  if (t - since < options_.lost_time) return false;
  since = std::nan("");
  return true;
}

BaseMeasurement BaseEstimator::position_measurement(const Vec& p_WQ, const Vec& p_BQ,
                                                    const Mat& noise_W) const {
  const Pose<double>& X_BS = legs_.X_BS();
  return limb::position_fix(filter_->state(), p_WQ, X_BS.R.transpose() * (p_BQ - X_BS.p), noise_W);
}

}  // namespace limb
