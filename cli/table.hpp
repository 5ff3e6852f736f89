#pragma once

#include <span>
#include <string>
#include <vector>

/// Aligned tables for the terminal.
namespace limb::cli {

/// The numbers as text of one width of decimals: fixed with six decimals, or scientific when the
/// largest is below 0.001 or above 1e6. Zero never has a minus sign.
std::vector<std::string> to_cells(std::span<const double> values);
/// One number by the same rule.
std::string to_cell(double value);

/// A title line, a line of column heads and rows; the first column is left, the rest right aligned.
/// Each row starts with its label; missing cells are empty.
class Table {
 public:
  Table(std::string title, std::vector<std::string> heads);
  void add(std::vector<std::string> row);
  /// A label followed by numbers that share one format.
  void add(const std::string& label, std::span<const double> values);
  std::string text() const;

 private:
  std::string title_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace limb::cli
