#pragma once

#include <algorithm>
#include <span>

#include "limb/estimate/covariance_kernels.hpp"

namespace limb {

/// The covariance of a filter's errors, laid out for the kernels: columns of one length whatever
/// the number of errors, zero beyond them. Symmetric to the last bit after every function.
class FilterCovariance {
 public:
  using Block = Eigen::Map<Matrix3<double>, 0, Eigen::OuterStride<kernel::kStride>>;

  FilterCovariance() { std::fill_n(columns_.numbers, kernel::kStride * kMaxErrors, 0.0); }
  /// Of this size, nothing set: room for results, which take() brings home.
  static FilterCovariance unset(int size) { return FilterCovariance(size); }
  /// The numbers of another one of the same size.
  void take(const FilterCovariance& other);

  int size() const { return size_; }
  double* data() { return columns_.numbers; }
  const double* data() const { return columns_.numbers; }
  double operator()(int i, int j) const { return columns_.column(j)[i]; }
  /// A block of three by three.
  Block block(int i, int j) { return Block(columns_.column(j) + i); }
  FilterMatrix dense() const;
  /// Only the core.
  void set_core(const Matrix15& P);
  /// Three errors more, of which nothing is known to be wrong: zeros.
  void append();
  /// Forgets three errors.
  void remove(int place);

  /// Part of an error: so many rows of three at `place` gain J times those of `from`.
  struct Gain {
    int place;
    Matrix3<double> J;
  };
  void mix(int from, std::span<const Gain> gains);

  /// Adds to every variance from this place on.
  void add_variance(int place, double variance);
  /// Adds to each variance what rounding of a measurement's products may have taken from it. Where
  /// one is large and others small, as of a lost position and of steps, they would not be positive.
  void round_up();
  /// Keeps variances between zero and a limit, and makes it sound. A row is scaled with its column,
  /// so that correlations stay; where it is indefinite, variances grow as little as is needed.
  void bound(double limit);
  /// Whether it is one: finite and positive semidefinite, to rounding of its largest variance.
  bool is_sound() const;

 private:
  explicit FilterCovariance(int size) : size_(size) {}
  /// Variances alone: what is left of numbers that are none.
  void uncorrelate(double limit);

  kernel::Padded<kMaxErrors> columns_;
  int size_ = kCoreSize;
};

}  // namespace limb
