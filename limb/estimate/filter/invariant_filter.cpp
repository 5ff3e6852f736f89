#include "limb/estimate/filter/invariant_filter.hpp"

#include "limb/estimate/filter/error_state_filter.hpp"

// Relation of the error e of X in the world to the errors d of its parts:
//   d_R = e_R (on the left),   d_v = e_v - v x e_R,   and the same for p and the feet.
namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

}  // namespace

void InvariantFilter::linearize(const FilterState& before, const FilterState& after,
                                const ImuStep& step, Propagation& propagation) const {
  const Mat& R0 = before.R_WS;
  const Vec g = options_.gravity_W;
  const Mat p = skew<double>(after.p_WS), v = skew<double>(after.v_WS);
  const Mat turn = R0 * step.R_by_gyro;
  auto E = propagation.E();
  E.setZero();
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::rotation) =
      skew<double>(g * (step.T * step.T / 2));
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::velocity).diagonal().setConstant(step.T);
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::gyro_bias) = R0 * step.dp_by_gyro + p * turn;
  E.block<3, 3>(ErrorIndex::position, ErrorIndex::accel_bias) = R0 * step.dp_by_accel;
  E.block<3, 3>(ErrorIndex::rotation, ErrorIndex::gyro_bias) = turn;
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::rotation) = skew<double>(g * step.T);
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::gyro_bias) = R0 * step.dv_by_gyro + v * turn;
  E.block<3, 3>(ErrorIndex::velocity, ErrorIndex::accel_bias) = R0 * step.dv_by_accel;
  for (int i = 0; i < after.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    propagation.W[k] = skew<double>(after.p_WF[k]);
  }
  propagation.step.W = propagation.W.front().data();
  Mat::Map(propagation.step.rotation_by_gyro) = turn;
  // The noise of the step in world axes, then in errors of the group.
  auto U = propagation.U();
  U.setZero();
  U.block<3, 3>(ErrorIndex::position, ErrorIndex::position) = R0;
  U.block<3, 3>(ErrorIndex::position, ErrorIndex::rotation) = p * R0;
  U.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) = R0;
  U.block<3, 3>(ErrorIndex::velocity, ErrorIndex::velocity) = R0;
  U.block<3, 3>(ErrorIndex::velocity, ErrorIndex::rotation) = v * R0;
}

void InvariantFilter::to_filter_errors(BaseMeasurement& m) const {
  // A Jacobian with respect to d_x is one with respect to e_x, and to e_R through -x x e_R.
  Mat by_rotation = Mat::Zero();
  int rotation = -1;
  for (int b = 0; b < m.blocks; ++b) {
    const auto& [index, J] = m.block[static_cast<std::size_t>(b)];
    if (index == ErrorIndex::rotation) {
      rotation = b;
      by_rotation += J;
    } else if (index == ErrorIndex::position) {
      by_rotation -= J * skew<double>(state_.p_WS);
    } else if (index == ErrorIndex::velocity) {
      by_rotation -= J * skew<double>(state_.v_WS);
    } else if (index >= kCoreSize) {
      by_rotation -=
          J * skew<double>(state_.p_WF[static_cast<std::size_t>((index - kCoreSize) / 3)]);
    }
  }
  if (rotation >= 0) {
    m.block[static_cast<std::size_t>(rotation)].J = by_rotation;
  } else {
    m.add(ErrorIndex::rotation, by_rotation);
  }
}

void InvariantFilter::retract(const FilterVector& error, FilterState& x) const {
  const Vec turn = error.segment<3>(ErrorIndex::rotation);
  const Mat R = so3::exp<double>(turn), V = so3::left_jacobian<double>(turn);
  x.R_WS = renormalize<double>(R * x.R_WS);
  x.p_WS = R * x.p_WS + V * error.segment<3>(ErrorIndex::position);
  x.v_WS = R * x.v_WS + V * error.segment<3>(ErrorIndex::velocity);
  x.gyro_bias += error.segment<3>(ErrorIndex::gyro_bias);
  x.accel_bias += error.segment<3>(ErrorIndex::accel_bias);
  for (int i = 0; i < x.feet; ++i) {
    Vec& p = x.p_WF[static_cast<std::size_t>(i)];
    p = R * p + V * error.segment<3>(ErrorIndex::foot(i));
  }
}

Mat InvariantFilter::foot_rotation_jacobian(const Vec&) const {
  return Mat::Zero();
}

namespace {

/// The errors of p, v and the feet x increase by sign [x] `by` times the rotation error, which is
/// multiplied by R.
void transform_errors(const FilterState& x, double sign, const Mat& by, const Mat& R,
                      FilterCovariance& P) {
  std::array<FilterCovariance::Gain, 3 + kMaxFeet> gains;
  std::size_t count = 0;
  const auto gain = [&](int index, const Vec& arm) {
    gains[count++] = {index, sign * skew<double>(arm) * by};
  };
  gain(ErrorIndex::position, x.p_WS);
  gain(ErrorIndex::velocity, x.v_WS);
  for (int i = 0; i < x.feet; ++i) gain(ErrorIndex::foot(i), x.p_WF[static_cast<std::size_t>(i)]);
  gains[count++] = {ErrorIndex::rotation, R - Mat::Identity()};
  P.transform(ErrorIndex::rotation, std::span(gains.data(), count));
}

}  // namespace

void InvariantFilter::filter_to_common(FilterCovariance& P) const {
  transform_errors(state_, -1, Mat::Identity(), state_.R_WS.transpose(), P);
}

void InvariantFilter::common_to_filter(FilterCovariance& P) const {
  transform_errors(state_, 1, state_.R_WS, state_.R_WS, P);
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
