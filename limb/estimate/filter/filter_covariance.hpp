#pragma once

#include <algorithm>
#include <span>

#include "limb/estimate/filter/covariance_layout.hpp"

namespace limb {

/// Covariance of the errors of a filter in the layout of the kernels: columns of a fixed length for
/// any number of errors, zero beyond them. Exactly symmetric after every function.
class FilterCovariance {
 public:
  using Block = Eigen::Map<Matrix3<double>, 0, Eigen::OuterStride<kernel::kStride>>;

  FilterCovariance() { std::fill_n(columns_.numbers, kernel::kStride * kMaxErrors, 0.0); }
  /// An uninitialized covariance of this size: a buffer for results, to be copied by assign().
  static FilterCovariance uninitialized(int size) { return FilterCovariance(size); }
  /// Copies another covariance of the same size.
  void assign(const FilterCovariance& other);

  int size() const { return size_; }
  double* data() { return columns_.numbers; }
  const double* data() const { return columns_.numbers; }
  double operator()(int i, int j) const { return columns_.column(j)[i]; }
  /// A 3 x 3 block.
  Block block(int i, int j) { return Block(columns_.column(j) + i); }
  FilterMatrix dense() const;
  /// Sets the core and removes all feet.
  void set_core(const Matrix15& P);
  /// Appends three errors with zero covariance.
  void append();
  /// Removes three errors (marginalization).
  void remove(int index);

  /// Linear change of errors, P <- T P T^T: the three errors at `index` increase by J times the
  /// three at `from`, for each gain.
  struct Gain {
    int index;
    Matrix3<double> J;
  };
  void transform(int from, std::span<const Gain> gains);

  /// Adds to every variance from this index on.
  void add_variance(int index, double variance);
  /// Increases each variance by a bound on the rounding of a measurement update. With variances of
  /// very different size, as of an unknown position beside feet, P might lose definiteness
  /// otherwise.
  void inflate_for_rounding();
  /// Keeps variances between zero and a limit, and P positive semidefinite. Row and column are
  /// scaled together, which keeps correlations; if P is indefinite, variances grow as little as
  /// needed.
  void bound(double limit);
  /// Finite and positive semidefinite, to rounding of the largest variance.
  bool is_semidefinite() const;

 private:
  explicit FilterCovariance(int size) : size_(size) {}
  /// Keeps only the variances: for matrices that cannot be repaired.
  void drop_correlations(double limit);

  kernel::Padded<kMaxErrors> columns_;
  int size_ = kCoreSize;
};

}  // namespace limb
