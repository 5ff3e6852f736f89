#pragma once

#include <cstdint>
#include <cstring>

#include "limb/dynamics/recursive/vec3.hpp"

/// Four numbers processed at once: one SIMD register for double, an array of four for other
/// scalars. Algorithms read single lanes from memory, where that costs nothing.
namespace limb::kernel {

template <typename T>
struct Pack4 {
  T lane[4];
};

template <>
struct Pack4<double> {
  typedef double Native __attribute__((vector_size(32)));
  Native lane;
};

/// Selects lanes: all bits set, or none.
using Mask = std::int64_t[4];

// Any scalar. Not forced inline: for large scalar types that makes compilation very slow.

template <typename T>
Pack4<T> pack4(const T& a, const T& b, const T& c, const T& d) {
  return {{a, b, c, d}};
}
template <typename T>
Pack4<T> operator+(const Pack4<T>& a, const Pack4<T>& b) {
  return {
      {a.lane[0] + b.lane[0], a.lane[1] + b.lane[1], a.lane[2] + b.lane[2], a.lane[3] + b.lane[3]}};
}
template <typename T>
Pack4<T> operator-(const Pack4<T>& a, const Pack4<T>& b) {
  return {
      {a.lane[0] - b.lane[0], a.lane[1] - b.lane[1], a.lane[2] - b.lane[2], a.lane[3] - b.lane[3]}};
}
template <typename T>
Pack4<T> operator*(const Pack4<T>& a, const Pack4<T>& b) {
  return {
      {a.lane[0] * b.lane[0], a.lane[1] * b.lane[1], a.lane[2] * b.lane[2], a.lane[3] * b.lane[3]}};
}
template <typename T>
Pack4<T> operator*(const T& k, const Pack4<T>& a) {
  return {{k * a.lane[0], k * a.lane[1], k * a.lane[2], k * a.lane[3]}};
}
template <typename T>
Pack4<T> operator-(const Pack4<T>& a) {
  return {{-a.lane[0], -a.lane[1], -a.lane[2], -a.lane[3]}};
}
template <typename T>
Pack4<T> load_pack4(const T* x) {
  return {{x[0], x[1], x[2], x[3]}};
}
/// Stores the first `count` lanes, 1 to 4.
template <typename T>
void store_lanes(const Pack4<T>& a, int count, T* x) {
  for (int k = 0; k < count; ++k) x[k] = a.lane[k];
}
template <typename T>
void store_pack4(const Pack4<T>& a, T* x) {
  store_lanes(a, 4, x);
}
/// `yes` in the lanes of the mask, `no` elsewhere.
template <typename T>
Pack4<T> select(const Mask& mask, const Pack4<T>& yes, const Pack4<T>& no) {
  Pack4<T> x = no;
  for (int k = 0; k < 4; ++k) {
    if (mask[k] != 0) x.lane[k] = yes.lane[k];
  }
  return x;
}
/// For each lane, the sum of it and all later lanes.
template <typename T>
Pack4<T> suffix_sums(const Pack4<T>& a) {
  Pack4<T> x = a;
  for (int k = 2; k >= 0; --k) x.lane[k] = x.lane[k] + x.lane[k + 1];
  return x;
}
/// Transposes the 4 x 4 matrix with these rows.
template <typename T>
void transpose(Pack4<T>& a, Pack4<T>& b, Pack4<T>& c, Pack4<T>& d) {
  const Pack4<T> rows[4] = {a, b, c, d};
  Pack4<T>* const columns[4] = {&a, &b, &c, &d};
  for (int r = 0; r < 4; ++r) {
    for (int k = 0; k < 4; ++k) columns[k]->lane[r] = rows[r].lane[k];
  }
}

// double: the same in registers.

LIMB_INLINE Pack4<double> pack4(const double& a, const double& b, const double& c,
                                const double& d) {
  return {Pack4<double>::Native{a, b, c, d}};
}
LIMB_INLINE Pack4<double> operator+(const Pack4<double>& a, const Pack4<double>& b) {
  return {a.lane + b.lane};
}
LIMB_INLINE Pack4<double> operator-(const Pack4<double>& a, const Pack4<double>& b) {
  return {a.lane - b.lane};
}
LIMB_INLINE Pack4<double> operator*(const Pack4<double>& a, const Pack4<double>& b) {
  return {a.lane * b.lane};
}
LIMB_INLINE Pack4<double> operator*(const double& k, const Pack4<double>& a) {
  return {k * a.lane};
}
LIMB_INLINE Pack4<double> operator-(const Pack4<double>& a) {
  return {-a.lane};
}
LIMB_INLINE Pack4<double> load_pack4(const double* x) {
  Pack4<double> a;
  std::memcpy(&a.lane, x, sizeof a.lane);
  return a;
}
LIMB_INLINE void store_pack4(const Pack4<double>& a, double* x) {
  std::memcpy(x, &a.lane, sizeof a.lane);
}
LIMB_INLINE void store_lanes(const Pack4<double>& a, int count, double* x) {
  if (count == 4) return store_pack4(a, x);
  if (count == 1) {
    x[0] = a.lane[0];
    return;
  }
  typedef double Half __attribute__((vector_size(16)));
  const Half low = __builtin_shufflevector(a.lane, a.lane, 0, 1);
  std::memcpy(x, &low, sizeof low);
  if (count == 3) x[2] = a.lane[2];
}
LIMB_INLINE Pack4<double> select(const Mask& mask, const Pack4<double>& yes,
                                 const Pack4<double>& no) {
  typedef std::int64_t Bits __attribute__((vector_size(32)));
  Bits bits;
  std::memcpy(&bits, mask, sizeof bits);
  return {bits ? yes.lane : no.lane};
}
LIMB_INLINE Pack4<double> suffix_sums(const Pack4<double>& a) {
  const Pack4<double>::Native zero = {};
  const auto pairs = a.lane + __builtin_shufflevector(a.lane, zero, 1, 2, 3, 4);
  return {pairs + __builtin_shufflevector(pairs, zero, 2, 3, 4, 4)};
}
LIMB_INLINE void transpose(Pack4<double>& a, Pack4<double>& b, Pack4<double>& c, Pack4<double>& d) {
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
LIMB_INLINE Pack4<T> broadcast(const T& x) {
  return pack4(x, x, x, x);
}

}  // namespace limb::kernel
