#include "limb/base/mcap/mcap_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/mcap/compression.hpp"
#include "limb/base/mcap/records.hpp"

namespace limb::mcap {
namespace {

/// Largest chunk, and largest sum of all chunks, uncompressed: a small file can claim any size.
constexpr std::uint64_t kMaxChunk = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxChunks = std::uint64_t{16} << 30;

class Reader {
 public:
  Reader(std::string_view call, std::string_view path, Visitor& visitor)
      : call_(call), path_(path), visitor_(visitor) {}

  /// Records until the end of the bytes or of the data.
  void read(std::string_view bytes, bool in_chunk) {
    const std::size_t size = bytes.size();
    while (bytes.size() >= kRecordHead) {
      RecordReader head(bytes);
      const auto kind = static_cast<Opcode>(head.number(1));
      const std::uint64_t length = head.number(8);
      if (length > bytes.size() - kRecordHead) return;  // truncated
      RecordReader content(bytes.substr(kRecordHead, length));
      // The summary after the end of the data repeats what was read.
      if (kind == Opcode::data_end || kind == Opcode::footer) return;
      if (kind == Opcode::chunk && !in_chunk) {
        read_chunk(content, kMagic.size() + size - bytes.size());
      } else {
        read_record(kind, content);
      }
      bytes.remove_prefix(kRecordHead + length);
    }
  }

 private:
  void read_record(Opcode kind, RecordReader content) {
    if (kind == Opcode::metadata) {
      const std::string name(content.text());
      visitor_.metadata(name, content.map());
    } else if (kind == Opcode::schema) {
      const auto id = content.number(2);
      Schema schema;
      schema.name = content.text();
      schema.encoding = content.text();
      schema.data = content.text();
      schemas_.emplace(id, std::move(schema));
    } else if (kind == Opcode::channel) {
      const auto id = static_cast<std::uint16_t>(content.number(2));
      const auto schema = schemas_.find(content.number(2));
      Channel channel;
      channel.id = id;
      channel.topic = content.text();
      channel.message_encoding = content.text();
      if (schema != schemas_.end()) channel.schema = schema->second;
      const auto [added, is_new] = channels_.emplace(id, std::move(channel));
      if (is_new) visitor_.channel(added->second);
    } else if (kind == Opcode::message) {
      const auto channel = channels_.find(static_cast<std::uint16_t>(content.number(2)));
      Message message;
      message.sequence = static_cast<std::uint32_t>(content.number(4));
      message.log_time = content.number(8);
      message.publish_time = content.number(8);
      message.data = content.rest();
      if (channel != channels_.end()) visitor_.message(channel->second, message);
    }
  }

  void read_chunk(RecordReader content, std::size_t offset) {
    const std::string what = fmt::format("{}: the chunk at byte {}", path_, offset);
    content.next(16);  // times
    const std::uint64_t size = content.number(8);
    const auto crc = static_cast<std::uint32_t>(content.number(4));
    const std::string compression(content.text());
    const std::string_view records = content.next(content.number(8));
    chunks_ += size;
    if (size > kMaxChunk || chunks_ > kMaxChunks) {
      throw Error(fmt::format("{}: {} has {} bytes, expected at most {}, and {} in all chunks",
                              call_, what, size, kMaxChunk, kMaxChunks));
    }
    const std::string bytes = decompress(call_, what, records, compression, size);
    if (crc != 0 && crc != crc32(bytes)) {
      throw Error(fmt::format("{}: {} is damaged: its checksum is wrong", call_, what));
    }
    read(bytes, true);
  }

  std::string_view call_, path_;
  Visitor& visitor_;
  std::map<std::uint64_t, Schema> schemas_;
  std::map<std::uint16_t, Channel> channels_;
  std::uint64_t chunks_ = 0;  ///< bytes, uncompressed
};

}  // namespace

void read_mcap(std::string_view call, std::string_view path, std::string_view bytes,
               Visitor& visitor) {
  if (!bytes.starts_with(kMagic)) {
    throw Error(fmt::format("{}: {} is not an MCAP file", call, path));
  }
  Reader(call, path, visitor).read(bytes.substr(kMagic.size()), false);
}

}  // namespace limb::mcap
