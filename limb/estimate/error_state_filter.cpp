#include "limb/estimate/error_state_filter.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;

}  // namespace

void ErrorStateFilter::linearize(const FilterState& before, const FilterState&, const ImuStep& step,
                                 Propagation& propagation) const {
  const Mat& R0 = before.R_WS;
  const Mat R_S1S0 = step.R.transpose();
  auto E = propagation.E();
  E.setZero();
  E.block<3, 3>(Place::position, Place::rotation) = -R0 * skew<double>(step.dp);
  E.block<3, 3>(Place::position, Place::velocity).diagonal().setConstant(step.T);
  E.block<3, 3>(Place::position, Place::gyro_bias) = R0 * step.dp_by_gyro;
  E.block<3, 3>(Place::position, Place::accel_bias) = R0 * step.dp_by_accel;
  E.block<3, 3>(Place::rotation, Place::rotation) = R_S1S0 - Mat::Identity();
  E.block<3, 3>(Place::rotation, Place::gyro_bias) = R_S1S0 * step.R_by_gyro;
  E.block<3, 3>(Place::velocity, Place::rotation) = -R0 * skew<double>(step.dv);
  E.block<3, 3>(Place::velocity, Place::gyro_bias) = R0 * step.dv_by_gyro;
  E.block<3, 3>(Place::velocity, Place::accel_bias) = R0 * step.dv_by_accel;
  propagation.step.W = nullptr;
  auto U = propagation.U();
  U.setZero();
  U.block<3, 3>(Place::position, Place::position) = R0;
  U.block<3, 3>(Place::rotation, Place::rotation) = R_S1S0;
  U.block<3, 3>(Place::velocity, Place::velocity) = R0;
}

void ErrorStateFilter::to_own(BaseMeasurement& m) const {
  // exp(e_W) R = R exp(R^T e_W)
  for (int b = 0; b < m.blocks; ++b) {
    auto& block = m.block[static_cast<std::size_t>(b)];
    if (block.place == Place::rotation) block.J = block.J * state_.R_WS;
  }
}

void ErrorStateFilter::retract(const FilterVector& error, FilterState& x) const {
  x.p_WS += error.segment<3>(Place::position);
  x.R_WS = renormalize<double>(x.R_WS * so3::exp<double>(error.segment<3>(Place::rotation)));
  x.v_WS += error.segment<3>(Place::velocity);
  x.gyro_bias += error.segment<3>(Place::gyro_bias);
  x.accel_bias += error.segment<3>(Place::accel_bias);
  for (int i = 0; i < x.feet; ++i) {
    x.p_WF[static_cast<std::size_t>(i)] += error.segment<3>(Place::foot(i));
  }
}

Mat ErrorStateFilter::foot_by_rotation(const Vec& p_SF_W) const {
  return -skew<double>(p_SF_W) * state_.R_WS;
}

void ErrorStateFilter::after_update(const FilterState& before) {
  if (observability_ == Observability::ignored) return;
  // What nothing measures is a turn of the whole world about the vertical, z: the direction with
  // rotation R^T z, position z x p, velocity z x v, feet z x p_WF. The covariance is about
  // `before`; moved by T, with T n(before) = n(after), it goes on to know nothing about it.
  const Vec z = options_.gravity_W.stableNormalized();
  if (z.isZero()) return;
  const Vec n = before.R_WS.transpose() * z;
  std::array<FilterCovariance::Gain, 3 + kMaxFeet> gains;
  std::size_t count = 0;
  const auto shift = [&](int place, const Vec& by) {
    gains[count++] = {place, z.cross(by) * n.transpose()};
  };
  shift(Place::position, state_.p_WS - before.p_WS);
  shift(Place::velocity, state_.v_WS - before.v_WS);
  for (int i = 0; i < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    shift(Place::foot(i), state_.p_WF[k] - before.p_WF[k]);
  }
  gains[count++] = {Place::rotation, state_.R_WS.transpose() * before.R_WS - Mat::Identity()};
  P_.mix(Place::rotation, std::span(gains.data(), count));
}

Eigen::Matrix<double, kCoreSize, 1> ErrorStateFilter::core_error(const FilterState& truth) const {
  Eigen::Matrix<double, kCoreSize, 1> e;
  e << truth.p_WS - state_.p_WS, so3::log<double>(state_.R_WS.transpose() * truth.R_WS),
      truth.v_WS - state_.v_WS, truth.gyro_bias - state_.gyro_bias,
      truth.accel_bias - state_.accel_bias;
  return e;
}

}  // namespace limb
