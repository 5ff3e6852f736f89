#include "limb/estimate/filter/error_state_filter.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

}  // namespace

void ErrorStateFilter::linearize(const FilterState& before, const FilterState&, const ImuStep& step,
                                 Propagation& propagation) const {
  const Mat& R0 = before.R_WS;
  const Mat R_S1S0 = step.R.transpose();
  auto E = propagation.E();
  E.setZero();
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::rotation) = -R0 * skew<double>(step.dp);
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::velocity).diagonal().setConstant(step.T);
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::gyro_bias) = R0 * step.dp_by_gyro;
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::accel_bias) = R0 * step.dp_by_accel;
  E.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) = R_S1S0 - Mat::Identity();
  E.block<3, 3>(ErrorIndex::rotation, ErrorIndex::gyro_bias) = R_S1S0 * step.R_by_gyro;
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::rotation) = -R0 * skew<double>(step.dv);
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::gyro_bias) = R0 * step.dv_by_gyro;
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::accel_bias) = R0 * step.dv_by_accel;
  propagation.step.W = nullptr;
  auto U = propagation.U();
  U.setZero();
  U.block<3, 3>(ErrorIndex::position, ErrorIndex::position) = R0;
  U.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) = R_S1S0;
  U.block<3, 3>(ErrorIndex::velocity, ErrorIndex::velocity) = R0;
}

void ErrorStateFilter::to_filter_errors(BaseMeasurement& m) const {
  // exp(e_W) R = R exp(R^T e_W)
  for (int b = 0; b < m.blocks; ++b) {
    auto& block = m.block[static_cast<std::size_t>(b)];
    if (block.index == ErrorIndex::rotation) block.J = block.J * state_.R_WS;
  }
}

void ErrorStateFilter::retract(const FilterVector& error, FilterState& x) const {
  x.p_WS += error.segment<3>(ErrorIndex::position);
  x.R_WS = renormalize<double>(x.R_WS * so3::exp<double>(error.segment<3>(ErrorIndex::rotation)));
  x.v_WS += error.segment<3>(ErrorIndex::velocity);
  x.gyro_bias += error.segment<3>(ErrorIndex::gyro_bias);
  x.accel_bias += error.segment<3>(ErrorIndex::accel_bias);
  for (int i = 0; i < x.feet; ++i) {
    x.p_WF[static_cast<std::size_t>(i)] += error.segment<3>(ErrorIndex::foot(i));
  }
}

Mat ErrorStateFilter::foot_rotation_jacobian(const Vec& p_SF_W) const {
  return -skew<double>(p_SF_W) * state_.R_WS;
}

void ErrorStateFilter::after_update(const FilterState& before) {
  if (observability_ == Observability::ignored) return;
  // The unobservable direction n is a rotation of the whole world about the vertical z: rotation
  // R^T z, position z x p, velocity z x v, feet z x p_WF. The covariance refers to `before`;
  // transformed by T with T n(before) = n(after), it keeps zero information about n.
  const Vec z = options_.gravity_W.stableNormalized();
  if (z.isZero()) return;
  const Vec n = before.R_WS.transpose() * z;
  std::array<FilterCovariance::Gain, 3 + kMaxFeet> gains;
  std::size_t count = 0;
  const auto shift = [&](int index, const Vec& by) {
    gains[count++] = {index, z.cross(by) * n.transpose()};
  };
  shift(ErrorIndex::position, state_.p_WS - before.p_WS);
  shift(ErrorIndex::velocity, state_.v_WS - before.v_WS);
  for (int i = 0; i < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    shift(ErrorIndex::foot(i), state_.p_WF[k] - before.p_WF[k]);
  }
  gains[count++] = {ErrorIndex::rotation, state_.R_WS.transpose() * before.R_WS - Mat::Identity()};
  P_.transform(ErrorIndex::rotation, std::span(gains.data(), count));
}

Eigen::Matrix<double, kCoreSize, 1> ErrorStateFilter::core_error(const FilterState& truth) const {
  Eigen::Matrix<double, kCoreSize, 1> e;
  e << truth.p_WS - state_.p_WS, so3::log<double>(state_.R_WS.transpose() * truth.R_WS),
      truth.v_WS - state_.v_WS, truth.gyro_bias - state_.gyro_bias,
      truth.accel_bias - state_.accel_bias;
  return e;
}

}  // namespace limb
