#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <string_view>

#include "limb/base/mcap/records.hpp"

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

/// Reads a file in its order, one chunk at a time. A file that ends early is read up to its last
/// complete record or chunk. Messages of unknown channels are ignored.
class Reader {
 public:
  /// @param path  for messages.
  Reader(std::string call, std::string path, std::istream& stream);

  /// Visits what comes next, up to and including one message. @returns false at the end of the
  /// file.
  /// @throws Error "call: path ..." if it is not an MCAP file, or a chunk is damaged, too large
  /// (256 MiB) or compressed in an unknown way.
  bool next(Visitor& visitor);

 private:
  /// The next bytes of the file; false if there are fewer.
  bool read(std::uint64_t size, std::string& bytes);
  void start_chunk(std::string_view content, std::uint64_t offset);
  /// @returns whether it was a message of a known channel.
  bool visit(Opcode kind, std::string_view content, Visitor& visitor);

  std::string call_, path_;
  std::istream& stream_;
  bool started_ = false, ended_ = false;
  std::uint64_t offset_ = 0;  ///< bytes read
  std::uint64_t chunks_ = 0;  ///< bytes of all chunks, uncompressed
  std::string content_;       ///< of a record outside of chunks
  std::string chunk_;         ///< uncompressed
  std::size_t chunk_at_ = 0;  ///< next record in it
  std::map<std::uint64_t, Schema> schemas_;
  std::map<std::uint16_t, Channel> channels_;
};

}  // namespace limb::mcap
