#include "limb/math/sincos.hpp"

#include <cstdint>
#include <cstring>

namespace limb {
namespace {

// Four lanes as one value; the compiler picks the registers of the machine it builds for.
using Lanes = double __attribute__((vector_size(32)));
using Bits = std::int64_t __attribute__((vector_size(32)));

// pi/2 in three parts of 33 bits: products with integers below 2^20 are exact.
constexpr double kHalfPi1 = 0x1.921fb544p+0;
constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
// Adding this rounds to an integer and leaves it in the low bits.
constexpr double kRound = 0x1.8p52;
constexpr double kLimit = 1e6;

// Minimax polynomials on [-pi/4, pi/4]; the errors are below 2^-57.
constexpr double kSin[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                           -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                           -2.50507602534068634195e-08, 1.58969099521155010221e-10};
constexpr double kCos[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                           2.48015872894767294178e-05, -2.75573143513906633035e-07,
                           2.08757232129817482790e-09, -1.13596475577881948265e-11};

/// Sets the lanes of `small` to 0 where the angle is too large or not a number.
void sincos4(const double* angle, double* sine, double* cosine, Bits& small) {
  Lanes x;
  std::memcpy(&x, angle, sizeof x);
  small &= x * x <= kLimit * kLimit;
  const Lanes t = x * 6.36619772367581382433e-01 + kRound;
  const Lanes n = t - kRound;
  Bits quadrant;
  std::memcpy(&quadrant, &t, sizeof quadrant);
  // The remainder as y + tail in double-double precision. The first difference is exact.
  const Lanes first = x - n * kHalfPi1;
  const Lanes second = n * kHalfPi2;
  const Lanes r = first - second;
  const Lanes third = n * kHalfPi3 - ((first - r) - second);
  const Lanes y = r - third;
  const Lanes tail = (r - y) - third;
  const Lanes z = y * y;
  const Lanes half = 0.5 * z;
  const Lanes one = 1.0 - half;
  const Lanes p =
      kSin[0] + z * (kSin[1] + z * (kSin[2] + z * (kSin[3] + z * (kSin[4] + z * kSin[5]))));
  const Lanes s = y + (y * z * p + tail * one);
  const Lanes e =
      kCos[0] + z * (kCos[1] + z * (kCos[2] + z * (kCos[3] + z * (kCos[4] + z * kCos[5]))));
  const Lanes c = one + (((1.0 - one) - half) + (z * z * e - y * tail));
  // Odd quadrants exchange the two; sine is negative in the third and fourth, cosine in the second
  // and third.
  const Bits odd = -(quadrant & 1);
  Bits s_bits, c_bits;
  std::memcpy(&s_bits, &s, sizeof s_bits);
  std::memcpy(&c_bits, &c, sizeof c_bits);
  Bits sin_bits = (odd & c_bits) | (~odd & s_bits);
  Bits cos_bits = (odd & s_bits) | (~odd & c_bits);
  sin_bits ^= (quadrant & 2) << 62;
  cos_bits ^= ((quadrant + 1) & 2) << 62;
  std::memcpy(sine, &sin_bits, sizeof sin_bits);
  std::memcpy(cosine, &cos_bits, sizeof cos_bits);
}

}  // namespace

template <>
void sincos(const double* angle, double* sine, double* cosine, std::size_t n) {
  Bits small = {-1, -1, -1, -1};
  for (std::size_t i = 0; i < n; i += 4) sincos4(angle + i, sine + i, cosine + i, small);
  if ((small[0] & small[1] & small[2] & small[3]) != 0) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::abs(angle[i]) <= kLimit) continue;  // false for NaN as well
    sine[i] = std::sin(angle[i]);
    cosine[i] = std::cos(angle[i]);
  }
}

}  // namespace limb
