#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Reader for logs: CSV of limb, MCAP of limb and of others (mcap_log.hpp).
namespace limb::cli {

class McapLogReader;

/// One topic: a time per row, a list of values per field.
struct LogSeries {
  std::string topic;
  std::vector<std::string> fields;  ///< "q.elbow"
  std::vector<double> t;
  std::vector<std::vector<double>> values;  ///< NaN if missing
  std::size_t carried = 0;                  ///< leading rows that belong to the previous part
  std::vector<std::string> units = {};      ///< of the fields, "rad"; empty: unknown
};

struct LogData {
  std::map<std::string, std::string> metadata;  ///< of MCAP logs of limb
  std::vector<LogSeries> series;
  std::vector<std::string> skipped;  ///< topics that cannot be read, with the reason

  /// Null if there is no such topic.
  const LogSeries* find(const std::string& topic) const;
};

/// Reads a .csv or .mcap log; a truncated file is read up to its last complete row or chunk.
/// @throws Error that names the file, and the line of a CSV file, if it is not a log.
LogData read_log(const std::string& call, const std::string& path);
/// The same from memory; the path gives the format and is used in messages.
LogData parse_log(const std::string& call, const std::string& path, std::string_view bytes);

/// A log that is read in parts, so that memory does not depend on its length.
class LogStream {
 public:
  /// @param time  name of the column of time of a CSV file, and its unit in seconds.
  LogStream(const std::string& call, const std::string& path, std::unique_ptr<std::istream> stream,
            const std::string& time = "t", double unit = 1);
  LogStream(LogStream&&) noexcept;
  ~LogStream();
  /// Opens a file. @throws Error if it cannot be read.
  static LogStream open(const std::string& call, const std::string& path,
                        const std::string& time = "t", double unit = 1);

  /// Reads up to `rows` further rows into the log; each topic starts with its last row of the
  /// previous part. @returns false at the end, with nothing read.
  /// @throws Error that names the file, and the line of a CSV file, if it is not a log.
  bool next(LogData& log, std::size_t rows);
  std::uint64_t rows() const { return total_; }

 private:
  void read_names();
  bool next_csv(LogData& log, std::size_t rows);
  bool next_mcap(LogData& log, std::size_t rows);

  std::string call_, path_, time_;
  double unit_;
  std::unique_ptr<std::istream> stream_;
  bool is_mcap_, started_ = false;
  int line_ = 0;
  std::size_t columns_ = 0, time_column_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> fields_;  ///< series and field of each column
  std::unique_ptr<McapLogReader> mcap_;
};

}  // namespace limb::cli
