#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"

/// Topics of a log: search by name and fields, and the newest row at a time.
namespace limb::cli {

using Names = std::vector<std::string>;

/// "a, b, c"
std::string joined(const Names& names);
Names topics_of(const LogData& log);
/// Index of a field, or -1.
int field_of(const LogSeries& series, const std::string& name);
/// Whether the topic has rows and all of these fields.
bool has_fields(const LogSeries& series, const Names& names);
Names prefixed(const std::string& prefix, Names names);

/// Index of the newest row at or before a time, or of the first row. Times must not decrease.
class NewestRow {
 public:
  explicit NewestRow(const LogSeries& series) : series_(&series) {}
  std::size_t at(double t) {
    while (row_ + 1 < series_->t.size() && series_->t[row_ + 1] <= t + 1e-9) ++row_;
    return row_;
  }
  double value(int field, double t) {
    return series_->values[static_cast<std::size_t>(field)][at(t)];
  }

 private:
  const LogSeries* series_;
  std::size_t row_ = 0;
};

}  // namespace limb::cli
