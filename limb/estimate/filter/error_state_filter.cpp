#include "limb/estimate/filter/error_state_filter.hpp"

#include "limb/estimate/filter/error_definitions.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

}  // namespace

void ErrorStateFilter::linearize(const FilterState& before, const FilterState& after,
                                 const ImuStep& step, Propagation& propagation) const {
  auto E = propagation.E();
  auto U = propagation.U();
  E.setZero();
  U.setZero();
  PartErrors::linearize<double>(before, after, options_.gravity_W, step, E, U);
  propagation.step.W = nullptr;
}

void ErrorStateFilter::to_filter_errors(BaseMeasurement& m) const {
  PartErrors::to_filter_errors<double>(state_, m);
}

void ErrorStateFilter::retract(const FilterVector& error, FilterState& x) const {
  PartErrors::retract<double>(error, x);
}

Mat ErrorStateFilter::foot_rotation_jacobian(const Vec& p_SF_W) const {
  return PartErrors::foot_rotation_jacobian<double>(state_, p_SF_W);
}

ErrorTransform ErrorStateFilter::after_update(const FilterState& before) const {
  ErrorTransform transform;
  if (observability_ == Observability::ignored) return transform;
  const Vec z = options_.gravity_W.stableNormalized();
  if (z.isZero()) return transform;
  const auto shift = [&](int index, const Vec& by) {
    transform.add(index, PartErrors::observability_gain<double>(z, before.R_WS, by));
  };
  shift(ErrorIndex::position, state_.p_WS - before.p_WS);
  shift(ErrorIndex::velocity, state_.v_WS - before.v_WS);
  for (int i = 0; i < state_.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    shift(ErrorIndex::foot(i), state_.p_WF[k] - before.p_WF[k]);
  }
  transform.add(ErrorIndex::rotation, state_.R_WS.transpose() * before.R_WS - Mat::Identity());
  return transform;
}

Eigen::Matrix<double, kCoreSize, 1> ErrorStateFilter::core_error(const FilterState& truth) const {
  Eigen::Matrix<double, kCoreSize, 1> e;
  e << truth.p_WS - state_.p_WS, so3::log<double>(state_.R_WS.transpose() * truth.R_WS),
      truth.v_WS - state_.v_WS, truth.gyro_bias - state_.gyro_bias,
      truth.accel_bias - state_.accel_bias;
  return e;
}

}  // namespace limb
