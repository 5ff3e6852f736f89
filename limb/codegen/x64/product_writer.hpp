#pragma once

#include <map>
#include <utility>
#include <vector>

#include "limb/codegen/record/split.hpp"
#include "limb/codegen/x64/result_writer.hpp"

namespace limb::codegen {

/// Products of matrices in lanes, tile by tile: the sums of a tile stay in registers, its factors
/// are read from the frame at offsets given by a table. One loop for each shape of tile.
class ProductWriter {
 public:
  struct Tile {
    const Product* product;
    int row, rows, column, columns;
    long cost() const { return (product->inner + 1L) * rows * columns; }
  };

  ProductWriter(Machine& machine, const Split& split)
      : machine_(machine), tiles_(tiles_of(split, machine.target())) {}

  const std::vector<Tile>& tiles() const { return tiles_; }
  /// Calls the loop of a tile. r10 points to the frame; `places` are the offsets of all numbers.
  void write(const Tile& tile, const std::vector<std::int32_t>& places);
  /// The loops; must follow a return.
  void write_routines();

  /// Bytes of tables, and of code, for all tiles.
  static std::size_t table_bytes(const Split& split, const Target& target);
  static std::size_t code_bytes(const Split& split, const Target& target);

 private:
  static std::vector<Tile> tiles_of(const Split& split, const Target& target);
  void write_loop(int rows, int columns);

  Machine& machine_;
  std::vector<Tile> tiles_;
  std::map<std::pair<int, int>, Xbyak::Label> loops_;  ///< by shape
};

/// Which portions of results to write after each tile: finished results, spread evenly over the
/// work, so that stores overlap with computation.
std::vector<std::vector<ResultWriter::Portion>> spread_portions(
    const std::vector<ProductWriter::Tile>& tiles, const Split& split, const ResultWriter& results);

}  // namespace limb::codegen
