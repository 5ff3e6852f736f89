#pragma once

#include <Eigen/Core>
#include <cmath>
#include <ostream>
#include <type_traits>

namespace limb {

/// A complex number in place of a real one: f(x + i h d) = f(x) + i h df/dx d + O(h^2), and h
/// is so small that h^2 is below rounding. No difference is formed, so the derivative is as
/// accurate as the value. [Squire 1998, complex step]
///
/// Decisions (comparisons, choose, abs) depend on the real part only, so the templates of limb take
/// the same branches as for double, and the real parts equal the double results. For more than one
/// direction at a time use Dual.
template <typename T = double>
struct ComplexStep {
  using Value = T;
  static constexpr int kTangents = 1;
  /// h: its square is below rounding, and it is far above the smallest number.
  static constexpr T kStep = sizeof(T) < sizeof(double) ? T(1e-12) : T(1e-50);

  T real, imag;

  ComplexStep() = default;
  template <typename S>
  requires std::is_arithmetic_v<S> ComplexStep(S x) : real(T(x)), imag(T(0)) {}  // NOLINT
  ComplexStep(const T& re, const T& im) : real(re), imag(im) {}

  /// f for functions without a simple complex form: f(x) + i f'(x) imag, accurate to O(h^2).
  ComplexStep chain_rule(const T& f, const T& slope) const { return {f, slope * imag}; }

  friend ComplexStep operator-(const ComplexStep& a) { return {-a.real, -a.imag}; }
  friend ComplexStep operator+(const ComplexStep& a, const ComplexStep& b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend ComplexStep operator-(const ComplexStep& a, const ComplexStep& b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  friend ComplexStep operator*(const ComplexStep& a, const ComplexStep& b) {
    return {a.real * b.real - a.imag * b.imag, a.imag * b.real + a.real * b.imag};
  }
  friend ComplexStep operator/(const ComplexStep& a, const ComplexStep& b) {
    const T ratio = b.imag / b.real, divisor = b.real + b.imag * ratio;
    return {(a.real + a.imag * ratio) / divisor, (a.imag - a.real * ratio) / divisor};
  }
  ComplexStep& operator+=(const ComplexStep& b) { return *this = *this + b; }
  ComplexStep& operator-=(const ComplexStep& b) { return *this = *this - b; }
  ComplexStep& operator*=(const ComplexStep& b) { return *this = *this * b; }
  ComplexStep& operator/=(const ComplexStep& b) { return *this = *this / b; }

  friend bool operator<(const ComplexStep& a, const ComplexStep& b) { return a.real < b.real; }
  friend bool operator>(const ComplexStep& a, const ComplexStep& b) { return a.real > b.real; }
  friend bool operator<=(const ComplexStep& a, const ComplexStep& b) { return a.real <= b.real; }
  friend bool operator>=(const ComplexStep& a, const ComplexStep& b) { return a.real >= b.real; }
  friend bool operator==(const ComplexStep& a, const ComplexStep& b) { return a.real == b.real; }

  friend ComplexStep sin(const ComplexStep& a) {
    return {std::sin(a.real) * std::cosh(a.imag), std::cos(a.real) * std::sinh(a.imag)};
  }
  friend ComplexStep cos(const ComplexStep& a) {
    return {std::cos(a.real) * std::cosh(a.imag), -std::sin(a.real) * std::sinh(a.imag)};
  }
  friend ComplexStep exp(const ComplexStep& a) {
    const T e = std::exp(a.real);
    return {e * std::cos(a.imag), e * std::sin(a.imag)};
  }
  friend ComplexStep sqrt(const ComplexStep& a) {
    const T s = std::sqrt(a.real);
    return a.chain_rule(s, T(0.5) / s);
  }
  friend ComplexStep tan(const ComplexStep& a) { return sin(a) / cos(a); }
  friend ComplexStep asin(const ComplexStep& a) {
    return a.chain_rule(std::asin(a.real), T(1) / std::sqrt(T(1) - a.real * a.real));
  }
  friend ComplexStep acos(const ComplexStep& a) {
    return a.chain_rule(std::acos(a.real), T(-1) / std::sqrt(T(1) - a.real * a.real));
  }
  friend ComplexStep atan(const ComplexStep& a) {
    return a.chain_rule(std::atan(a.real), T(1) / (T(1) + a.real * a.real));
  }
  friend ComplexStep atan2(const ComplexStep& y, const ComplexStep& x) {
    const T r2 = x.real * x.real + y.real * y.real;
    return {std::atan2(y.real, x.real), (x.real * y.imag - y.real * x.imag) / r2};
  }
  friend ComplexStep log(const ComplexStep& a) {
    return a.chain_rule(std::log(a.real), T(1) / a.real);
  }
  friend ComplexStep tanh(const ComplexStep& a) {
    const T t = std::tanh(a.real);
    return a.chain_rule(t, T(1) - t * t);
  }
  /// x^p for a constant p.
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend ComplexStep pow(const ComplexStep& a, S p) {
    return a.chain_rule(std::pow(a.real, p), T(p) * std::pow(a.real, p - 1));
  }
  friend ComplexStep abs(const ComplexStep& a) { return a.real < T(0) ? -a : a; }
  friend ComplexStep hypot(const ComplexStep& a, const ComplexStep& b) {
    return sqrt(a * a + b * b);
  }
  friend bool isfinite(const ComplexStep& a) {
    return std::isfinite(a.real) && std::isfinite(a.imag);
  }

  friend std::ostream& operator<<(std::ostream& out, const ComplexStep& a) {
    return out << a.real << " (" << tangent_of(a, 0) << ")";
  }

  /// Access for seeding and reading derivatives (limb/dynamics/derivatives/seeds.hpp).
  friend void set_tangent(ComplexStep& a, int, const T& d) { a.imag = kStep * d; }
  friend T tangent_of(const ComplexStep& a, int) { return a.imag / kStep; }
};

}  // namespace limb

namespace Eigen {

/// A real scalar for Eigen: nothing is conjugated.
template <typename T>
struct NumTraits<limb::ComplexStep<T>> : NumTraits<T> {
  using Real = limb::ComplexStep<T>;
  using NonInteger = Real;
  using Nested = Real;
  enum { ReadCost = 2, AddCost = 2, MulCost = 6 };
  static Real epsilon() { return Real(NumTraits<T>::epsilon()); }
  static Real dummy_precision() { return Real(NumTraits<T>::dummy_precision()); }
  static Real highest() { return Real(NumTraits<T>::highest()); }
  static Real lowest() { return Real(NumTraits<T>::lowest()); }
  static Real infinity() { return Real(NumTraits<T>::infinity()); }
  static Real quiet_NaN() { return Real(NumTraits<T>::quiet_NaN()); }
};

/// Products of numeric matrices with these.
template <typename T, typename Operation>
struct ScalarBinaryOpTraits<limb::ComplexStep<T>, T, Operation> {
  using ReturnType = limb::ComplexStep<T>;
};
template <typename T, typename Operation>
struct ScalarBinaryOpTraits<T, limb::ComplexStep<T>, Operation> {
  using ReturnType = limb::ComplexStep<T>;
};

}  // namespace Eigen
