#pragma once

#include <cstdio>
#include <functional>
#include <memory>

#include "limb/estimate/estimator/base_estimator.hpp"

namespace limb {

/// Numbers in order, in memory up to a limit and in a temporary file beyond it.
class NumberStore {
 public:
  /// @param memory  bytes kept in memory.
  explicit NumberStore(std::size_t memory) : limit_(memory / sizeof(double)) {}

  std::size_t size() const { return spilled_ + recent_.size(); }
  /// @throws Error (computation failed) if the temporary file cannot be written.
  void append(std::span<const double> numbers);
  /// Reads from this position on. @throws Error (computation failed) if the file cannot be read.
  void read(std::size_t at, std::span<double> numbers) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::size_t limit_, spilled_ = 0;
  std::vector<double> recent_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Fixed-interval smoother: the estimate at each time from all measurements, those after it
/// included. For offline use. It takes the inputs of a BaseEstimator; smooth() then runs through
/// them backwards.
///
/// The backward pass is that of Bryson and Frazier in modified form [Bierman 1973] on the errors of
/// the filter: with e <- F e and updates e <- (1 - K H) e of residual r and covariance S,
///
///   l <- F^T l,                         L <- F^T L F
///   l <- (1 - K H)^T l - H^T S^-1 r,    L <- (1 - K H)^T L (1 - K H) + H^T S^-1 H
///
/// the smoothed error is -P l and its covariance P - P L P, with P that of the filter. No
/// covariance is inverted, so that errors may be known exactly, and feet come and go. The smoothed
/// covariance is never larger than that of the filter. Where the state was reset, the later data do
/// not tell about the earlier state.
///
/// Memory: inputs beyond a limit are kept in a temporary file (about 400 bytes per sample of a
/// quadruped), and the operations of the filter are recorded by parts between checkpoints, at most
/// kMostCheckpoints: 20 kB per sample of a part. The filter runs twice.
class BaseSmoother {
 public:
  static constexpr std::size_t kMemory = std::size_t{1} << 26;  ///< bytes of inputs in memory
  static constexpr std::size_t kMostCheckpoints = 256;

  /// @param estimator  as it is before the first input.
  explicit BaseSmoother(const BaseEstimator& estimator, std::size_t memory = kMemory);

  // Inputs, as those of BaseEstimator; the estimator runs at once.

  Status imu(double t, const ImuSample& sample);
  Status legs(double t, VectorIn<double>& q, VectorIn<double>& v, std::span<const double> forces);
  Status feet(double t, std::span<const FootSample> samples);
  Status position_fix(double t, const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                      const Matrix3<double>& noise_W);
  Status yaw_fix(double t, double yaw, double deviation);
  Status orientation_fix(double t, const Matrix3<double>& R_WB, double deviation);
  Status velocity_fix(double t, const Vector3<double>& v_WB, const Matrix3<double>& noise,
                      bool in_base_axes);
  void initialize(double t, const FilterState& state, const Matrix15& covariance);

  /// The filter at the last input.
  const BaseEstimator& estimator() const { return now_; }

  /// The estimate at one time.
  struct Point {
    BaseEstimate filtered, smoothed;
    FilterState state;  ///< smoothed, of the sensor
    /// Covariances of the errors of the filter (see BaseFilter::covariance), the same for both.
    FilterMatrix P_filtered, P_smoothed;
    /// Deviations of the biases, gyroscope first.
    Eigen::Matrix<double, 6, 1> bias_deviations;
  };
  /// Calls `visit` for each time of the estimator, from the last one back to the first.
  void smooth(const std::function<void(const Point&)>& visit) const;

 private:
  struct Checkpoint {
    std::size_t at;  ///< of its first input
    std::unique_ptr<BaseEstimator> estimator;
  };
  struct Adjoint {
    VectorX<double> l;
    MatrixX<double> L;
  };
  /// Appends an input: its kind, and parts of numbers.
  void store(int kind, std::initializer_list<std::span<const double>> parts);
  static void replay(BaseEstimator& estimator, std::span<const double> input);
  void smooth_part(std::size_t part, const std::function<void(const Point&)>& visit,
                   Adjoint& adjoint) const;

  BaseEstimator now_;
  NumberStore inputs_;
  std::vector<Checkpoint> checkpoints_;
  std::size_t samples_per_part_ = 256, samples_ = 0;
  std::vector<double> buffer_;
};

}  // namespace limb
