#include "limb/estimate/invariant_filter.hpp"

#include "limb/estimate/error_state_filter.hpp"

// An error e of X in the world and the plain errors d of its parts:
//   d_R = e_R (on the left),   d_v = e_v - v x e_R,   and the same for p and the feet.
namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Place = ErrorPlace;

}  // namespace

void InvariantFilter::linearize(const FilterState& before, const FilterState& after,
                                const ImuStep& step, Propagation& propagation) const {
  const Mat& R0 = before.R_WS;
  const Vec g = options_.gravity_W;
  const Mat p = skew<double>(after.p_WS), v = skew<double>(after.v_WS);
  const Mat turn = R0 * step.R_by_gyro;
  auto E = propagation.E();
  E.setZero();
  E.block<3, 3>(Place::position, Place::rotation) = skew<double>(g * (step.T * step.T / 2));
  E.block<3, 3>(Place::position, Place::velocity).diagonal().setConstant(step.T);
  E.block<3, 3>(Place::position, Place::gyro_bias) = R0 * step.dp_by_gyro + p * turn;
  E.block<3, 3>(Place::position, Place::accel_bias) = R0 * step.dp_by_accel;
  E.block<3, 3>(Place::rotation, Place::gyro_bias) = turn;
  E.block<3, 3>(Place::velocity, Place::rotation) = skew<double>(g * step.T);
  E.block<3, 3>(Place::velocity, Place::gyro_bias) = R0 * step.dv_by_gyro + v * turn;
  E.block<3, 3>(Place::velocity, Place::accel_bias) = R0 * step.dv_by_accel;
  for (int i = 0; i < after.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    propagation.W[k] = skew<double>(after.p_WF[k]);
  }
  propagation.step.W = propagation.W.front().data();
  Mat::Map(propagation.step.turn) = turn;
  // The noise of the step in axes of the world, then of the group.
  auto U = propagation.U();
  U.setZero();
  U.block<3, 3>(Place::position, Place::position) = R0;
  U.block<3, 3>(Place::position, Place::rotation) = p * R0;
  U.block<3, 3>(Place::rotation, Place::rotation) = R0;
  U.block<3, 3>(Place::velocity, Place::velocity) = R0;
  U.block<3, 3>(Place::velocity, Place::rotation) = v * R0;
}

void InvariantFilter::to_own(BaseMeasurement& m) const {
  // A derivative by d_x is one by e_x, and one by e_R through -x x e_R.
  Mat by_rotation = Mat::Zero();
  int rotation = -1;
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [place, J] = m.block[static_cast<std::size_t>(b)];
    if (place == Place::rotation) {
      rotation = b;
      by_rotation += J;
    } else if (place == Place::position) {
      by_rotation -= J * skew<double>(state_.p_WS);
    } else if (place == Place::velocity) {
      by_rotation -= J * skew<double>(state_.v_WS);
    } else if (place >= kCoreSize) {
      by_rotation -=
          J * skew<double>(state_.p_WF[static_cast<std::size_t>((place - kCoreSize) / 3)]);
    }
  }
  if (rotation >= 0) {
    m.block[static_cast<std::size_t>(rotation)].J = by_rotation;
  } else {
    m.add(Place::rotation, by_rotation);
  }
}

void InvariantFilter::retract(const FilterVector& error, FilterState& x) const {
  const Vec turn = error.segment<3>(Place::rotation);
  const Mat R = so3::exp<double>(turn), V = so3::left_jacobian<double>(turn);
  x.R_WS = renormalize<double>(R * x.R_WS);
  x.p_WS = R * x.p_WS + V * error.segment<3>(Place::position);
  x.v_WS = R * x.v_WS + V * error.segment<3>(Place::velocity);
  x.gyro_bias += error.segment<3>(Place::gyro_bias);
  x.accel_bias += error.segment<3>(Place::accel_bias);
  for (int i = 0; i < x.feet; ++i) {
    Vec& p = x.p_WF[static_cast<std::size_t>(i)];
    p = R * p + V * error.segment<3>(Place::foot(i));
  }
}

Mat InvariantFilter::foot_by_rotation(const Vec&) const {
  return Mat::Zero();
}

namespace {

/// Rows of p, v and feet x gain `sign` x x e_R, turned by `by`; those of the rotation are turned.
void exchange(const FilterState& x, double sign, const Mat& by, const Mat& R, FilterCovariance& P) {
  std::array<FilterCovariance::Gain, 3 + kMaxFeet> gains;
  std::size_t count = 0;
  const auto gain = [&](int place, const Vec& arm) {
    gains[count++] = {place, sign * skew<double>(arm) * by};
  };
  gain(Place::position, x.p_WS);
  gain(Place::velocity, x.v_WS);
  for (int i = 0; i < x.feet; ++i) gain(Place::foot(i), x.p_WF[static_cast<std::size_t>(i)]);
  gains[count++] = {Place::rotation, R - Mat::Identity()};
  P.mix(Place::rotation, std::span(gains.data(), count));
}

}  // namespace

void InvariantFilter::own_to_common(FilterCovariance& P) const {
  exchange(state_, -1, Mat::Identity(), state_.R_WS.transpose(), P);
}

void InvariantFilter::common_to_own(FilterCovariance& P) const {
  exchange(state_, 1, state_.R_WS, state_.R_WS, P);
}

Eigen::Matrix<double, kCoreSize, 1> InvariantFilter::core_error(const FilterState& truth) const {
  const Mat R = truth.R_WS * state_.R_WS.transpose();
  const Vec turn = so3::log<double>(R);
  const Mat V = so3::left_jacobian_inverse<double>(turn);
  Eigen::Matrix<double, kCoreSize, 1> e;
  e << V * (truth.p_WS - R * state_.p_WS), turn, V * (truth.v_WS - R * state_.v_WS),
      truth.gyro_bias - state_.gyro_bias, truth.accel_bias - state_.accel_bias;
  return e;
}

FilterKind filter_kind(const char* call, std::string_view text) {
  if (text == "eskf") return FilterKind::error_state;
  if (text == "inekf") return FilterKind::invariant;
  fail(call, "filter", std::string("'").append(text).append("'"), "'eskf' or 'inekf'");
}

std::unique_ptr<BaseFilter> make_filter(FilterKind kind, const FilterOptions& options) {
  if (kind == FilterKind::invariant) return std::make_unique<InvariantFilter>(options);
  return std::make_unique<ErrorStateFilter>(options);
}

}  // namespace limb
