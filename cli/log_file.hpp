#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Logs of `limb simulate`, read back.
namespace limb::cli {

/// What was logged together: one time for each row, one list of values for each field.
struct LogSeries {
  std::string topic;
  std::vector<std::string> fields;  ///< "q.elbow"
  std::vector<double> t;
  std::vector<std::vector<double>> values;  ///< NaN where there is none
};

struct LogData {
  std::map<std::string, std::string> metadata;  ///< of MCAP logs
  std::vector<LogSeries> series;

  /// Null where there is no such topic.
  const LogSeries* find(const std::string& topic) const;
};

/// A .csv or .mcap log; one that was cut off is read up to there.
/// @throws Error that names the file, and the line of a CSV file, where it is something else.
LogData read_log(const std::string& call, const std::string& path);
/// The same of its bytes; the path tells the format, and is for messages.
LogData parse_log(const std::string& call, const std::string& path, std::string_view bytes);

}  // namespace limb::cli
