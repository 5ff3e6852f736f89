#pragma once

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// The largest sum of |x| for which the polynomials are used; above it, and for NaN, the C library
/// is.
inline double sincos_bound(Precision precision) {
  return precision == Precision::f64 ? 1e6 : 31622;
}

/// Sine and cosine of one angle.
template <typename V>
struct SinCos {
  V sine, cosine;
};

/// Sine and cosine of x, within 2 units in the last place for |x| up to sincos_bound: the remainder
/// x - n pi/2, polynomials on [-pi/4, pi/4], the quadrant from the last bits of n. V is a number,
/// or the index of an instruction that will compute it: `make` computes or appends accordingly.
template <typename V, typename Make>
SinCos<V> make_sincos(Precision precision, const V& x, const Make& make) {
  const auto k = [&](double c) { return make.constant(c); };
  const auto sub = [&](V a, V b) { return make(Opcode::sub, a, b); };
  const auto mul = [&](V a, V b) { return make(Opcode::mul, a, b); };
  const auto fma = [&](V a, V b, V c) { return make(Opcode::fma, a, b, c); };
  const auto fnma = [&](V a, V b, V c) { return make(Opcode::fnma, a, b, c); };
  const auto finish = [&](V t, V s, V c) {
    const V sine = make(Opcode::quadrant_choice, t, s, c),
            cosine = make(Opcode::quadrant_choice, t, c, s);
    return SinCos<V>{make.sign(t, sine, 0), make.sign(t, cosine, 1)};
  };
  if (precision == Precision::f32) {
    // Adding this rounds to an integer and leaves it in the low bits.
    const V round = k(0x1.8p23);
    const V t = fma(x, k(0x1.45f306p-1), round);
    const V n = sub(t, round);
    const V first = fnma(n, k(0x1.921fb6p+0), x);  // exact
    const V y = fnma(n, k(-0x1.ee59dap-50), fnma(n, k(-0x1.777a5cp-25), first));
    const V z = mul(y, y);
    // Minimax polynomials, with an error of 2^-26 at most.
    const V p = fma(fma(z, k(-0x1.9aca52p-13), k(0x1.110c2ap-7)), z, k(-0x1.555552p-3));
    const V e = fma(fma(z, k(0x1.9bd908p-16), k(-0x1.6c12d4p-10)), z, k(0x1.555554p-5));
    const V s = fma(mul(y, z), p, y);
    const V c = fma(z, fma(z, e, k(-0.5)), k(1));
    return finish(t, s, c);
  }
  const V round = k(0x1.8p52);
  const V t = fma(x, k(6.36619772367581382433e-01), round);
  const V n = sub(t, round);
  // pi/2 in three parts of 53 bits. The first difference is exact: both sides are multiples of
  // 2^-53, and the result is below 1.
  const V first = fnma(n, k(0x1.921fb54442d18p+0), x);
  const V second = fnma(n, k(0x1.1a62633145c07p-54), first);
  const V y = fnma(n, k(-0x1.f1976b7ed8fbcp-110), second);
  const V z = mul(y, y), zz = mul(z, z);
  // The polynomials of limb/math/sincos.cpp, summed in pairs.
  const auto polynomial = [&](double k0, double k1, double k2, double k3, double k4, double k5) {
    const V low = fma(z, k(k1), k(k0)), middle = fma(z, k(k3), k(k2)), high = fma(z, k(k5), k(k4));
    return fma(fma(high, zz, middle), zz, low);
  };
  const V p = polynomial(-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                         -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                         -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  const V s = fma(mul(y, z), p, y);
  const V e = polynomial(4.16666666666666019037e-02, -1.38888888888741095749e-03,
                         2.48015872894767294178e-05, -2.75573143513906633035e-07,
                         2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const V c = fma(zz, e, fnma(z, k(0.5), k(1)));
  return finish(t, s, c);
}

}  // namespace limb::codegen
