#pragma once

#include <array>
#include <cmath>

#include "limb/math/scalar.hpp"

/// Functions of an angle shared by the exponential maps, as functions of x = angle^2.
///
/// Each is smooth in x at 0, but its textbook form divides 0 by 0 there and cancels nearby. Below a
/// threshold the Taylor series in x is summed instead, with enough terms for double, so values and
/// (for dual numbers) derivatives are accurate to a few eps everywhere.
namespace limb::angle_series {

/// c[0] + c[1] x + c[2] x^2 + ...
template <typename T, std::size_t N>
T polynomial(const std::array<double, N>& c, const T& x) {
  T sum = T(c[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + T(c[k]);
  return sum;
}

/// (-1)^k numerator(k) / (2k + first)! for k = 0 .. N-1
template <std::size_t N, typename Numerator>
constexpr std::array<double, N> factorial_series(int first, Numerator numerator) {
  std::array<double, N> c{};
  double factorial = 1;
  for (int i = 2; i <= first; ++i) factorial *= i;
  for (std::size_t k = 0; k < N; ++k) {
    c[k] = (k % 2 == 0 ? 1 : -1) * numerator(static_cast<int>(k)) / factorial;
    const int next = first + 2 * static_cast<int>(k);
    factorial *= (next + 1) * (next + 2);
  }
  return c;
}

/// The series are used below this square of the angle (a quarter of a radian).
inline constexpr double kSmall = 1.0 / 16;

/// exp of a rotation vector w of length t: R = 1 + a [w] + b [w]^2, left Jacobian = 1 + b [w] + c
/// [w]^2.
template <typename T>
struct Exponential {
  T cos;  ///< cos(t)
  T a;    ///< sin(t) / t
  T b;    ///< (1 - cos(t)) / t^2
  T c;    ///< (t - sin(t)) / t^3
};

/// Always inlined: callers use two or three of the four, and the others are then not computed.
template <typename T>
[[gnu::always_inline]] inline Exponential<T> exponential(const T& x) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  // The first neglected term is x^6 / 14!, below 1e-18. Above the threshold the closed forms of b
  // and c lose up to 1/x = 16 roundings, but they multiply [w]^2 = x: the sum keeps full accuracy.
  static constexpr auto kB = factorial_series<6>(2, [](int) { return 1.0; });
  static constexpr auto kC = factorial_series<6>(3, [](int) { return 1.0; });
  const auto series = [&x](Exponential<T>& e) {
    e.c = polynomial(kC, x);
    e.b = polynomial(kB, x);
    e.a = T(1) - x * e.c;
    e.cos = T(1) - x * e.b;
  };
  const auto closed = [&x](Exponential<T>& e) {
    const T t = sqrt(x), over_t = T(1) / t, over_x = over_t * over_t;  // one division for all
    e.cos = cos(t);
    e.a = sin(t) * over_t;
    e.b = (T(1) - e.cos) * over_x;
    e.c = (T(1) - e.a) * over_x;
  };
  const auto small = x < T(kSmall);
  Exponential<T> e;
  if constexpr (Branching<T>) {
    if (small) {
      series(e);
    } else {
      closed(e);
    }
  } else {
    Exponential<T> s;
    series(s);
    closed(e);
    e = {select(small, s.cos, e.cos), select(small, s.a, e.a), select(small, s.b, e.b),
         select(small, s.c, e.c)};
  }
  return e;
}

/// (1 - (t/2) cot(t/2)) / t^2: the inverse left Jacobian is 1 - [w]/2 + this [w]^2. |t| < 2 pi.
template <typename T>
T inverse_jacobian(const T& x) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  // Bernoulli numbers: |B_2k| / (2k)!; terms decrease by 4 pi^2 = 39, so seven reach 1e-20.
  static constexpr std::array<double, 7> kD = {1.0 / 12,           1.0 / 720,
                                               1.0 / 30240,        1.0 / 1209600,
                                               1.0 / 47900160,     691.0 / 1307674368000.0,
                                               1.0 / 74724249600.0};
  return choose(
      x < T(kSmall), [&] { return polynomial(kD, x); },
      [&] {
        const T half = sqrt(x) / T(2);
        return T((T(1) - half * cos(half) / sin(half)) / x);
      });
}

/// The two further coefficients of the SE(3) left Jacobian. [Barfoot 2017, Jacobians of SE(3)]
template <typename T>
struct Coupling {
  T d;  ///< (t^2 + 2 cos(t) - 2) / (2 t^4)
  T e;  ///< (2 t - 3 sin(t) + t cos(t)) / (2 t^5)
};

template <typename T>
Coupling<T> coupling(const T& x) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  // Up to x = 4, where the closed form loses no more than a digit: 4^13 / 30! is below 1e-24.
  static constexpr auto kD = factorial_series<13>(4, [](int) { return 1.0; });
  static constexpr auto kE = factorial_series<13>(5, [](int k) { return k + 1.0; });
  const auto small = x < T(4);
  const T d = choose(
      small, [&] { return polynomial(kD, x); },
      [&] { return T((x + T(2) * cos(sqrt(x)) - T(2)) / (T(2) * x * x)); });
  const T e = choose(
      small, [&] { return polynomial(kE, x); },
      [&] {
        const T t = sqrt(x);
        return T((T(2) * t - T(3) * sin(t) + t * cos(t)) / (T(2) * x * x * t));
      });
  return {d, e};
}

/// (2 / n) atan2(n, w) for a unit quaternion (n = norm of its vector part, x = n^2, w >= 0):
/// the factor from the vector part to the rotation vector.
template <typename T>
T quaternion_log(const T& x, const T& w) {
  using std::atan2;
  using std::sqrt;
  // 2 atan(r) / (r w) with r^2 = x / w^2 below 0.01: the tenth term is below 1e-20.
  static constexpr std::array<double, 9> kAtan = {2.0,       -2.0 / 3, 2.0 / 5,   -2.0 / 7, 2.0 / 9,
                                                  -2.0 / 11, 2.0 / 13, -2.0 / 15, 2.0 / 17};
  return choose(
      x < T(0.01) * w * w, [&] { return T(polynomial(kAtan, T(x / (w * w))) / w); },
      [&] {
        const T n = sqrt(x);
        return T(T(2) * atan2(n, w) / n);
      });
}

}  // namespace limb::angle_series
