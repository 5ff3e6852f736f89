#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// Records of MCAP files (mcap.dev/spec): magic bytes, then records of one byte of kind, eight
/// bytes of length, and content. Numbers are little-endian; texts have their length in four bytes
/// in front.
namespace limb::mcap {

inline constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);

enum class Opcode : unsigned char {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  chunk = 0x06,
  message_index = 0x07,
  chunk_index = 0x08,
  attachment = 0x09,
  attachment_index = 0x0a,
  statistics = 0x0b,
  metadata = 0x0c,
  metadata_index = 0x0d,
  summary_offset = 0x0e,
  data_end = 0x0f,
};

/// Kind and length of a record, before its content.
inline constexpr std::size_t kRecordHead = 9;

template <typename Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(number) >> (8 * i)) & 0xff);
  }
}
inline void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}
inline void put_map(std::string& bytes, const std::map<std::string, std::string>& map) {
  std::string pairs;
  for (const auto& [key, value] : map) {
    put_text(pairs, key);
    put_text(pairs, value);
  }
  put_text(bytes, pairs);
}
inline void put_record(std::string& bytes, Opcode kind, std::string_view content) {
  put(bytes, static_cast<unsigned char>(kind));
  put(bytes, static_cast<std::uint64_t>(content.size()));
  bytes += content;
}

/// Reads the content of a record; beyond its end everything is zero or empty.
class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && i < bytes_.size(); ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(std::min(size, bytes_.size()));
    return value;
  }
  std::string_view text() { return next(number(4)); }
  std::map<std::string, std::string> map() {
    RecordReader pairs(text());
    std::map<std::string, std::string> result;
    while (!pairs.empty()) {
      const std::string key(pairs.text());
      result[key] = std::string(pairs.text());
    }
    return result;
  }
  /// The next `size` bytes, or fewer at the end.
  std::string_view next(std::uint64_t size) {
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(result.size());
    return result;
  }
  std::string_view rest() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace limb::mcap
