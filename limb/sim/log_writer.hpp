#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "limb/math/scalar.hpp"

/// Logs of a run as files that other tools open (docs/simulation.md has the formats).
namespace limb {

/// What is logged together: names of numbers. A dot in a name makes groups: "q.elbow".
struct LogTopic {
  std::string name;
  std::vector<std::string> fields;
};

/// A file that grows while a run goes on. What was written before the last flush is readable
/// whatever happens to the program afterwards.
class LogWriter {
 public:
  virtual ~LogWriter() = default;
  /// Values of a topic at a time. @throws Error (computation failed) if the disk is full.
  virtual void write(std::size_t topic, double t, const VectorX<double>& values) = 0;
  /// All topics have been written for this time.
  virtual void end_row(double) {}
  virtual void flush() = 0;
  /// The run is over; also done, without errors, when the writer goes away.
  virtual void finish() = 0;
};

/// CSV (.csv) or MCAP (.mcap), by the ending. @throws Error for another ending, or a file that
/// cannot be written.
std::unique_ptr<LogWriter> open_log(const std::string& call, const std::filesystem::path& path,
                                    std::vector<LogTopic> topics,
                                    const std::map<std::string, std::string>& metadata);

/// A file that is written from begin to end, every failure an Error.
class LogFile {
 public:
  LogFile(std::string call, const std::filesystem::path& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  void write(std::string_view bytes);
  void flush();
  void close();

 private:
  [[noreturn]] void fail_write() const;
  std::string call_, path_;
  std::FILE* file_;
};

std::unique_ptr<LogWriter> make_csv_writer(std::unique_ptr<LogFile> file,
                                           std::vector<LogTopic> topics);
std::unique_ptr<LogWriter> make_mcap_writer(std::unique_ptr<LogFile> file,
                                            std::vector<LogTopic> topics,
                                            const std::map<std::string, std::string>& metadata);

}  // namespace limb
