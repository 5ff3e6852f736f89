#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "limb/math/scalar.hpp"

/// Log files of a run, in formats that other tools read (docs/simulation.md).
namespace limb {

/// A topic: names of the numbers that are logged together. A dot in a name makes groups: "q.elbow".
struct LogTopic {
  std::string name;
  std::vector<std::string> fields;
};

/// A log file, written during a run. All data before the last flush is readable even if the program
/// crashes afterwards.
class LogWriter {
 public:
  virtual ~LogWriter() = default;
  /// Values of a topic at a time. @throws Error (computation failed) if the disk is full.
  virtual void write(std::size_t topic, double t, const VectorX<double>& values) = 0;
  /// All topics have been written for this time.
  virtual void end_row(double) {}
  virtual void flush() = 0;
  /// Ends the file; the destructor does the same and ignores errors.
  virtual void finish() = 0;
};

/// CSV (.csv) or MCAP (.mcap), by the extension. @throws Error for another extension, or a file
/// that cannot be written.
std::unique_ptr<LogWriter> open_log(const std::string& call, const std::filesystem::path& path,
                                    std::vector<LogTopic> topics,
                                    const std::map<std::string, std::string>& metadata);

/// A sequentially written file; every failure is an Error.
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
