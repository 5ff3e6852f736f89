#pragma once

#include "limb/estimate/base_filter.hpp"

namespace limb {

/// Right-invariant extended Kalman filter. Rotation, velocity, position and feet are one element X
/// of a group, and the error stands on its left, in the world: exp(e) X. Without biases the error
/// then moves by itself, whatever the state is, so that a wrong state does no harm to its own
/// correction; and yaw and position stay unobservable by themselves. [Barrau 2017], [Hartley 2020]
class InvariantFilter final : public BaseFilter {
 public:
  explicit InvariantFilter(const FilterOptions& options) : BaseFilter(options) {}
  std::string_view name() const override { return "inekf"; }
  Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const override;

 protected:
  void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                 Propagation& propagation) const override;
  void to_own(BaseMeasurement& m) const override;
  void retract(const FilterVector& error, FilterState& x) const override;
  Matrix3<double> foot_by_rotation(const Vector3<double>& p_SF_W) const override;
  void after_update(const FilterState&) override {}
  void own_to_common(FilterCovariance& P) const override;
  void common_to_own(FilterCovariance& P) const override;
};

}  // namespace limb
