#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace limb::codegen {

/// Which entries of a matrix a result holds, in their order. Zeros may follow them.
struct Pattern {
  int rows = 0, cols = 0;     ///< of the matrix
  bool symmetric = false;     ///< what lies below the diagonal is what lies above
  std::vector<int> row, col;  ///< of each entry

  int zeros = 0;  ///< after the entries

  int size() const { return static_cast<int>(row.size()); }
  /// Numbers of the result: entries and zeros.
  int length() const { return size() + zeros; }
  /// Rows of many entries become whole lines of the cache, which are written faster.
  void fill_lines() {
    constexpr int kLine = 8, kMany = 64;
    zeros = size() < kMany ? 0 : (kLine - size() % kLine) % kLine;
  }
  void add(int r, int c) {
    row.push_back(r);
    col.push_back(c);
  }
  /// Where the matrix has entry k, counted column by column.
  int place(int k) const {
    return row[static_cast<std::size_t>(k)] + col[static_cast<std::size_t>(k)] * rows;
  }

  /// The whole matrix, column by column, from its entries: zeros where there is none.
  template <typename T>
  void expand(const T* entries, T* matrix) const {
    std::fill_n(matrix, rows * cols, T(0));
    for (int k = 0; k < size(); ++k) {
      const int r = row[static_cast<std::size_t>(k)], c = col[static_cast<std::size_t>(k)];
      matrix[r + c * rows] = entries[k];
      if (symmetric) matrix[c + r * rows] = entries[k];
    }
  }
  /// The other way.
  template <typename T>
  void gather(const T* matrix, T* entries) const {
    for (int k = 0; k < size(); ++k) entries[k] = matrix[place(k)];
    std::fill_n(entries + size(), zeros, T(0));
  }
};

}  // namespace limb::codegen
