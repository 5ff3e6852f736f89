#include "limb/base/mcap/mcap_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "limb/base/error.hpp"
#include "limb/base/mcap/compression.hpp"

namespace limb::mcap {
namespace {

/// Largest chunk, and largest sum of all chunks, uncompressed: a small file can claim any size.
constexpr std::uint64_t kMaxChunk = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 40;

}  // namespace

Reader::Reader(std::string call, std::string path, std::istream& stream)
    : call_(std::move(call)), path_(std::move(path)), stream_(stream) {}

bool Reader::read(std::uint64_t size, std::string& bytes) {
  // In parts, because a damaged file can claim any size.
  constexpr std::uint64_t kPart = 1 << 20;
  bytes.clear();
  while (bytes.size() < size) {
    const std::size_t part = std::min(kPart, size - bytes.size()), before = bytes.size();
    bytes.resize(before + part);
    if (!stream_.read(bytes.data() + before, static_cast<std::streamsize>(part))) return false;
  }
  offset_ += size;
  return true;
}

bool Reader::next(Visitor& visitor) {
  if (!std::exchange(started_, true)) {
    if (!read(kMagic.size(), content_) || content_ != kMagic) {
      throw Error(fmt::format("{}: {} is not an MCAP file", call_, path_));
    }
  }
  while (!ended_) {
    // Records of the chunk.
    const std::string_view rest = std::string_view(chunk_).substr(chunk_at_);
    if (rest.size() >= kRecordHead) {
      RecordReader head(rest);
      const auto kind = static_cast<Opcode>(head.number(1));
      const std::uint64_t length = head.number(8);
      if (length <= rest.size() - kRecordHead) {
        chunk_at_ += kRecordHead + length;
        if (visit(kind, rest.substr(kRecordHead, length), visitor)) return true;
        continue;
      }
    }
    chunk_.clear();
    chunk_at_ = 0;

    const std::uint64_t start = offset_;
    ended_ = !read(kRecordHead, content_);
    if (ended_) break;
    RecordReader head(content_);
    const auto kind = static_cast<Opcode>(head.number(1));
    const std::uint64_t length = head.number(8);
    // The summary after the end of the data repeats what was read.
    ended_ = kind == Opcode::data_end || kind == Opcode::footer || !read(length, content_);
    if (ended_) break;
    if (kind == Opcode::chunk) {
      start_chunk(content_, start);
    } else if (visit(kind, content_, visitor)) {
      return true;
    }
  }
  return false;
}

bool Reader::visit(Opcode kind, std::string_view bytes, Visitor& visitor) {
  RecordReader content(bytes);
  if (kind == Opcode::metadata) {
    const std::string name(content.text());
    visitor.metadata(name, content.map());
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
    if (is_new) visitor.channel(added->second);
  } else if (kind == Opcode::message) {
    const auto channel = channels_.find(static_cast<std::uint16_t>(content.number(2)));
    Message message;
    message.sequence = static_cast<std::uint32_t>(content.number(4));
    message.log_time = content.number(8);
    message.publish_time = content.number(8);
    message.data = content.rest();
    if (channel == channels_.end()) return false;
    visitor.message(channel->second, message);
    return true;
  }
  return false;
}

void Reader::start_chunk(std::string_view bytes, std::uint64_t offset) {
  const std::string what = fmt::format("{}: the chunk at byte {}", path_, offset);
  RecordReader content(bytes);
  content.next(16);  // times
  const std::uint64_t size = content.number(8);
  const auto crc = static_cast<std::uint32_t>(content.number(4));
  const std::string compression(content.text());
  const std::string_view records = content.next(content.number(8));
  if (size > kMaxChunk || (chunks_ += size) > kMaxChunks) {
    throw Error(fmt::format("{}: {} has {} bytes, expected at most {}, and {} in all chunks", call_,
                            what, size, kMaxChunk, kMaxChunks));
  }
  chunk_ = decompress(call_, what, records, compression, size);
  if (crc != 0 && crc != crc32(chunk_)) {
    throw Error(fmt::format("{}: {} is damaged: its checksum is wrong", call_, what));
  }
}

}  // namespace limb::mcap
