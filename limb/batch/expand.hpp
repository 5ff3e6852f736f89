#pragma once

#include "limb/batch/rows.hpp"
#include "limb/codegen/record/pattern.hpp"
#include "limb/dynamics/arguments.hpp"

namespace limb {

/// Full matrices, one per row, column by column, from rows of their entries
/// (MatrixEntries::nonzeros, crba_packed); both stored by rows.
///
///   fast.crba(Q, entries);
///   expand(fast.pattern(DynamicsFunction::crba), entries, M);
///
/// @throws Error for sizes that do not fit, or for matrices by columns.
template <RowsLike E, RowsLike M>
void expand(const codegen::Pattern& pattern, const E& entries, M&& matrices) {
  const auto from = rows_of("expand", "entries", entries);
  const auto to = mutable_rows_of("expand", "the result", matrices);
  check_shape("expand", "entries", from.rows, from.cols, to.rows, pattern.length());
  check_shape("expand", "the result", to.rows, to.cols, from.rows, pattern.rows * pattern.cols);
  if (from.layout != codegen::Layout::rows || to.layout != codegen::Layout::rows) {
    throw Error("expand: matrices must be stored by rows");
  }
  for (std::int64_t i = 0; i < from.rows; ++i) {
    pattern.expand(from.data + i * from.cols, to.data + i * to.cols);
  }
}

}  // namespace limb
