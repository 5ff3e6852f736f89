#pragma once

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// atan2(y, x) within 3 units in the last place, for finite numbers; 0 for (0, 0). Zeros have no
/// sign: atan2(-0, -1) is pi. The smaller of |x|, |y| divided by the larger, rotated by pi/4 where
/// that is nearer to zero, then a polynomial on [-tan(pi/8), tan(pi/8)]. V and `make` as in
/// make_sincos.
template <typename V, typename Make>
V make_atan2(Precision precision, const V& y, const V& x, const Make& make) {
  const auto k = [&](double c) { return make.constant(c); };
  const auto sub = [&](V a, V b) { return make(Opcode::sub, a, b); };
  const auto mul = [&](V a, V b) { return make(Opcode::mul, a, b); };
  const auto fma = [&](V a, V b, V c) { return make(Opcode::fma, a, b, c); };
  const auto less = [&](V a, V b) { return make(Opcode::less, a, b); };
  const auto select = [&](V mask, V a, V b) { return make(Opcode::select, mask, a, b); };
  const V zero = k(0), absolute_x = make.unary(Opcode::abs, x),
          absolute_y = make.unary(Opcode::abs, y);
  const V steep = less(absolute_x, absolute_y);
  const V low = select(steep, absolute_x, absolute_y);
  const V found = select(steep, absolute_y, absolute_x);
  const V high = select(make(Opcode::less_equal, found, zero), k(1), found);
  const V rotated = less(mul(high, k(0x1.a827999fcef32p-2)), low);  // tan(pi/8)
  const V r = make(Opcode::div, select(rotated, sub(low, high), low),
                   select(rotated, make(Opcode::add, low, high), high));
  // atan(r) = r + r z P(z), P by interpolation in Chebyshev points: below 2^-60, 2^-33 for floats.
  const V z = mul(r, r), zz = mul(z, z);
  const auto pair = [&](double k0, double k1) { return fma(z, k(k1), k(k0)); };
  V p = zero;
  if (precision == Precision::f32) {
    p = fma(pair(-0x1.614378p-4, 0x1.9d86ecp-5), zz, pair(-0x1.248a16p-3, 0x1.c57b92p-4));
    p = fma(p, zz, pair(-0x1.555556p-2, 0x1.99997cp-3));
  } else {
    const V zzzz = mul(zz, zz);
    const V first = fma(pair(-0x1.249249248d7dcp-3, 0x1.c71c71c303dbbp-4), zz,
                        pair(-0x1.5555555555555p-2, 0x1.9999999999953p-3));
    const V second = fma(pair(-0x1.110e87b4357d2p-4, 0x1.e19a0bfa3eef9p-5), zz,
                         pair(-0x1.745d165dc9713p-4, 0x1.3b1392d519db1p-4));
    const V third = fma(pair(-0x1.1b311bb48c215p-5, 0x1.0acd9e91a5a35p-6), zz,
                        pair(-0x1.ac7a5a79b3f26p-5, 0x1.74dccfb93fff0p-5));
    p = fma(fma(third, zzzz, second), zzzz, first);
  }
  const V eighth =
      make(Opcode::add, fma(mul(r, z), p, r), select(rotated, k(0x1.921fb54442d18p-1), zero));
  const V quarter = select(steep, sub(k(0x1.921fb54442d18p+0), eighth), eighth);
  const V half = select(less(x, zero), sub(k(0x1.921fb54442d18p+1), quarter), quarter);
  return select(less(y, zero), make.unary(Opcode::neg, half), half);
}

}  // namespace limb::codegen
