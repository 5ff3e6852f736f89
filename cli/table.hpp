#pragma once

#include <span>
#include <string>
#include <vector>

/// Aligned tables for the terminal.
namespace limb::cli {

/// Numbers as text in one format: six decimals, or scientific if the largest is below 0.001 or
/// above 1e6. Zero has no minus sign; a number that does not exist (NaN) is "-".
std::vector<std::string> to_cells(std::span<const double> values);
/// One number in the same format.
std::string to_cell(double value);

/// A title, column headings and rows; the first column is left aligned, the others right aligned.
/// Each row starts with its label; missing cells are empty.
class Table {
 public:
  Table(std::string title, std::vector<std::string> heads);
  void add(std::vector<std::string> row);
  /// A label followed by numbers in one format.
  void add(const std::string& label, std::span<const double> values);
  std::string text() const;

 private:
  std::string title_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace limb::cli
