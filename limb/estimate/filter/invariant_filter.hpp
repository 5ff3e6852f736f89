#pragma once

#include "limb/estimate/filter/base_filter.hpp"

namespace limb {

/// Right-invariant extended Kalman filter. Rotation, velocity, position and feet form one element X
/// of a Lie group, and the error is on the left, in the world: exp(e) X. Without biases the error
/// dynamics do not depend on the state, so that a wrong state does not degrade its correction, and
/// yaw and position stay unobservable by construction. [Barrau 2017], [Hartley 2020]
class InvariantFilter final : public BaseFilter {
 public:
  explicit InvariantFilter(const FilterOptions& options) : BaseFilter(options) {}
  std::string_view name() const override { return "inekf"; }
  std::unique_ptr<BaseFilter> clone() const override {
    return std::make_unique<InvariantFilter>(*this);
  }
  Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const override;

 protected:
  void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                 Propagation& propagation) const override;
  void to_filter_errors(BaseMeasurement& m) const override;
  void retract(const FilterVector& error, FilterState& x) const override;
  Matrix3<double> foot_rotation_jacobian(const Vector3<double>& p_SF_W) const override;
  ErrorTransform after_update(const FilterState&) const override { return {}; }
  ErrorTransform to_common(const FilterState& x) const override;
  ErrorTransform from_common(const FilterState& x) const override;
};

}  // namespace limb
