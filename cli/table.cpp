#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace limb::cli {

std::vector<std::string> to_cells(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
  }
  const bool fixed = largest == 0 || (largest >= 1e-3 && largest < 1e6);
  std::vector<std::string> cells;
  for (const double value : values) {
    if (std::isnan(value)) {
      cells.emplace_back("-");
      continue;
    }
    std::string cell = fixed ? fmt::format("{:.6f}", value) : fmt::format("{:.5e}", value + 0.0);
    if (cell == "-0.000000") cell = "0.000000";
    cells.push_back(cell);
  }
  return cells;
}

std::string to_cell(double value) {
  return to_cells({&value, 1}).front();
}

Table::Table(std::string title, std::vector<std::string> heads)
    : title_(std::move(title)), rows_{std::move(heads)} {}

void Table::add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

void Table::add(const std::string& label, std::span<const double> values) {
  std::vector<std::string> row = to_cells(values);
  row.insert(row.begin(), label);
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text = title_ + "\n";
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? fmt::format("  {:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace limb::cli
