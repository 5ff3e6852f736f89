#pragma once

#include "limb/estimate/base_filter.hpp"

namespace limb {

/// What the error-state filter does about directions that nothing measures.
enum class Observability {
  /// Nothing: the usual filter. Its derivatives belong to other states before and after a
  /// measurement, and so it believes to learn its yaw.
  ignored,
  /// After each measurement the covariance is moved on so that yaw and position of the world remain
  /// what they were: unobservable. [Hesch 2014], [Bloesch 2013]
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
  Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const override;

 protected:
  void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                 Propagation& propagation) const override;
  void to_own(BaseMeasurement& m) const override;
  void retract(const FilterVector& error, FilterState& x) const override;
  Matrix3<double> foot_by_rotation(const Vector3<double>& p_SF_W) const override;
  void after_update(const FilterState& before) override;
  void own_to_common(FilterCovariance&) const override {}
  void common_to_own(FilterCovariance&) const override {}

 private:
  Observability observability_;
};

}  // namespace limb
