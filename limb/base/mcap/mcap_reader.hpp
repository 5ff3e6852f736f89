#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// Reader for MCAP files of any writer: with or without chunks (zstd, lz4, none), index and
/// checksums.
namespace limb::mcap {

struct Schema {
  std::string name;      ///< "sensor_msgs/msg/JointState"
  std::string encoding;  ///< "jsonschema", "ros2msg", "ros1msg", "protobuf", ...
  std::string data;
};

struct Channel {
  std::uint16_t id = 0;
  std::string topic;             ///< "/joint_states"
  std::string message_encoding;  ///< "json", "cdr", "ros1", ...
  Schema schema;                 ///< empty: none
};

struct Message {
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0, publish_time = 0;  ///< ns
  std::string_view data;
};

/// Gets the content of a file, in its order.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void metadata(const std::string& name, const std::map<std::string, std::string>& map) = 0;
  /// A channel that is new; it stays valid until the end of the file.
  virtual void channel(const Channel& channel) = 0;
  virtual void message(const Channel& channel, const Message& message) = 0;
};

/// A file that ends early is read up to its last complete record or chunk. Messages of unknown
/// channels are ignored. @throws Error "call: path ..." if it is not an MCAP file, or a chunk is
/// damaged, too large (256 MiB) or compressed in an unknown way.
void read_mcap(std::string_view call, std::string_view path, std::string_view bytes,
               Visitor& visitor);

}  // namespace limb::mcap
