#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "limb/base/status.hpp"
#include "limb/estimate/filter/base_measurement.hpp"
#include "limb/estimate/filter/filter_covariance.hpp"
#include "limb/estimate/filter/filter_record.hpp"

/// Common base of the two filters of a walking robot's base. They share the process model, the
/// measurements and the covariance arithmetic, and differ in their definition of the error.
namespace limb {

struct FilterOptions {
  ImuNoise imu;
  /// Noise density of the motion of a foot in contact, m/sqrt(s).
  double contact_noise = 1e-3;
  Vector3<double> gravity_W{0, 0, -9.81};
};

/// Upper bound of variances: a kilometre for positions, ample for all other errors.
inline constexpr double kLargestVariance = 1e6;

/// Innovation gate of a measurement: as input, the bound on its normalized innovation squared; as
/// output, the value, the whitened innovation (its square is the value), and whether it passed.
struct InnovationTest {
  double gate = std::numeric_limits<double>::infinity();
  double nis = 0;
  Vector3<double> whitened = Vector3<double>::Zero();
  bool passed = false;
};

/// Result of a measurement update.
struct UpdateResult {
  /// ok, rejected, not_finite or singular (the innovation covariance); unless ok, nothing has
  /// changed.
  Status status = Status::rejected;
  double nis = 0;  ///< normalized innovation squared of all rows used
  int rows = 0;    ///< number of these rows

  bool ok() const { return status == Status::ok; }
};

/// A linear change of errors: the three at the index of each gain increase by J times the three at
/// `from`, all at once.
struct ErrorTransform {
  int from = ErrorIndex::rotation;
  std::array<FilterCovariance::Gain, 3 + kMaxFeet> gains;
  std::size_t count = 0;

  void add(int index, const Matrix3<double>& J) { gains[count++] = {index, J}; }
  void apply(FilterCovariance& P) const {
    if (count > 0) P.transform(from, std::span(gains.data(), count));
  }
};

/// A Kalman filter over FilterState. Only the constructors and the dense matrices for tests
/// allocate or throw. For any input, state and covariance stay finite, and the covariance symmetric
/// and positive semidefinite: inputs that would violate this are rejected.
class BaseFilter {
 public:
  explicit BaseFilter(const FilterOptions& options);
  virtual ~BaseFilter() = default;
  virtual std::string_view name() const = 0;
  virtual std::unique_ptr<BaseFilter> clone() const = 0;
  const FilterOptions& options() const { return options_; }
  /// Changes the noise density of feet from now on, m/sqrt(s); not negative.
  void set_contact_noise(double density) { options_.contact_noise = density; }

  const FilterState& state() const { return state_; }
  /// Covariance of the errors as defined by the filter.
  FilterMatrix covariance() const { return P_.dense(); }
  /// Covariance of common errors, the same for every filter: p + e and v + e in world axes,
  /// R exp(e) on the right, biases, feet p_WF + e.
  FilterMatrix common_covariance() const;

  /// Resets state and covariance, without feet.
  /// @param covariance  of the common errors of the core.
  /// @throws Error if an entry is not finite, R_WS is not a rotation, or the covariance is not
  /// symmetric positive semidefinite.
  void reset(const FilterState& state, const Matrix15& covariance);
  /// The same for control loops: instead of throwing, returns not_finite or rejected and changes
  /// nothing.
  Status try_reset(const FilterState& state, const Matrix15& covariance);

  /// Prediction with a sample, biases included, held for T seconds. Long steps are split.
  /// The second form has the densities of this step, for example larger for a saturated sensor.
  /// @returns not_finite, or rejected if T is not positive or an argument is not plausible; then
  /// nothing has changed.
  Status predict(const ImuSample& sample, double T) { return predict(sample, T, options_.imu); }
  Status predict(const ImuSample& sample, double T, const ImuNoise& noise);

  /// Adds a foot in contact, measured by the joints at p_SF, to the state. @returns rejected if
  /// it is in contact already or there are kMaxFeet feet; not_finite.
  Status add_foot(int foot, const Vector3<double>& p_SF, const Matrix3<double>& noise_S);
  /// Removes a foot from the state: the foot is marginalized out. @returns rejected if it had no
  /// slot.
  Status remove_foot(int foot);

  /// Increases the uncertainty of the core by a covariance of common errors; feet keep theirs.
  /// @returns rejected, and changes nothing, if the result is not positive semidefinite.
  Status widen(const Matrix15& added);
  /// Increases the uncertainty of the position of the whole scene, base and feet, by a covariance
  /// in world axes: positions relative to each other stay as certain as they are.
  Status widen_position(const Matrix3<double>& added);
  /// Increases the uncertainty of the position of a foot. @returns rejected if it has no slot.
  Status widen_foot(int foot, double deviation);

  /// Increases the uncertainty by that of a step of one error, such as a bias, of this variance at
  /// an unknown time in the past. With c = P_i / P_ii, the errors that a step is expected to have
  /// caused by now are c times it; its time being unknown, they are between zero and twice that,
  /// except for the error itself: P increases by variance (c c^T + d d^T / 3), d = c without its
  /// i-th entry. @returns rejected if that error is known exactly.
  Status widen_step(int index, double variance);

