#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "limb/estimate/base_measurement.hpp"
#include "limb/estimate/filter_covariance.hpp"

/// The two filters of a walking robot's base, behind one interface. They share the process, the
/// measurements and the covariance arithmetic, and differ in what they call an error.
namespace limb {

struct FilterOptions {
  ImuNoise imu;
  /// Density with which a standing foot creeps, m/sqrt(s).
  double contact_noise = 1e-3;
  Vector3<double> gravity_W{0, 0, -9.81};
};

/// Variances stay below: a kilometre, and far more than anything else can be unknown by.
inline constexpr double kLargestVariance = 1e6;

/// Whether a measurement is believed: before, what its normalised innovation squared may be; after,
/// what it was.
struct InnovationTest {
  double gate = std::numeric_limits<double>::infinity();
  double nis = 0;
  bool passed = false;
};

/// How measurements were taken.
struct UpdateResult {
  bool accepted = false;  ///< false: nothing has changed
  double nis = 0;         ///< normalised innovation squared of all rows that were used together
  int rows = 0;           ///< so many
};

/// A Kalman filter over FilterState. No function but the constructors and the dense matrices for
/// tests allocates or throws; whatever numbers come in, state and covariance stay finite, and the
/// covariance symmetric and positive semidefinite: what would break that is refused.
class BaseFilter {
 public:
  explicit BaseFilter(const FilterOptions& options);
  virtual ~BaseFilter() = default;
  virtual std::string_view name() const = 0;
  const FilterOptions& options() const { return options_; }

  const FilterState& state() const { return state_; }
  /// Of the filter's own errors.
  FilterMatrix covariance() const { return P_.dense(); }
  /// Of errors that mean the same for every filter: p + e and v + e in world axes, R exp(e) on the
  /// right, biases, feet p_WF + e.
  FilterMatrix common_covariance() const;

  /// Begins anew. @param covariance  of the common errors of the core; feet are given anew.
  /// @throws Error if a number is not finite, R_WS no rotation, or the covariance not symmetric
  /// positive semidefinite.
  void reset(const FilterState& state, const Matrix15& covariance);
  /// The same for control loops. @returns false, and does nothing, instead of throwing.
  bool try_reset(const FilterState& state, const Matrix15& covariance);

  /// Moves on by a sample that holds for T seconds, biases included. Longer steps are cut in
  /// pieces.
  /// @param noise  densities for this step, where a sensor was cut off at its range.
  /// @returns false, and does nothing, if a number is not finite or T not positive.
  bool predict(const ImuSample& sample, double T) { return predict(sample, T, options_.imu); }
  bool predict(const ImuSample& sample, double T, const ImuNoise& noise);

  /// A foot that the joints see at p_SF has come down. @returns false if it is on the ground
  /// already, there is no room, or a number is not finite.
  bool add_foot(int foot, const Vector3<double>& p_SF, const Matrix3<double>& noise_S);
  /// It has left: its place is forgotten, what it has taught stays. @returns false if it had none.
  bool remove_foot(int foot);

  /// Normalised innovation squared of a measurement, against chi-square of `rows`; infinite where
  /// it does not exist.
  double innovation(const BaseMeasurement& m) const;
  /// All measurements together, made from the present state. Joseph's form. [Bucy 1968]
  /// @param tests  one for each, or none: those that do not pass are left out.
  UpdateResult update(std::span<const BaseMeasurement> measurements,
                      std::span<InnovationTest> tests = {});
  UpdateResult update(const BaseMeasurement& m) { return update(std::span(&m, 1)); }

  /// The core's error of this state against the truth, in the filter's own errors.
  virtual Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const = 0;
  /// Normalised estimation error squared of the core, against chi-square of 15.
  double nees(const FilterState& truth) const;

  // Dense, for tests and studies.

  /// d(own error after) / d(own error before) of a step from the present state.
  MatrixX<double> transition(const ImuStep& step) const;
  /// d(predicted measurement) / d(own error), rows x errors.
  MatrixX<double> jacobian(const BaseMeasurement& m) const;
  /// The state at this error of the present one.
  FilterState moved(const FilterVector& error) const {
    FilterState x = state_;
    retract(error, x);
    return x;
  }

 protected:
  /// A step in the filter's own errors, as matrices of 16 rows of which nine count: position,
  /// rotation and velocity gain E times the core, and U times the step's noise of the same. A foot
  /// gains W times what the rotation gains.
  struct Propagation {
    kernel::CoreStep step;
    double U_numbers[16 * 9];
    std::array<Matrix3<double>, kMaxFeet> W;
    auto E() { return Eigen::Map<Eigen::Matrix<double, 16, kCoreSize>>(step.E); }
    auto U() { return Eigen::Map<Eigen::Matrix<double, 16, 9>>(U_numbers); }
  };
  virtual void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                         Propagation& propagation) const = 0;
  /// Blocks by world errors become blocks by the filter's own.
  virtual void to_own(BaseMeasurement& m) const = 0;
  virtual void retract(const FilterVector& error, FilterState& x) const = 0;
  /// A new foot's own error by that of the rotation, at p_SF in world axes.
  virtual Matrix3<double> foot_by_rotation(const Vector3<double>& p_SF_W) const = 0;
  /// The present state has just been moved from `before`.
  virtual void after_update(const FilterState& before) = 0;
  virtual void own_to_common(FilterCovariance& P) const = 0;
  virtual void common_to_own(FilterCovariance& P) const = 0;

  FilterState state_;
  FilterCovariance P_;
  FilterOptions options_;

 private:
  /// What is wrong with a state to begin from; nothing: it has begun.
  const char* start(const FilterState& state, const Matrix15& covariance);
  FilterState advanced(const FilterState& x, const ImuStep& step) const;
};

enum class FilterKind { error_state, invariant };
/// "eskf", "inekf". @throws Error for another text.
FilterKind filter_kind(const char* call, std::string_view text);
std::unique_ptr<BaseFilter> make_filter(FilterKind kind, const FilterOptions& options);

}  // namespace limb
