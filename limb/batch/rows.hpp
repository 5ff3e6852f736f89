#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstdint>
#include <string>

#include "limb/base/error.hpp"
#include "limb/codegen/x64/target.hpp"

namespace limb {

/// Many states as the rows of a matrix; stored by rows (one state after the other) or by columns
/// (one entry of all states, then the next). No gaps.
template <typename T>
struct ConstStateRows {
  const T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  codegen::Layout layout = codegen::Layout::rows;
};
template <typename T>
struct StateRows {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  codegen::Layout layout = codegen::Layout::rows;
};

/// (N, n) by rows: what NumPy calls C order. A plain Eigen matrix is stored by columns.
template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A matrix of double or float, or a map or block of one; not a vector.
template <typename M>
concept RowsLike = requires(const std::remove_cvref_t<M>& m) {
  typename std::remove_cvref_t<M>::Scalar;
  requires std::floating_point<typename std::remove_cvref_t<M>::Scalar>;
  requires !bool(std::remove_cvref_t<M>::IsVectorAtCompileTime);
  m.data();
  m.outerStride();
};

/// @throws Error "call: x has gaps between its rows".
template <RowsLike M>
auto rows_of(const char* call, const char* argument, const M& m) {
  using T = typename M::Scalar;
  constexpr bool kByRows = M::IsRowMajor;
  if (m.outerSize() > 1 && m.outerStride() != m.innerSize()) {
    throw Error(std::string(call) + ": " + argument + " has gaps between its " +
                (kByRows ? "rows" : "columns"));
  }
  return ConstStateRows<T>{m.data(), m.rows(), m.cols(),
                           kByRows ? codegen::Layout::rows : codegen::Layout::columns};
}
template <RowsLike M>
auto mutable_rows_of(const char* call, const char* argument, M& m) {
  using T = typename M::Scalar;
  const ConstStateRows<T> same = rows_of(call, argument, m);
  return StateRows<T>{m.data(), same.rows, same.cols, same.layout};
}

/// How results by rows are written to memory.
enum class StoreKind {
  automatic,  ///< by the size of all results of the call
  cached,     ///< ordinary stores: best for results that fit into the caches
  streaming,  ///< non-temporal stores of whole cache lines: best for larger results
};

/// How a batch is computed.
struct BatchOptions {
  int threads = 1;  ///< 0: as many as oneTBB chooses
  /// States that a thread takes at a time; 0: 1024, or 64 with the recursion.
  std::int64_t grain = 0;
  StoreKind stores = StoreKind::automatic;
};

}  // namespace limb
