#pragma once

#include <istream>
#include <memory>
#include <string>

#include "cli/log_file.hpp"

namespace limb::cli {

/// An MCAP log of limb or of others: messages in JSON and of ROS 1 and 2. Each number of a message
/// is a field: objects and arrays are joined by dots, "header.stamp.sec", "position.0"; arrays
/// beside a list of names by those: "position.elbow". The time is the field t in logs of limb,
/// otherwise that at which the message was logged, from the first one on.
class McapLogReader {
 public:
  McapLogReader(const std::string& call, const std::string& path, std::istream& stream);
  ~McapLogReader();
  McapLogReader(McapLogReader&&) noexcept;

  /// Adds at least `rows` further messages to the log, which is the same in all calls; more if they
  /// have the same time. Rows that are there may be removed between calls. Fields that a message
  /// lacks are NaN. @returns the number of messages, 0 at the end.
  /// @throws Error if it is not an MCAP file, or damaged, or if no topic can be read.
  std::size_t next(LogData& log, std::size_t rows);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace limb::cli
