#include "limb/estimate/error_state_filter.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;

/// Core noise in axes S0 with each part turned by its own matrix.
void turn_noise(const Matrix15& Q, const Mat& R, const Mat& R_rotation, Matrix15& turned) {
  const std::array<const Mat*, 3> turns = {&R, &R_rotation, &R};
  turned = Q;
  for (int i = 0; i < 3; ++i) {
    const Mat& left = *turns[static_cast<std::size_t>(i)];
    for (int k = i; k < 3; ++k) {
      const Mat block =
          left * Q.block<3, 3>(3 * i, 3 * k) * turns[static_cast<std::size_t>(k)]->transpose();
      turned.block<3, 3>(3 * i, 3 * k) = block;
      if (k > i) turned.block<3, 3>(3 * k, 3 * i) = block.transpose();
    }
    const Eigen::Matrix<double, 3, 6> biases = left * Q.block<3, 6>(3 * i, Place::gyro_bias);
    turned.block<3, 6>(3 * i, Place::gyro_bias) = biases;
    turned.block<6, 3>(Place::gyro_bias, 3 * i) = biases.transpose();
  }
}

}  // namespace

void ErrorStateFilter::linearize(const FilterState& before, const FilterState&, const ImuStep& step,
                                 Propagation& propagation) const {
  const Mat& R0 = before.R_WS;
  const Mat R_S1S0 = step.R.transpose();
  auto& F = propagation.F;
  F.setZero();
  F.block<3, 3>(Place::position, Place::position).setIdentity();
  F.block<3, 3>(Place::position, Place::rotation) = -R0 * skew<double>(step.dp);
  F.block<3, 3>(Place::position, Place::velocity).diagonal().setConstant(step.T);
  F.block<3, 3>(Place::position, Place::gyro_bias) = R0 * step.dp_by_gyro;
  F.block<3, 3>(Place::position, Place::accel_bias) = R0 * step.dp_by_accel;
  F.block<3, 3>(Place::rotation, Place::rotation) = R_S1S0;
  F.block<3, 3>(Place::rotation, Place::gyro_bias) = R_S1S0 * step.R_by_gyro;
  F.block<3, 3>(Place::velocity, Place::rotation) = -R0 * skew<double>(step.dv);
  F.block<3, 3>(Place::velocity, Place::velocity).setIdentity();
  F.block<3, 3>(Place::velocity, Place::gyro_bias) = R0 * step.dv_by_gyro;
  F.block<3, 3>(Place::velocity, Place::accel_bias) = R0 * step.dv_by_accel;
  propagation.feet_turn = false;
  turn_noise(step.noise, R0, R_S1S0, propagation.Q);
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
  const auto shift = [&](int place, const Vec& by) {
    const Vec w = z.cross(by);
    mix(P_, place, Place::rotation, w * n.transpose());
  };
  shift(Place::position, state_.p_WS - before.p_WS);
  shift(Place::velocity, state_.v_WS - before.v_WS);
  for (int i = 0; i < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    shift(Place::foot(i), state_.p_WF[k] - before.p_WF[k]);
  }
  turn(P_, Place::rotation, state_.R_WS.transpose() * before.R_WS);
}

Eigen::Matrix<double, kCoreSize, 1> ErrorStateFilter::core_error(const FilterState& truth) const {
  Eigen::Matrix<double, kCoreSize, 1> e;
  e << truth.p_WS - state_.p_WS, so3::log<double>(state_.R_WS.transpose() * truth.R_WS),
      truth.v_WS - state_.v_WS, truth.gyro_bias - state_.gyro_bias,
      truth.accel_bias - state_.accel_bias;
  return e;
}

}  // namespace limb
