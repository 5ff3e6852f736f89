#include "limb/codegen/cuda/split_results.hpp"

#include <algorithm>

#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/lower/register_order.hpp"

namespace limb::codegen {
namespace {

/// Columns of each matrix in `count` groups of neighbours; vectors are in the first.
std::vector<std::vector<int>> deal(const Trace& trace, int count) {
  std::vector<std::vector<int>> parts(static_cast<std::size_t>(count));
  int k = 0;
  for (const Array& array : trace.outputs) {
    for (int c = 0; c < array.cols; ++c) {
      const int part = array.cols > 1 ? c * count / array.cols : 0;
      for (int r = 0; r < array.rows; ++r) parts[static_cast<std::size_t>(part)].push_back(k++);
    }
  }
  std::erase_if(parts, [](const std::vector<int>& part) { return part.empty(); });
  return parts;
}

/// What a part takes, by its instructions and values.
struct Demand {
  double cost = 0;
  int live = 0;
};

/// Estimated from measurements on an H200 (bench/gpu.md): above 6000 operations a kernel exceeds
/// the instruction cache and takes about 5 times as long per operation, and memory traffic of
/// values that do not fit into registers costs time, too.
Demand demand(const Code& code, const std::vector<std::vector<int>>& parts, int registers) {
  Demand all;
  for (const std::vector<int>& results : parts) {
    const Code part = with_few_registers(with_results(code, results));
    const int live = largest_live(part), operations = part.operation_count();
    const double cached = operations <= 6000 ? 1 : operations <= 16000 ? 5 : 8;
    all.cost += operations * cached * std::max(1.0, double(live) / registers);
    all.live = std::max(all.live, live);
  }
  return all;
}

}  // namespace

ResultParts split_results(const Trace& trace, Precision precision) {
  // A thread has 255 registers of 32 bits, some of which hold addresses.
  const int registers = precision == Precision::f64 ? 120 : 240;
  int columns = 1;
  for (const Array& array : trace.outputs) columns = std::max(columns, array.cols);
  const Code code = lower(trace, {.precision = precision, .range = RangeCheck::nan});
  ResultParts split{deal(trace, 1)};
  Demand best = demand(code, split.parts, registers);
  const bool fits = best.live <= registers && code.operation_count() <= 6000;
  for (int count = 1; !fits && count < columns;) {
    count = std::min(2 * count, columns);
    std::vector<std::vector<int>> parts = deal(trace, count);
    const Demand found = demand(code, parts, registers);
    if (found.cost >= best.cost) continue;
    best = found;
    split.parts = std::move(parts);
  }
  // With more values than registers the compiler's own reordering costs more than it gains.
  if (best.live > registers) split.level = 1;
  return split;
}

}  // namespace limb::codegen
