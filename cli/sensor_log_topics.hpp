#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/log_file.hpp"
#include "limb/model/model.hpp"

/// Topics of a log, found by their names and fields; their newest rows at a time.
namespace limb::cli {

using Names = std::vector<std::string>;

/// "a, b, c"
std::string joined(const Names& names);
Names topics_of(const LogData& log);
/// -1 where there is none.
int field_of(const LogSeries& series, const std::string& name);
/// Whether it has rows, and all of these fields.
bool has_fields(const LogSeries& series, const Names& names);
Names prefixed(const std::string& prefix, Names names);

/// Index of the newest row at or before a time, never going back; the first one before it.
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

/// What the log says about each foot: 0 or 1 of switches, or newtons.
class FootReadings {
 public:
  /// In this order: a topic with a field for each foot; for each foot a sensor (`touches`, or a
  /// force) whose topic has its name; the contact forces that a simulation logs, of the foot or of
  /// anything else on its body. Nothing where there is none of them for some foot.
  /// @param given  instead: one topic for all feet, or one for each.
  /// @throws Error "call: ..." if a given topic is not there or tells nothing of a foot.
  static std::optional<FootReadings> find(const std::string& call, const LogData& log,
                                          const Model<double>& model, const Names& feet,
                                          const Names& given);
  /// In time order.
  std::vector<double> at(double t);
  const std::string& notice() const { return notice_; }

 private:
  struct Foot {
    NewestRow rows;
    std::vector<int> fields;  ///< one number, or the three of a force
  };
  /// A sensor of one foot: a switch or a force.
  static std::optional<Foot> sensor(const LogSeries& series);

  std::vector<Foot> feet_;
  std::string notice_;
};

}  // namespace limb::cli
