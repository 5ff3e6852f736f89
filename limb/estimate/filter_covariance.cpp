#include "limb/estimate/filter_covariance.hpp"

#include <array>
#include <cmath>

namespace limb {

void FilterCovariance::take(const FilterCovariance& other) {
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

void FilterCovariance::remove(int place) {
  size_ -= 3;
  for (int j = place; j < size_; ++j) {
    std::copy_n(columns_.column(j + 3), kernel::kStride, columns_.column(j));
  }
  for (int j = 0; j < size_; ++j) {
    double* x = columns_.column(j);
    std::copy(x + place + 3, x + size_ + 3, x + place);
    std::fill_n(x + size_, 3, 0.0);
  }
}

void FilterCovariance::mix(int from, std::span<const Gain> gains) {
  std::array<kernel::Block, kMaxErrors / 3> blocks;
  for (std::size_t k = 0; k < gains.size(); ++k) blocks[k] = {gains[k].place, gains[k].J.data()};
  kernel::mix(columns_.numbers, size_, from, blocks.data(), static_cast<int>(gains.size()));
}

void FilterCovariance::add_variance(int place, double variance) {
  for (int i = place; i < size_; ++i) columns_.column(i)[i] += variance;
}

void FilterCovariance::round_up() {
  // Gains of up to 1e4 on sums of some ten products. Of a variance of 1 m^2 this is 0.04 mm after a
  // second of 400 measurements.
  constexpr double kShare = 4e-12;
  for (int i = 0; i < size_; ++i) columns_.column(i)[i] *= 1 + kShare;
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
  // What rounding beside a large variance has left of a small one shows when the large one is gone.
  for (double share = 1e-11; !is_sound(); share *= 100) {
    if (share > 0.01) return uncorrelate(limit);
    for (int i = 0; i < size_; ++i) columns_.column(i)[i] *= 1 + share;
  }
}

void FilterCovariance::uncorrelate(double limit) {
  for (int j = 0; j < size_; ++j) {
    const double variance = columns_.column(j)[j];
    std::fill_n(columns_.column(j), size_, 0.0);
    columns_.column(j)[j] = variance <= limit ? variance : limit;
  }
}

bool FilterCovariance::is_sound() const {
  return kernel::is_semidefinite(columns_.numbers, size_);
}

}  // namespace limb
