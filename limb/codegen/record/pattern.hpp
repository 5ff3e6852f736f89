#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace limb::codegen {

/// Which entries of a matrix a result has, in order. Zeros may follow them.
class Pattern {
 public:
  Pattern() = default;
  Pattern(int r, int c, bool is_symmetric) : rows(r), cols(c), symmetric(is_symmetric) {}

  int rows = 0, cols = 0;     ///< of the matrix
  bool symmetric = false;     ///< entries below the diagonal equal those above
  std::vector<int> row, col;  ///< of each entry
  int zeros = 0;              ///< after the entries

  int size() const { return static_cast<int>(row.size()); }
  /// Numbers of the result: entries and zeros.
  int length() const { return size() + zeros; }
  /// Pads rows of many entries to whole cache lines, which are written faster.
  void pad_to_cache_lines() {
    constexpr int kLine = 8, kMany = 64;
    zeros = size() < kMany ? 0 : (kLine - size() % kLine) % kLine;
  }
  void add(int r, int c) {
    row.push_back(r);
    col.push_back(c);
    const int to = r + c * rows;
    if (runs_.empty() || runs_.back().index + runs_.back().count != to) runs_.push_back({to, 0});
    ++runs_.back().count;
  }
  /// The index of entry k in the matrix, column by column.
  int index(int k) const {
    return row[static_cast<std::size_t>(k)] + col[static_cast<std::size_t>(k)] * rows;
  }

  /// The full matrix, column by column, from its entries; zeros elsewhere.
  template <typename T>
  void expand(const T* entries, T* matrix) const {
    std::fill_n(matrix, rows * cols, T(0));
    for (int k = 0; k < size(); ++k) {
      const int r = row[static_cast<std::size_t>(k)], c = col[static_cast<std::size_t>(k)];
      matrix[r + c * rows] = entries[k];
      if (symmetric) matrix[c + r * rows] = entries[k];
    }
  }
  /// The entries of a full matrix.
  template <typename T>
  void gather(const T* matrix, T* entries) const {
    for (const Run& run : runs_) entries = std::copy_n(matrix + run.index, run.count, entries);
    std::fill_n(entries, zeros, T(0));
  }

 private:
  /// Entries that are adjacent in the matrix, too.
  struct Run {
    int index, count;
  };
  std::vector<Run> runs_;
};

}  // namespace limb::codegen
