#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Writes the bytes of an MCAP file with compressed chunks, message indexes, checksums and a
/// summary.
namespace limb::mcap {

/// Every function that returns bytes returns the next bytes of the file; the caller writes all of
/// them in order. The same calls give the same bytes.
class Writer {
 public:
  /// @param library  the program that writes, "limb 0.1.0".
  explicit Writer(std::string library) : library_(std::move(library)) {}

  /// The first bytes.
  std::string start();
  std::string metadata(const std::string& name, const std::map<std::string, std::string>& map);
  std::string attachment(const std::string& name, const std::string& media_type,
                         std::string_view data);
  /// Adds a schema and its only channel, numbered from 1, to the chunk, where they are compressed.
  void channel(const std::string& topic, const std::string& message_encoding,
               const std::string& schema_name, const std::string& schema_encoding,
               std::string_view schema);

  /// Adds a message to the chunk.
  void message(std::uint16_t channel, std::uint64_t time_ns, std::string_view data);
  /// Uncompressed bytes in the chunk.
  std::size_t chunk_size() const { return chunk_.size(); }
  /// The chunk and its indexes; starts the next one. Empty if nothing was added.
  std::string end_chunk();
  /// The bytes that would end the file now, without summary; nothing changes.
  std::string provisional_end() const;
  /// The last bytes: the chunk, the summary and the footer.
  std::string finish();

  /// The end of a file without summary.
  static std::string short_end();

 private:
  struct Entry {
    std::uint64_t time, offset;
  };
  struct ChannelState {
    std::uint32_t sequence = 0;
    std::uint64_t messages = 0;
    std::vector<Entry> entries;  ///< of the chunk
  };
  std::string chunk_record() const;

  std::string library_;
  std::uint64_t position_ = 0;                                           ///< bytes returned so far
  std::string chunk_;                                                    ///< records, uncompressed
  std::uint64_t chunk_start_ = 0, chunk_end_ = 0, start_ = 0, end_ = 0;  ///< ns
  std::uint64_t messages_ = 0, chunk_messages_ = 0;
  std::uint32_t chunks_ = 0, attachments_ = 0, metadata_ = 0;
  std::vector<ChannelState> channels_;
  /// Records of the summary.
  std::string schemas_, channel_records_, chunk_indexes_, attachment_indexes_, metadata_indexes_;
};

}  // namespace limb::mcap
