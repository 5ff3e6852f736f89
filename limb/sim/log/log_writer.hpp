#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "limb/math/scalar.hpp"

/// Log files of a run, in formats that other tools read (docs/simulation.md).
namespace limb {

/// A topic: values that are logged together.
struct LogTopic {
  enum class Kind {
    numbers,  ///< one per field; a dot in a name makes groups: "q.elbow"
    // For viewers, in the schemas of Foxglove; not in CSV files.
    frame_transforms,  ///< per field, a frame: position and quaternion xyzw of its pose in the
                       ///< world
    joint_states,      ///< per field, a joint: position, velocity and effort
    arrows,            ///< without fields; per arrow: a point and a vector, m
  };
  std::string name;
  std::vector<std::string> fields;
  Kind kind = Kind::numbers;
  /// Unit per field: "rad", "m/s^2", "1" for a ratio or a number. Empty: unknown. In the schema of
  /// an MCAP file.
  std::vector<std::string> units = {};
};

/// A file inside an MCAP log.
struct LogAttachment {
  std::string name, media_type, data;
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
                                    const std::map<std::string, std::string>& metadata,
                                    const std::vector<LogAttachment>& attachments = {});

/// A sequentially written file; every failure is an Error. After one, e.g. on a full disk, the file
/// ends with the last whole piece and the ending, and is closed.
class LogFile {
 public:
  /// @param ending  written by close(), and after an error.
  LogFile(std::string call, const std::filesystem::path& path, std::string ending = {});
  /// Closes the file and ignores errors.
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  /// Adds a piece that readers need as a whole: a row, a record or a chunk.
  void write(std::string_view piece);
  /// All pieces are in the file. @param provisional  follows them until more is written; left out
  /// where it does not fit, and in pipes and devices.
  void flush(std::string_view provisional = {});
  /// With the ending. Does nothing after an error, which has been thrown before.
  void close() { close(ending_); }
  /// With another ending; that of the constructor is still the one after an error.
  void close(std::string_view ending);

 private:
  [[noreturn]] void fail_write(int code);
  /// Writes bytes; the error number of a failure, or 0. Adds to size_ what was written.
  int write_bytes(std::string_view bytes);
  /// Shortens the file so that the ending fits, and writes it.
  void repair();

  std::string call_, path_, ending_;
  int file_;                         ///< descriptor, -1: closed
  std::uint64_t size_ = 0;           ///< bytes in the file, without provisional ones
  bool provisional_ = false;         ///< there are some
  std::string buffer_;               ///< not yet in the file
  std::vector<std::uint64_t> ends_;  ///< of the newest pieces, from the start of the file
};

std::unique_ptr<LogWriter> make_csv_writer(std::unique_ptr<LogFile> file,
                                           std::vector<LogTopic> topics);
/// The last records of an MCAP file without summary: the ending of its LogFile after an error.
std::string mcap_ending();
std::unique_ptr<LogWriter> make_mcap_writer(std::unique_ptr<LogFile> file,
                                            std::vector<LogTopic> topics,
                                            const std::map<std::string, std::string>& metadata,
                                            const std::vector<LogAttachment>& attachments = {});

}  // namespace limb
