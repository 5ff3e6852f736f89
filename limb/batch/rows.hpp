#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <string>

#include "limb/base/error.hpp"

namespace limb {

/// Many states as the rows of a matrix, one after the other in memory.
template <typename T>
struct ConstRows {
  const T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
};
template <typename T>
struct Rows {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
};

/// (N, n) by rows: what NumPy calls C order.
template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A matrix of double or float, stored by rows, that has a memory of its own or a map of one.
template <typename M>
concept RowsLike = requires(const std::remove_cvref_t<M>& m) {
  typename std::remove_cvref_t<M>::Scalar;
  requires std::floating_point<typename std::remove_cvref_t<M>::Scalar>;
  requires bool(std::remove_cvref_t<M>::IsRowMajor);
  requires !bool(std::remove_cvref_t<M>::IsVectorAtCompileTime);
  m.data();
  m.outerStride();
};

/// @throws Error "call: x has gaps between its rows".
template <RowsLike M>
auto rows_of(const char* call, const char* argument, const M& m) {
  using T = typename M::Scalar;
  if (m.rows() > 1 && m.outerStride() != m.cols()) {
    throw Error(std::string(call) + ": " + argument + " has gaps between its rows");
  }
  return ConstRows<T>{m.data(), m.rows(), m.cols()};
}
template <RowsLike M>
auto mutable_rows_of(const char* call, const char* argument, M& m) {
  using T = typename M::Scalar;
  const ConstRows<T> same = rows_of(call, argument, m);
  return Rows<T>{m.data(), same.rows, same.cols};
}

/// How a batch is computed.
struct BatchOptions {
  int threads = 1;  ///< 0: as many as oneTBB finds good
  /// States that a thread takes at a time; 0: about 100 microseconds' worth, at most 4096.
  std::int64_t grain = 0;
};

}  // namespace limb
