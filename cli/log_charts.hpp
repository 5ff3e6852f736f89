#pragma once

#include <deque>

#include "cli/chart.hpp"
#include "cli/log_file.hpp"
#include "limb/model/core/model.hpp"

namespace limb::cli {

/// The unit of a field: that of the log, or the one that limb gives fields of this name; joints by
/// the model, or null. Empty: not known.
std::string field_unit(const LogSeries& series, std::size_t field, const Model<double>* model);

/// The charts of a log: one unit per chart, floating bases as poses, references with what follows
/// them. Must outlive the figure, whose curves are in the log and here.
class LogCharts {
 public:
  /// @param model  gives the units of joints that a CSV log does not have; or null.
  LogCharts(const LogData& log, const Model<double>* model);

  /// @param only  names of fields or groups of them: "state.q"; empty: all charts but those that
  /// are
  ///              only shown on request.
  void add_to(Figure& figure, const std::vector<std::string>& only) const;

 private:
  struct Line {
    std::string name;
    std::vector<std::string> fields;  ///< "state.q.elbow"; several for the components of a pose
    const std::vector<double>*t, *values;
    bool shown = true;           ///< without request
    std::string reference = {};  ///< of a reference: the field of the line that follows it
  };
  struct Panel {
    std::string title, unit;
    std::vector<Line> lines;
  };

  void add_coordinates(const LogSeries& series, const std::string& prefix);
  /// A joint with a quaternion: fields GROUP.NAME.0 and so on, from the index `first` on.
  void add_pose(const LogSeries& series, const std::string& prefix, const std::string& joint,
                std::size_t first, bool moves);
  void add_torques(const LogSeries& series);
  void add_budget(const LogSeries& series);
  void add_contact(const LogSeries& series);
  void add_others(const LogSeries& series);
  void add(const std::string& title, const LogSeries& series, std::size_t field,
           const std::string& name, bool shown = true, const std::string& reference = {});
  Panel& panel(const std::string& title, const std::string& unit);
  std::string unit_of(const LogSeries& series, std::size_t field) const {
    return field_unit(series, field, model_);
  }

  const LogData& log_;
  const Model<double>* model_;
  std::vector<Panel> panels_;
  std::deque<std::vector<double>> own_;  ///< values that are not in the log, such as angles
};

/// Whether a name equals `prefix` or is below it: "state.q.elbow" is below "state.q".
bool is_below(const std::string& name, const std::string& prefix);

}  // namespace limb::cli
