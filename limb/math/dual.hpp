#pragma once

#include <Eigen/Core>
#include <cmath>
#include <ostream>
#include <utility>

#include "limb/math/sincos.hpp"

namespace limb {

namespace dual_detail {

/// Storage of N tangents; machine numbers in the compiler's vector types, which compute them with
/// SIMD instructions. Aligned as one number, so that arrays of duals have no padding.
template <typename T, int N,
          bool kVector = std::is_floating_point_v<T> && (N == 2 || N == 4 || N == 8)>
struct Tangents {
  typedef T Type[N];
};
template <typename T, int N>
struct Tangents<T, N, true> {
  typedef T Type __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T))));
};

}  // namespace dual_detail

/// A value with its derivatives along N directions: x + sum of e_k tangent[k], e_i e_j = 0.
///
/// Forward-mode automatic differentiation, exact to rounding: seed the inputs, call any template of
/// limb (limb/dynamics/derivatives/any_scalar.hpp) or your own, read the tangents of the result.
/// Decisions depend on the value only. Dual<Dual<double, 1>, N> has second derivatives, and so on.
/// Two, four or eight tangents of machine numbers are computed together, in SIMD registers.
///
/// Where a function has no derivative (sqrt and pow at 0, abs and a comparison at a tie) the
/// tangents are one-sided or not finite. Like double, a Dual that is declared without a value is
/// uninitialized.
template <typename T, int N>
struct Dual {
  static_assert(N > 0);
  using Value = T;
  static constexpr int kTangents = N;

  T value;
  /// tangent[k] is a T; do not bind it to a reference.
  typename dual_detail::Tangents<T, N>::Type tangent;

  Dual() = default;
  Dual(const T& x) : value(x), tangent{} {}  // NOLINT: implicit on purpose
  template <typename S>
  requires std::is_arithmetic_v<S> Dual(S x) : value(T(x)), tangent{} {}  // NOLINT
  Dual(const T& x, const T (&dx)[N]) : value(x) {
    for (int k = 0; k < N; ++k) tangent[k] = dx[k];
  }
  Dual(const T& x, const T& dx) requires(N == 1) : value(x), tangent{dx} {}

  /// f(x), given its value and slope df/dx.
  [[gnu::always_inline]] Dual chain_rule(const T& f, const T& slope) const {
    return scaled(f, slope, Directions());
  }

  [[gnu::always_inline]] friend Dual operator-(const Dual& a) { return a.negative(Directions()); }
  [[gnu::always_inline]] friend Dual operator+(const Dual& a, const Dual& b) {
    return a.plus(b, Directions());
  }
  [[gnu::always_inline]] friend Dual operator-(const Dual& a, const Dual& b) {
    return a.minus(b, Directions());
  }
  [[gnu::always_inline]] friend Dual operator*(const Dual& a, const Dual& b) {
    return a.weighted(a.value * b.value, b.value, b, a.value, Directions());
  }
  [[gnu::always_inline]] friend Dual operator/(const Dual& a, const Dual& b) {
    const T over = T(1) / b.value, quotient = a.value / b.value;
    return a.weighted(quotient, over, b, -quotient * over, Directions());
  }

