#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"

namespace limb::cli {

/// Names under which a log has what a reader expects: for each target topic and field the column of
/// the log, with a factor.
struct LogMap {
  struct Entry {
    std::string topic, field;  ///< expected: "imu", "wx"
    std::string source;        ///< in the log: "gyro.x"
    double factor = 1;
    std::string place;  ///< for messages: "map.toml:3", "--map"
  };
  std::vector<Entry> entries;
  std::string time = "t";  ///< column of time of a CSV log
  double time_unit = 1;    ///< s

  bool empty() const { return entries.empty(); }
};

/// Reads mappings: a TOML file with a table per topic (imu.wx = "0.0175*gyro.x", t = "1e-9*stamp"),
/// or texts TOPIC.FIELD=SOURCE. @throws Error "call: file:line: ...".
LogMap read_log_map(const std::string& call, const std::vector<std::string>& given);

/// Adds the target topics to a log, in place of topics of the same name. @throws Error if a source
/// does not exist, or the fields of one topic have different times.
void apply_map(const std::string& call, const LogMap& map, LogData& log);

}  // namespace limb::cli