  /// Records all operations on the errors from now on, for a smoother; null: no longer. Recording
  /// allocates. Copies of the filter do not record.
  void record_to(FilterRecord* record) { record_.target = record; }
  /// A covariance of the errors of the filter at a state, in common errors.
  FilterMatrix to_common(const FilterState& x, const FilterMatrix& P) const;

  /// Normalized innovation squared of a measurement, chi-square distributed with `rows` degrees of
  /// freedom; infinite if its covariance is not positive definite.
  double innovation(const BaseMeasurement& m) const;
  /// Joint update with all measurements, linearized at the present state, in Joseph form.
  /// [Bucy 1968]
  /// @param tests  one per measurement, or empty: measurements that do not pass are left out.
  UpdateResult update(std::span<const BaseMeasurement> measurements,
                      std::span<InnovationTest> tests = {});
  UpdateResult update(const BaseMeasurement& m) { return update(std::span(&m, 1)); }

  /// Error of the core of the state relative to the truth, as defined by the filter.
  virtual Eigen::Matrix<double, kCoreSize, 1> core_error(const FilterState& truth) const = 0;
  /// Normalized estimation error squared of the core, chi-square distributed with 15 degrees of
  /// freedom.
  double nees(const FilterState& truth) const;

  // Dense matrices, for tests and analysis.

  /// Error transition matrix of a step from the present state, in the errors of the filter.
  MatrixX<double> transition(const ImuStep& step) const;
  /// d(predicted measurement) / d(error of the filter), rows x errors.
  MatrixX<double> jacobian(const BaseMeasurement& m) const;
  /// The present state moved by this error.
  FilterState retracted(const FilterVector& error) const { return retracted(state_, error); }
  /// Another state moved by this error.
  FilterState retracted(FilterState x, const FilterVector& error) const {
    retract(error, x);
    return x;
  }

 protected:
  /// Error propagation of a step, as matrices of 16 rows of which nine are used: the errors of
  /// position, rotation and velocity increase by E times the core error and U times the noise of
  /// the step; that of a foot by W times the increase of the rotation error.
  struct Propagation {
    kernel::CoreStep step;
    double U_numbers[16 * 9];
    std::array<Matrix3<double>, kMaxFeet> W;
    auto E() { return Eigen::Map<Eigen::Matrix<double, 16, kCoreSize>>(step.E); }
    auto U() { return Eigen::Map<Eigen::Matrix<double, 16, 9>>(U_numbers); }
  };
  virtual void linearize(const FilterState& before, const FilterState& after, const ImuStep& step,
                         Propagation& propagation) const = 0;
  /// Converts the Jacobian blocks from world errors to the errors of the filter.
  virtual void to_filter_errors(BaseMeasurement& m) const = 0;
  virtual void retract(const FilterVector& error, FilterState& x) const = 0;
  /// Jacobian of the error of a new foot with respect to the rotation error, p_SF in world axes.
  virtual Matrix3<double> foot_rotation_jacobian(const Vector3<double>& p_SF_W) const = 0;
  /// Change of the errors after an update has moved the state from `before`.
  virtual ErrorTransform after_update(const FilterState& before) const = 0;
  /// Common errors of those of the filter at a state, and the inverse.
  virtual ErrorTransform to_common(const FilterState& x) const = 0;
  virtual ErrorTransform from_common(const FilterState& x) const = 0;

  FilterState state_;
  FilterCovariance P_;
  FilterOptions options_;

 private:
  /// Sets the initial state. `problem` is set to what is wrong with it, unless ok.
  Status set_initial(const FilterState& state, const Matrix15& covariance, const char*& problem);
  FilterState propagated(const FilterState& x, const ImuStep& step) const;
  MatrixX<double> transition(const Propagation& propagation) const;

  struct RecordTarget {
    FilterRecord* target = nullptr;
    RecordTarget() = default;
    RecordTarget(const RecordTarget&) {}
    RecordTarget& operator=(const RecordTarget&) { return *this; }
  };
  RecordTarget record_;
};

/// Owner of a filter; a copy owns a clone.
class FilterPtr {
 public:
  FilterPtr(std::unique_ptr<BaseFilter> filter) : filter_(std::move(filter)) {}
  FilterPtr(const FilterPtr& other) : filter_(other->clone()) {}
  FilterPtr(FilterPtr&&) noexcept = default;
  FilterPtr& operator=(FilterPtr other) noexcept {
    filter_.swap(other.filter_);
    return *this;
  }
  BaseFilter* operator->() const { return filter_.get(); }
  BaseFilter& operator*() const { return *filter_; }

 private:
  std::unique_ptr<BaseFilter> filter_;
};

enum class FilterKind { error_state, invariant };
/// From "eskf" or "inekf". @throws Error for any other text.
FilterKind filter_kind(const char* call, std::string_view text);
std::unique_ptr<BaseFilter> make_filter(FilterKind kind, const FilterOptions& options);

}  // namespace limb
