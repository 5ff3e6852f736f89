#pragma once

#include <vector>

namespace limb {

/// A polynomial and its first three derivatives at one point.
template <typename T>
struct PolynomialValue {
  T value, first, second, third;
};

/// p(x) = c[0] + c[1] x + c[2] x^2 + ..., with derivatives, by Horner's scheme.
template <typename T>
PolynomialValue<T> evaluate_polynomial(const std::vector<T>& c, const T& x) {
  PolynomialValue<T> p{T(0), T(0), T(0), T(0)};
  for (std::size_t k = c.size(); k-- > 0;) {
    p.third = p.third * x + T(3) * p.second;
    p.second = p.second * x + T(2) * p.first;
    p.first = p.first * x + p.value;
    p.value = p.value * x + c[k];
  }
  return p;
}

}  // namespace limb
