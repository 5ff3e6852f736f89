#include "limb/codegen/x64/product_writer.hpp"

#include <algorithm>
#include <numeric>

namespace limb::codegen {
namespace {

constexpr int kEntry = static_cast<int>(sizeof(std::int32_t));

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Sums, factors of each row and one factor of a column fill the registers except two, which moving
/// rows needs.
struct TileShape {
  int rows, columns;
};
TileShape largest_tile(const Target& target) {
  return target.isa == Isa::avx512 ? TileShape{4, 6} : TileShape{3, 4};
}

/// Splits `count` into parts of at most `max`, as equal as possible: the start of part i.
int start_of(int count, int max, int i) {
  const int parts = (count + max - 1) / max;
  return count / parts * i + std::min(i, count % parts);
}

}  // namespace

std::vector<ProductWriter::Tile> ProductWriter::tiles_of(const Split& split, const Target& target) {
  const TileShape max = largest_tile(target);
  std::vector<Tile> tiles;
  for (const Product& p : split.products) {
    if (p.rows == 0 || p.columns == 0) continue;
    const int down = (p.rows + max.rows - 1) / max.rows;
    const int across = (p.columns + max.columns - 1) / max.columns;
    for (int j = 0; j < across; ++j) {
      const int c = start_of(p.columns, max.columns, j);
      const int c_end = start_of(p.columns, max.columns, j + 1);
      for (int i = 0; i < down; ++i) {
        const int r = start_of(p.rows, max.rows, i), r_end = start_of(p.rows, max.rows, i + 1);
        tiles.push_back({&p, r, r_end - r, c, c_end - c});
      }
    }
  }
  return tiles;
}

std::size_t ProductWriter::table_bytes(const Split& split, const Target& target) {
  std::size_t bytes = 0;
  for (const Tile& t : tiles_of(split, target)) {
    bytes += at(kEntry * (t.product->inner * (t.rows + t.columns) + t.rows * t.columns));
  }
  return bytes;
}

std::size_t ProductWriter::code_bytes(const Split& split, const Target& target) {
  // Calls of tiles, with portions of results between them; loops of all shapes.
  const std::size_t shapes = at(largest_tile(target).rows * largest_tile(target).columns);
  return 1024 + 256 * tiles_of(split, target).size() + 1024 * shapes;
}

void ProductWriter::write(const Tile& t, const std::vector<std::int32_t>& places) {
  const Product& p = *t.product;
  std::vector<std::int32_t> table;
  for (int k = 0; k < p.inner; ++k) {
    for (int r = 0; r < t.rows; ++r) table.push_back(places[at(p.left_at(t.row + r, k))]);
    for (int c = 0; c < t.columns; ++c) table.push_back(places[at(p.right_at(k, t.column + c))]);
  }
  for (int c = 0; c < t.columns; ++c) {
    for (int r = 0; r < t.rows; ++r) {
      table.push_back(places[at(p.result_at(t.row + r, t.column + c))]);
    }
  }
  Machine& m = machine_;
  m.lea(m.r8, m.ptr[m.table(table)]);
  m.lea(m.r9, m.ptr[m.r8 + p.inner * (t.rows + t.columns) * kEntry]);
  m.call(loops_[{t.rows, t.columns}]);
}

/// From r8 to r9 are, for each inner index, the offsets of a column of the left and of a row of the
/// right factor; from r9 on those of the results.
void ProductWriter::write_loop(int rows, int columns) {
  Machine& m = machine_;
  const int sums = rows * columns, right = sums + rows;
  const auto next_place = [&](int i) {
    m.mov(m.eax, m.ptr[m.r8 + i * kEntry]);
    return m.ptr[m.r10 + m.rax];
  };
  for (int i = 0; i < sums; ++i) m.clear(i);
  Xbyak::Label next, done;
  m.L(next);
  m.cmp(m.r8, m.r9);
  m.jae(done, m.T_NEAR);
  for (int r = 0; r < rows; ++r) m.load(sums + r, next_place(r));
  for (int c = 0; c < columns; ++c) {
    m.load(right, next_place(rows + c));
    for (int r = 0; r < rows; ++r) {
      m.fused(Opcode::fnma, Machine::FmaOrder::by231, c * rows + r, sums + r, m.vector(right),
              false);
    }
  }
  m.add(m.r8, (rows + columns) * kEntry);
  m.jmp(next);
  m.L(done);
  for (int i = 0; i < sums; ++i) m.store(next_place(i), i);
  m.ret();
}

void ProductWriter::write_routines() {
  for (auto& [shape, label] : loops_) {
    machine_.L(label);
    write_loop(shape.first, shape.second);
  }
}

std::vector<std::vector<ResultWriter::Portion>> spread_portions(
    const std::vector<ProductWriter::Tile>& tiles, const Split& split,
    const ResultWriter& results) {
  // The tile that computes a number; -1: before all of them.
  std::vector<int> computed_by(at(split.size), -1);
  long work = 0;
  for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
    const auto& tile = tiles[at(t)];
    work += tile.cost();
    for (int c = 0; c < tile.columns; ++c) {
      for (int r = 0; r < tile.rows; ++r) {
        computed_by[at(tile.product->result_at(tile.row + r, tile.column + c))] = t;
      }
    }
  }
  struct Step {
    int after, array, number;
  };
  std::vector<Step> steps;
  std::size_t start = 0;
  for (int a = 0; a < static_cast<int>(split.outputs.size()); ++a) {
    const int size = split.outputs[at(a)].size();
    for (int g = 0; g < results.step_count(a); ++g) {
      int after = -1;
      const int last = std::min(results.last_entry(a, g), size - 1);
      for (int e = results.first_entry(a, g); e <= last; ++e) {
        after = std::max(after, computed_by[at(split.results[start + at(e)])]);
      }
      steps.push_back({after, a, g});
    }
    start += at(size);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& x, const Step& y) { return x.after < y.after; });
  std::vector<std::vector<ResultWriter::Portion>> portions(tiles.size());
  std::size_t next = 0;
  long done = 0;
  for (int t = 0; t < static_cast<int>(tiles.size()); ++t) {
    done += tiles[at(t)].cost();
    const bool last = t + 1 == static_cast<int>(tiles.size());
    const std::size_t due =
        last ? steps.size()
             : static_cast<std::size_t>(static_cast<long>(steps.size()) * done / work);
    for (; next < due && steps[next].after <= t; ++next) {
      auto& now = portions[at(t)];
      const Step& g = steps[next];
      if (!now.empty() && now.back().array == g.array &&
          now.back().first + now.back().steps == g.number) {
        ++now.back().steps;
      } else {
        now.push_back({g.array, g.number, 1});
      }
    }
  }
  return portions;
}

}  // namespace limb::codegen
