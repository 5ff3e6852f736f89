#pragma once

#include <string>
#include <string_view>

#include "cli/log_file.hpp"

namespace limb::cli {

/// An MCAP log of limb or of others: messages in JSON and of ROS 1 and 2. Each number of a message
/// is a field: objects and arrays are joined by dots, "header.stamp.sec", "position.0"; arrays
/// beside a list of names by those: "position.elbow". The time is the field t in logs of limb,
/// otherwise that at which the message was logged, from the first one on.
/// @throws Error if it is not an MCAP file or damaged, or if no topic can be read.
LogData read_mcap_log(const std::string& call, const std::string& path, std::string_view bytes);

}  // namespace limb::cli