  // With plain numbers, whose tangents are zero.
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator+(const Dual& a, S b) { return a.shifted(T(b)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator+(S a, const Dual& b) { return b.shifted(T(a)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator-(const Dual& a, S b) { return a.shifted(T(-b)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator-(S a, const Dual& b) { return b.chain_rule(a - b.value, T(-1)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator*(const Dual& a, S b) { return a.chain_rule(a.value * b, T(b)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator*(S a, const Dual& b) { return b.chain_rule(a * b.value, T(a)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator/(const Dual& a, S b) { return a.chain_rule(a.value / b, T(1) / T(b)); }
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual operator/(S a, const Dual& b) {
    const T quotient = a / b.value;
    return b.chain_rule(quotient, -quotient / b.value);
  }

  template <typename S>
  Dual& operator+=(const S& b) {
    return *this = *this + b;
  }
  template <typename S>
  Dual& operator-=(const S& b) {
    return *this = *this - b;
  }
  template <typename S>
  Dual& operator*=(const S& b) {
    return *this = *this * b;
  }
  template <typename S>
  Dual& operator/=(const S& b) {
    return *this = *this / b;
  }

  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }

  friend Dual sqrt(const Dual& a) {
    using std::sqrt;
    const T s = sqrt(a.value);
    return a.chain_rule(s, T(0.5) / s);
  }
  friend Dual sin(const Dual& a) {
    using std::cos;
    using std::sin;
    return a.chain_rule(sin(a.value), cos(a.value));
  }
  friend Dual cos(const Dual& a) {
    using std::cos;
    using std::sin;
    return a.chain_rule(cos(a.value), -sin(a.value));
  }
  friend Dual tan(const Dual& a) {
    using std::tan;
    const T t = tan(a.value);
    return a.chain_rule(t, T(1) + t * t);
  }
  friend Dual asin(const Dual& a) {
    using std::asin;
    using std::sqrt;
    return a.chain_rule(asin(a.value), T(1) / sqrt(T(1) - a.value * a.value));
  }
  friend Dual acos(const Dual& a) {
    using std::acos;
    using std::sqrt;
    return a.chain_rule(acos(a.value), T(-1) / sqrt(T(1) - a.value * a.value));
  }
  friend Dual atan(const Dual& a) {
    using std::atan;
    return a.chain_rule(atan(a.value), T(1) / (T(1) + a.value * a.value));
  }
  friend Dual atan2(const Dual& y, const Dual& x) {
    using std::atan2;
    const T over = T(1) / (x.value * x.value + y.value * y.value);
    const T by_y = x.value * over, by_x = -y.value * over;
    return y.weighted(atan2(y.value, x.value), by_y, x, by_x, Directions());
  }
  friend Dual exp(const Dual& a) {
    using std::exp;
    const T e = exp(a.value);
    return a.chain_rule(e, e);
  }
  friend Dual log(const Dual& a) {
    using std::log;
    return a.chain_rule(log(a.value), T(1) / a.value);
  }
  friend Dual tanh(const Dual& a) {
    using std::tanh;
    const T t = tanh(a.value);
    return a.chain_rule(t, T(1) - t * t);
  }
  /// x^p for a constant p.
  template <typename S>
  requires std::is_arithmetic_v<S>
  friend Dual pow(const Dual& a, S p) {
    using std::pow;
    return a.chain_rule(pow(a.value, p), T(p) * pow(a.value, p - 1));
  }
  friend Dual abs(const Dual& a) { return a.value < T(0) ? -a : a; }
  friend Dual hypot(const Dual& a, const Dual& b) { return sqrt(a * a + b * b); }
  friend bool isfinite(const Dual& a) {
    using std::isfinite;
    bool finite = isfinite(a.value);
    for (int k = 0; k < N; ++k) finite = finite && isfinite(a.tangent[k]);
    return finite;
  }

  friend std::ostream& operator<<(std::ostream& out, const Dual& a) {
    out << a.value << " (";
    for (int k = 0; k < N; ++k) out << (k ? ", " : "") << a.tangent[k];
    return out << ")";
  }

  /// Access for seeding and reading derivatives (limb/dynamics/derivatives/seeds.hpp).
  friend void set_tangent(Dual& a, int k, const T& d) { a.tangent[k] = d; }
  friend T tangent_of(const Dual& a, int k) { return a.tangent[k]; }

 private:
  // Constant indices for all directions: a loop would keep the tangents in memory.
  using Directions = std::make_index_sequence<N>;
  static constexpr bool kVector = !std::is_array_v<decltype(Dual::tangent)>;

  Dual shifted(const T& by) const {
    Dual r = *this;
    r.value = value + by;
    return r;
  }
  template <std::size_t... K>
  [[gnu::always_inline]] Dual scaled(const T& f, const T& slope, std::index_sequence<K...>) const {
    Dual r;
    r.value = f;
    if constexpr (kVector) {
      r.tangent = slope * tangent;
    } else {
      ((r.tangent[K] = slope * tangent[K]), ...);
    }
    return r;
  }
  template <std::size_t... K>
  [[gnu::always_inline]] Dual negative(std::index_sequence<K...>) const {
    Dual r;
    r.value = -value;
    if constexpr (kVector) {
      r.tangent = -tangent;
    } else {
      ((r.tangent[K] = -tangent[K]), ...);
    }
    return r;
  }
  template <std::size_t... K>
  [[gnu::always_inline]] Dual plus(const Dual& b, std::index_sequence<K...>) const {
    Dual r;
    r.value = value + b.value;
    if constexpr (kVector) {
      r.tangent = tangent + b.tangent;
    } else {
      ((r.tangent[K] = tangent[K] + b.tangent[K]), ...);
    }
    return r;
  }
  template <std::size_t... K>
  [[gnu::always_inline]] Dual minus(const Dual& b, std::index_sequence<K...>) const {
    Dual r;
    r.value = value - b.value;
    if constexpr (kVector) {
      r.tangent = tangent - b.tangent;
    } else {
      ((r.tangent[K] = tangent[K] - b.tangent[K]), ...);
    }
    return r;
  }
  /// f with tangents slope * tangent + slope_b * b.tangent.
  template <std::size_t... K>
  [[gnu::always_inline]] Dual weighted(const T& f, const T& slope, const Dual& b, const T& slope_b,
                                       std::index_sequence<K...>) const {
    Dual r;
    r.value = f;
    if constexpr (kVector) {
      r.tangent = slope * tangent + slope_b * b.tangent;
    } else {
      ((r.tangent[K] = slope * tangent[K] + slope_b * b.tangent[K]), ...);
    }
    return r;
  }
};

/// One sine and one cosine per angle, computed by the fast sincos() of the values.
template <typename T, int N>
void sincos(const Dual<T, N>* angle, Dual<T, N>* sine, Dual<T, N>* cosine, std::size_t n) {
  constexpr std::size_t kBatch = 4;
  for (std::size_t i = 0; i < n; i += kBatch) {
    const std::size_t count = n - i < kBatch ? n - i : kBatch;
    T x[kBatch] = {}, s[kBatch], c[kBatch];
    for (std::size_t m = 0; m < count; ++m) x[m] = angle[i + m].value;
    sincos(x, s, c, count);
    for (std::size_t m = 0; m < count; ++m) {
      const Dual<T, N> a = angle[i + m];
      sine[i + m] = a.chain_rule(s[m], c[m]);
      cosine[i + m] = a.chain_rule(c[m], -s[m]);
    }
  }
}

}  // namespace limb

namespace Eigen {

template <typename T, int N>
struct NumTraits<limb::Dual<T, N>> : NumTraits<T> {
  using Real = limb::Dual<T, N>;
  using NonInteger = Real;
  using Nested = Real;
  enum {
    ReadCost = (1 + N) * NumTraits<T>::ReadCost,
    AddCost = (1 + N) * NumTraits<T>::AddCost,
    MulCost = (1 + 2 * N) * NumTraits<T>::MulCost
  };
  static Real epsilon() { return Real(NumTraits<T>::epsilon()); }
  static Real dummy_precision() { return Real(NumTraits<T>::dummy_precision()); }
  static Real highest() { return Real(NumTraits<T>::highest()); }
  static Real lowest() { return Real(NumTraits<T>::lowest()); }
  static Real infinity() { return Real(NumTraits<T>::infinity()); }
  static Real quiet_NaN() { return Real(NumTraits<T>::quiet_NaN()); }
};

/// Products of numeric matrices with matrices of duals.
template <typename T, int N, typename Operation>
struct ScalarBinaryOpTraits<limb::Dual<T, N>, T, Operation> {
  using ReturnType = limb::Dual<T, N>;
};
template <typename T, int N, typename Operation>
struct ScalarBinaryOpTraits<T, limb::Dual<T, N>, Operation> {
  using ReturnType = limb::Dual<T, N>;
};

}  // namespace Eigen
