#pragma once

#include <cstdint>
#include <cstring>

#include "limb/dynamics/triple.hpp"

/// Four numbers that are computed with at once: one register for double, four numbers for any other
/// scalar. Algorithms read single lanes from memory, where that costs nothing.
namespace limb::kernel {

template <typename T>
struct Four {
  T lane[4];
};

template <>
struct Four<double> {
  typedef double Native __attribute__((vector_size(32)));
  Native lane;
};

/// Lanes for which something holds (all bits), or not (none).
using Mask = std::int64_t[4];

// Any scalar. Not forced inline: compilers drown in numbers that are large themselves.

template <typename T>
Four<T> four(const T& a, const T& b, const T& c, const T& d) {
  return {{a, b, c, d}};
}
template <typename T>
Four<T> operator+(const Four<T>& a, const Four<T>& b) {
  return {
      {a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2], a.lane[3] + b.lane[3]}};
}
template <typename T>
Four<T> operator-(const Four<T>& a, const Four<T>& b) {
  return {
      {a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2], a.lane[3] - b.lane[3]}};
}
template <typename T>
Four<T> operator*(const Four<T>& a, const Four<T>& b) {
  return {
      {a.lane[0] * b.lane[0], a.lane[1] * b.lane[1], a.lane[2] * b.lane[2], a.lane[3] * b.lane[3]}};
}
template <typename T>
Four<T> operator*(const T& k, const Four<T>& a) {
  return {{k * a.lane[0], k * a.lane[1], k * a.lane[2], k * a.lane[3]}};
}
template <typename T>
Four<T> operator-(const Four<T>& a) {
  return {{-a.lane[0], -a.lane[1], -a.lane[2], -a.lane[3]}};
}
template <typename T>
Four<T> load_four(const T* x) {
  return {{x[0], x[1], x[2], x[3]}};
}
/// The first `count` lanes alone, 1 to 4.
template <typename T>
void store_some(const Four<T>& a, int count, T* x) {
  for (int k = 0; k < count; ++k) x[k] = a.lane[k];
}
template <typename T>
void store_four(const Four<T>& a, T* x) {
  store_some(a, 4, x);
}
/// `yes` where the mask holds, `no` elsewhere.
template <typename T>
Four<T> chosen(const Mask& mask, const Four<T>& yes, const Four<T>& no) {
  Four<T> x = no;
  for (int k = 0; k < 4; ++k) {
    if (mask[k] != 0) x.lane[k] = yes.lane[k];
  }
  return x;
}
/// Of each lane, the sum of it and of those behind it.
template <typename T>
Four<T> sum_behind(const Four<T>& a) {
  Four<T> x = a;
  for (int k = 2; k >= 0; --k) x.lane[k] = x.lane[k] + x.lane[k + 1];
  return x;
}
/// Rows become columns.
template <typename T>
void transpose(Four<T>& a, Four<T>& b, Four<T>& c, Four<T>& d) {
  const Four<T> rows[4] = {a, b, c, d};
  Four<T>* const columns[4] = {&a, &b, &c, &d};
  for (int r = 0; r < 4; ++r) {
    for (int k = 0; k < 4; ++k) columns[k]->lane[r] = rows[r].lane[k];
  }
}

// The same in registers.

LIMB_INLINE Four<double> four(const double& a, const double& b, const double& c, const double& d) {
  return {Four<double>::Native{a, b, c, d}};
}
LIMB_INLINE Four<double> operator+(const Four<double>& a, const Four<double>& b) {
  return {a.lane + b.lane};
}
LIMB_INLINE Four<double> operator-(const Four<double>& a, const Four<double>& b) {
  return {a.lane - b.lane};
}
LIMB_INLINE Four<double> operator*(const Four<double>& a, const Four<double>& b) {
  return {a.lane * b.lane};
}
LIMB_INLINE Four<double> operator*(const double& k, const Four<double>& a) {
  return {k * a.lane};
}
LIMB_INLINE Four<double> operator-(const Four<double>& a) {
  return {-a.lane};
}
LIMB_INLINE Four<double> load_four(const double* x) {
  Four<double> a;
  std::memcpy(&a.lane, x, sizeof a.lane);
  return a;
}
LIMB_INLINE void store_four(const Four<double>& a, double* x) {
  std::memcpy(x, &a.lane, sizeof a.lane);
}
LIMB_INLINE void store_some(const Four<double>& a, int count, double* x) {
  if (count == 4) return store_four(a, x);
  if (count == 1) {
    x[0] = a.lane[0];
    return;
  }
  typedef double Half __attribute__((vector_size(16)));
  const Half low = __builtin_shufflevector(a.lane, a.lane, 0, 1);
  std::memcpy(x, &low, sizeof low);
  if (count == 3) x[2] = a.lane[2];
}
LIMB_INLINE Four<double> chosen(const Mask& mask, const Four<double>& yes, const Four<double>& no) {
  typedef std::int64_t Bits __attribute__((vector_size(32)));
  Bits bits;
  std::memcpy(&bits, mask, sizeof bits);
  return {bits ? yes.lane : no.lane};
}
LIMB_INLINE Four<double> sum_behind(const Four<double>& a) {
  const Four<double>::Native zero = {};
  const auto pairs = a.lane + __builtin_shufflevector(a.lane, zero, 1, 2, 3, 4);
  return {pairs + __builtin_shufflevector(pairs, zero, 2, 3, 4, 4)};
}
LIMB_INLINE void transpose(Four<double>& a, Four<double>& b, Four<double>& c, Four<double>& d) {
  const auto p = __builtin_shufflevector(a.lane, b.lane, 0, 4, 2, 6);
  const auto q = __builtin_shufflevector(a.lane, b.lane, 1, 5, 3, 7);
  const auto r = __builtin_shufflevector(c.lane, d.lane, 0, 4, 2, 6);
  const auto s = __builtin_shufflevector(c.lane, d.lane, 1, 5, 3, 7);
  a.lane = __builtin_shufflevector(p, r, 0, 1, 4, 5);
  b.lane = __builtin_shufflevector(q, s, 0, 1, 4, 5);
  c.lane = __builtin_shufflevector(p, r, 2, 3, 6, 7);
  d.lane = __builtin_shufflevector(q, s, 2, 3, 6, 7);
}

template <typename T>
LIMB_INLINE Four<T> all(const T& x) {
  return four(x, x, x, x);
}

}  // namespace limb::kernel
