#pragma once

#include "limb/estimate/filter/base_filter.hpp"

namespace limb {

/// Treatment of unobservable directions by the error-state filter.
enum class Observability {
  /// None: the standard filter. Its Jacobians are evaluated at different states before and after a
  /// measurement, so that it gains spurious information about yaw.
  ignored,
  /// After each measurement the covariance is transformed so that yaw and position of the world
  /// stay unobservable. [Hesch 2014], [Bloesch 2013]
  kept,
};

/// Error-state extended Kalman filter. Errors: p + e, R exp(e), v + e, biases + e, p_WF + e.
/// [Sola 2018], [Bloesch 2013]
class ErrorStateFilter final : public BaseFilter {
 public:
  explicit ErrorStateFilter(const FilterOptions& options,
                            Observability observability = Observability::kept)
      : BaseFilter(options), observability_(observability) {}
  std::string_view name() const override { return "eskf"; }
  std::unique_ptr<BaseFilter> clone() const override {
    return std::make_unique<ErrorStateFilter>(*this);
  }
  Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const override;

 protected:
  void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                 Propagation& propagation) const override;
  void to_filter_errors(BaseMeasurement& m) const override;
  void retract(const FilterVector& error, FilterState& x) const override;
  Matrix3<double> foot_rotation_jacobian(const Vector3<double>& p_SF_W) const override;
  ErrorTransform after_update(const FilterState& before) const override;
  ErrorTransform to_common(const FilterState&) const override { return {}; }
  ErrorTransform from_common(const FilterState&) const override { return {}; }

 private:
  Observability observability_;
};

}  // namespace limb
