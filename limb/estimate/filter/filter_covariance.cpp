#include "limb/estimate/filter/filter_covariance.hpp"

#include <array>
#include <cmath>

#include "limb/estimate/filter/covariance_kernels.hpp"

namespace limb {

void FilterCovariance::assign(const FilterCovariance& other) {
  constexpr int kLanes = 8;
  const int rows = (size_ + kLanes - 1) / kLanes * kLanes;
  for (int j = 0; j < size_; ++j) std::copy_n(other.columns_.column(j), rows, columns_.column(j));
}

FilterMatrix FilterCovariance::dense() const {
  FilterMatrix P(size_, size_);
  for (int j = 0; j < size_; ++j) std::copy_n(columns_.column(j), size_, P.col(j).data());
  return P;
}

void FilterCovariance::set_core(const Matrix15& P) {
  while (size_ > kCoreSize) remove(size_ - 3);
  for (int j = 0; j < kCoreSize; ++j) {
    for (int i = 0; i < kCoreSize; ++i) columns_.column(j)[i] = (P(i, j) + P(j, i)) / 2;
  }
}

void FilterCovariance::append() {
  for (int j = size_; j < size_ + 3; ++j) std::fill_n(columns_.column(j), kernel::kStride, 0.0);
  size_ += 3;
}

void FilterCovariance::remove(int index) {
  size_ -= 3;
  for (int j = index; j < size_; ++j) {
    std::copy_n(columns_.column(j + 3), kernel::kStride, columns_.column(j));
  }
  for (int j = 0; j < size_; ++j) {
    double* x = columns_.column(j);
    std::copy(x + index + 3, x + size_ + 3, x + index);
    std::fill_n(x + size_, 3, 0.0);
  }
}

void FilterCovariance::transform(int from, std::span<const Gain> gains) {
  std::array<kernel::Block, kMaxErrors / 3> blocks;
  for (std::size_t k = 0; k < gains.size(); ++k) blocks[k] = {gains[k].index, gains[k].J.data()};
  kernel::transform(columns_.numbers, size_, from, blocks.data(), static_cast<int>(gains.size()));
}

void FilterCovariance::add_variance(int index, double variance) {
  for (int i = index; i < size_; ++i) columns_.column(i)[i] += variance;
}

void FilterCovariance::inflate_for_rounding() {
  // Gains of up to 1e4 on sums of about ten products. For a variance of 1 m^2 this is 0.04 mm after
  // 400 measurements in a second.
  constexpr double kFraction = 4e-12;
  for (int i = 0; i < size_; ++i) columns_.column(i)[i] *= 1 + kFraction;
}

void FilterCovariance::bound(double limit) {
  for (int i = 0; i < size_; ++i) {
    const double variance = columns_.column(i)[i];
    if (variance >= 0 && variance <= limit) continue;
    const double scale = variance > limit ? std::sqrt(limit / variance) : 0;
    for (int k = 0; k < size_; ++k) {
      columns_.column(i)[k] *= scale;
      columns_.column(k)[i] *= scale;
    }
  }
  // Rounding errors beside a large variance appear in small ones once the large one is removed.
  for (double share = 1e-11; !is_semidefinite(); share *= 100) {
    if (share > 0.01) return drop_correlations(limit);
    for (int i = 0; i < size_; ++i) columns_.column(i)[i] *= 1 + share;
  }
}

void FilterCovariance::drop_correlations(double limit) {
  for (int j = 0; j < size_; ++j) {
    const double variance = columns_.column(j)[j];
    std::fill_n(columns_.column(j), size_, 0.0);
    columns_.column(j)[j] = variance <= limit ? variance : limit;
  }
}

bool FilterCovariance::is_semidefinite() const {
  return kernel::is_semidefinite(columns_.numbers, size_);
}

}  // namespace limb
