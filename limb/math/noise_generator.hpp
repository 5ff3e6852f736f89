#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace limb {

/// Seeded random numbers for noise and disturbances. A seed gives the same sequence on every
/// platform, up to the last digit of the logarithm; the distributions of the standard library
/// differ between implementations.
class NoiseGenerator {
 public:
  explicit NoiseGenerator(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Normal with mean 0 and variance 1. [Marsaglia 1964, polar method]
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, r;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      r = x * x + y * y;
    } while (r >= 1 || r == 0);
    const double scale = std::sqrt(-2 * std::log(r) / r);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
  }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// An independent seed for the index-th user of a seed.
inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t index) {
  // [Steele 2014, splitmix]
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace limb
