#include "limb/model/mesh/exact_orientation.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace limb {
namespace {

/// A number as the exact sum of two: value is the rounded sum, error the rest.
struct Pair {
  double value, error;
};

Pair two_sum(double a, double b) {
  const double sum = a + b, b_part = sum - a, a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

Pair two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// The exact sum of all numbers added: parts that do not overlap, smallest first.
class ExactSum {
 public:
  void add(double x) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const auto [sum, error] = two_sum(x, parts_[i]);
      x = sum;
      if (error != 0) parts_[kept++] = error;
    }
    if (x != 0) parts_[kept++] = x;
    size_ = kept;
  }
  /// The largest part is larger than the sum of the others.
  int sign() const { return size_ == 0 ? 0 : parts_[size_ - 1] > 0 ? 1 : -1; }

 private:
  std::array<double, 6 * 8 * 4> parts_;
  std::size_t size_ = 0;
};

void add_product(double x, double y, double z, ExactSum& sum) {
  if (x == 0 || y == 0 || z == 0) return;
  const auto [xy, xy_error] = two_product(x, y);
  const auto [high, high_error] = two_product(xy, z);
  const auto [low, low_error] = two_product(xy_error, z);
  for (const double part : {low_error, low, high_error, high}) sum.add(part);
}

using Difference = std::array<Pair, 3>;

Difference difference(const Vector3<double>& p, const Vector3<double>& a) {
  return {two_sum(p[0], -a[0]), two_sum(p[1], -a[1]), two_sum(p[2], -a[2])};
}

}  // namespace

int exact_orientation(const Vector3<double>& a, const Vector3<double>& b, const Vector3<double>& c,
                      const Vector3<double>& d) {
  const Difference u = difference(b, a), v = difference(c, a), w = difference(d, a);
  ExactSum sum;
  const auto add_term = [&](const Pair& x, const Pair& y, const Pair& z, double sign) {
    for (const double x_part : {x.value, x.error}) {
      for (const double y_part : {y.value, y.error}) {
        for (const double z_part : {z.value, z.error}) {
          add_product(sign * x_part, y_part, z_part, sum);
        }
      }
    }
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    add_term(u[i], v[j], w[k], 1);
    add_term(u[i], v[k], w[j], -1);
  }
  return sum.sign();
}

}  // namespace limb
