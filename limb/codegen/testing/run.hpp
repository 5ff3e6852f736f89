#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "limb/codegen/program.hpp"

/// Programs on arrays of random numbers, for tests.
namespace limb::testing {

/// The arrays of several states: all rows of array k in data[k].
template <typename T>
struct Batch {
  std::vector<std::vector<T>> data;

  std::vector<const T*> pointers(std::int64_t state, const std::vector<codegen::Array>& a) const {
    std::vector<const T*> p;
    for (std::size_t k = 0; k < data.size(); ++k) p.push_back(data[k].data() + state * a[k].size());
    return p;
  }
  std::vector<T*> pointers(std::int64_t state, const std::vector<codegen::Array>& a) {
    std::vector<T*> p;
    for (std::size_t k = 0; k < data.size(); ++k) p.push_back(data[k].data() + state * a[k].size());
    return p;
  }
};

template <typename T>
Batch<T> batch_of(const std::vector<codegen::Array>& arrays, std::int64_t states, T value) {
  Batch<T> b;
  for (const codegen::Array& a : arrays) {
    b.data.emplace_back(static_cast<std::size_t>(states * a.size()), value);
  }
  return b;
}

/// One state after the other.
inline Batch<double> run_each(const codegen::Program& p, const Batch<double>& in,
                              std::int64_t states) {
  Batch<double> out = batch_of(p.outputs(), states, 77.0);
  for (std::int64_t i = 0; i < states; ++i) {
    p.run(in.pointers(i, p.inputs()).data(), out.pointers(i, p.outputs()).data());
  }
  return out;
}

template <typename T>
Batch<T> run_rows(const codegen::Program& p, const Batch<T>& in, std::int64_t states) {
  Batch<T> out = batch_of(p.outputs(), states, T(77));
  p.run_rows(in.pointers(0, p.inputs()).data(), out.pointers(0, p.outputs()).data(), states);
  return out;
}

/// Converts between rows and columns.
template <typename T>
Batch<T> transposed(const Batch<T>& x, const std::vector<codegen::Array>& arrays,
                    std::int64_t states, bool back = false) {
  Batch<T> y = x;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const std::size_t n = static_cast<std::size_t>(arrays[k].size());
    const std::size_t count = static_cast<std::size_t>(states);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t row = i * n + j, column = j * count + i;
        y.data[k][back ? row : column] = x.data[k][back ? column : row];
      }
    }
  }
  return y;
}

template <typename T>
Batch<T> run_columns(const codegen::Program& p, const Batch<T>& in, std::int64_t states) {
  const Batch<T> columns = transposed(in, p.inputs(), states);
  Batch<T> out = batch_of(p.outputs(), states, T(77));
  p.run_columns(columns.pointers(0, p.inputs()).data(), out.pointers(0, p.outputs()).data(), states,
                0, states);
  return transposed(out, p.outputs(), states, true);
}

/// Whether two batches have the same bits.
template <typename T>
bool same_bits(const Batch<T>& x, const Batch<T>& y) {
  for (std::size_t k = 0; k < x.data.size(); ++k) {
    if (x.data[k].size() != y.data[k].size()) return false;
    if (!x.data[k].empty() &&
        std::memcmp(x.data[k].data(), y.data[k].data(), x.data[k].size() * sizeof(T)) != 0) {
      return false;
    }
  }
  return true;
}

/// Largest |x - y| of an array's state against the norm of that state, at least 1.
template <typename T, typename U>
double relative(const std::vector<T>& x, const std::vector<U>& y, std::int64_t states) {
  double worst = 0;
  const std::size_t n = states > 0 ? y.size() / static_cast<std::size_t>(states) : 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(states); ++i) {
    double difference = 0, size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double a = double(x[i * n + j]), b = double(y[i * n + j]);
      difference += (a - b) * (a - b);
      size += b * b;
    }
    const double ratio = std::sqrt(difference) / std::max(1.0, std::sqrt(size));
    if (!(ratio <= worst)) worst = ratio;  // also for NaN
  }
  return worst;
}

}  // namespace limb::testing
