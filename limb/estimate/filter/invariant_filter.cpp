#include "limb/estimate/filter/invariant_filter.hpp"

#include "limb/estimate/filter/error_definitions.hpp"
#include "limb/estimate/filter/error_state_filter.hpp"

namespace limb {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

void InvariantFilter::linearize(const FilterState& before, const FilterState& after,
                                const ImuStep& step, Propagation& propagation) const {
  auto E = propagation.E();
  auto U = propagation.U();
  E.setZero();
  U.setZero();
  InvariantErrors::linearize<double>(before, after, options_.gravity_W, step, E, U);
  for (int i = 0; i < after.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    propagation.W[k] = InvariantErrors::foot_by_rotation<double>(after.p_WF[k]);
  }
  propagation.step.W = propagation.W.front().data();
  Mat::Map(propagation.step.rotation_by_gyro) =
      E.block<3, 3>(ErrorIndex::rotation, ErrorIndex::gyro_bias);
}

void InvariantFilter::to_filter_errors(BaseMeasurement& m) const {
  InvariantErrors::to_filter_errors<double>(state_, m);
}

void InvariantFilter::retract(const FilterVector& error, FilterState& x) const {
  InvariantErrors::retract<double>(error, x);
}

Mat InvariantFilter::foot_rotation_jacobian(const Vec& p_SF_W) const {
  return InvariantErrors::foot_rotation_jacobian<double>(state_, p_SF_W);
}

namespace {

/// The errors of p, v and the feet increase by a gain that depends on their arm, times the rotation
/// error, which is multiplied by R.
template <typename GainOf>
ErrorTransform change_of_errors(const FilterState& x, const Mat& R, const GainOf& gain_of) {
  ErrorTransform transform;
  transform.add(ErrorIndex::position, gain_of(x.p_WS));
  transform.add(ErrorIndex::velocity, gain_of(x.v_WS));
  for (int i = 0; i < x.feet; ++i) {
    transform.add(ErrorIndex::foot(i), gain_of(x.p_WF[static_cast<std::size_t>(i)]));
  }
  transform.add(ErrorIndex::rotation, R - Mat::Identity());
  return transform;
}

}  // namespace

ErrorTransform InvariantFilter::to_common(const FilterState& x) const {
  return change_of_errors(x, x.R_WS.transpose(), [](const Vec& arm) {
    return InvariantErrors::to_common_gain<double>(arm);
  });
}

ErrorTransform InvariantFilter::from_common(const FilterState& x) const {
  return change_of_errors(x, x.R_WS, [&x](const Vec& arm) {
    return InvariantErrors::from_common_gain<double>(x.R_WS, arm);
  });
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
