#pragma once

#include <cmath>

#include "limb/base/testing/worst.hpp"

namespace limb {

/// The largest absolute entry of an Eigen expression, NaN if one of them is, and 0 of an empty
/// matrix. Eigen's maxCoeff() and lpNorm<Infinity>() drop NaN.
template <typename Expression>
double max_abs(const Expression& expression) {
  const auto& m = expression.eval();
  Worst worst;
  worst.add(0);
  for (int j = 0; j < m.cols(); ++j) {
    for (int i = 0; i < m.rows(); ++i) worst.add(std::abs(m(i, j)));
  }
  return worst.value();
}

}  // namespace limb
