#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Reader for logs: CSV of limb, MCAP of limb and of others (mcap_log.hpp).
namespace limb::cli {

/// One topic: a time per row, a list of values per field.
struct LogSeries {
  std::string topic;
  std::vector<std::string> fields;  ///< "q.elbow"
  std::vector<double> t;
  std::vector<std::vector<double>> values;  ///< NaN if missing
};

struct LogData {
  std::map<std::string, std::string> metadata;  ///< of MCAP logs of limb
  std::vector<LogSeries> series;
  std::vector<std::string> skipped;  ///< topics that cannot be read, with the reason

  /// Null if there is no such topic.
  const LogSeries* find(const std::string& topic) const;
};

/// Reads a .csv or .mcap log; a truncated file is read up to its last complete row.
/// @throws Error that names the file, and the line of a CSV file, if it is not a log.
LogData read_log(const std::string& call, const std::string& path);
/// The same from memory; the path gives the format and is used in messages.
LogData parse_log(const std::string& call, const std::string& path, std::string_view bytes);

}  // namespace limb::cli
