#include "limb/math/check.hpp"

#include <algorithm>
#include <vector>

namespace limb {

std::string to_text(const MatrixView& m) {
  std::vector<double> values;
  for (Eigen::Index row = 0; row < m.rows; ++row) {
    for (Eigen::Index col = 0; col < m.cols; ++col) values.push_back(m(row, col));
  }
  return to_text(std::span<const double>(values));
}

void check_finite(std::string_view call, std::string_view argument, const MatrixView& m) {
  for (Eigen::Index col = 0; col < m.cols; ++col) {
    for (Eigen::Index row = 0; row < m.rows; ++row) {
      if (!std::isfinite(m(row, col))) fail(call, argument, to_text(m), "finite numbers");
    }
  }
}

void fail_unit(std::string_view call, std::string_view argument, const MatrixView& m) {
  check_finite(call, argument, m);
  double norm = 0;
  for (Eigen::Index row = 0; row < m.rows; ++row) {
    for (Eigen::Index col = 0; col < m.cols; ++col) norm = std::hypot(norm, m(row, col));
  }
  fail(call, argument, to_text(m) + " of length " + to_text(norm), "length 1",
       norm == 0 ? "a zero vector has no direction" : "normalise it first");
}

void check_symmetric(std::string_view call, std::string_view argument, const MatrixView& m,
                     double epsilon) {
  check_finite(call, argument, m);
  double skewness = 0, largest = 0;
  for (Eigen::Index row = 0; row < m.rows; ++row) {
    for (Eigen::Index col = 0; col < m.cols; ++col) {
      skewness = std::max(skewness, std::abs(m(row, col) - m(col, row)));
      largest = std::max(largest, std::abs(m(row, col)));
    }
  }
  if (skewness > 64 * epsilon * largest) {
    fail(call, argument, to_text(m) + ", off by " + to_text(skewness), "a symmetric matrix");
  }
}

}  // namespace limb
