#include "limb/base/mcap/mcap_writer.hpp"

#include <algorithm>
#include <utility>

#include "limb/base/mcap/compression.hpp"
#include "limb/base/mcap/records.hpp"

namespace limb::mcap {

std::string Writer::start() {
  std::string bytes(kMagic), content;
  put_text(content, "");  // no profile
  put_text(content, library_);
  put_record(bytes, Opcode::header, content);
  position_ += bytes.size();
  return bytes;
}

std::string Writer::metadata(const std::string& name,
                             const std::map<std::string, std::string>& map) {
  std::string bytes, content;
  put_text(content, name);
  put_map(content, map);
  put_record(bytes, Opcode::metadata, content);
  std::string index;
  put(index, position_);
  put(index, std::uint64_t{bytes.size()});
  put_text(index, name);
  put_record(metadata_indexes_, Opcode::metadata_index, index);
  ++metadata_;
  position_ += bytes.size();
  return bytes;
}

std::string Writer::attachment(const std::string& name, const std::string& media_type,
                               std::string_view data) {
  std::string bytes, content, index;
  const auto put_head = [&](std::string& to) {
    put(to, std::uint64_t{0});  // time of the log
    put(to, std::uint64_t{0});  // time of creation: unknown, so that equal runs give equal bytes
  };
  put_head(content);
  put_text(content, name);
  put_text(content, media_type);
  put(content, std::uint64_t{data.size()});
  content += data;
  put(content, crc32(content));
  put_record(bytes, Opcode::attachment, content);
  put(index, position_);
  put(index, std::uint64_t{bytes.size()});
  put_head(index);
  put(index, std::uint64_t{data.size()});
  put_text(index, name);
  put_text(index, media_type);
  put_record(attachment_indexes_, Opcode::attachment_index, index);
  ++attachments_;
  position_ += bytes.size();
  return bytes;
}

void Writer::channel(const std::string& topic, const std::string& message_encoding,
                     const std::string& schema_name, const std::string& schema_encoding,
                     std::string_view schema) {
  channels_.emplace_back();
  const auto id = static_cast<std::uint16_t>(channels_.size());
  std::string first, second, content;
  put(content, id);
  put_text(content, schema_name);
  put_text(content, schema_encoding);
  put_text(content, schema);
  put_record(first, Opcode::schema, content);
  content.clear();
  put(content, id);
  put(content, id);
  put_text(content, topic);
  put_text(content, message_encoding);
  put_map(content, {});
  put_record(second, Opcode::channel, content);
  schemas_ += first;
  channel_records_ += second;
  chunk_ += first + second;
}

void Writer::message(std::uint16_t channel, std::uint64_t time_ns, std::string_view data) {
  ChannelState& state = channels_.at(channel - 1u);
  chunk_start_ = chunk_messages_ == 0 ? time_ns : std::min(chunk_start_, time_ns);
  chunk_end_ = chunk_messages_ == 0 ? time_ns : std::max(chunk_end_, time_ns);
  start_ = messages_ == 0 ? time_ns : std::min(start_, time_ns);
  end_ = messages_ == 0 ? time_ns : std::max(end_, time_ns);
  state.entries.push_back({time_ns, chunk_.size()});
  std::string content;
  content.reserve(22 + data.size());
  put(content, channel);
  put(content, state.sequence++);
  put(content, time_ns);  // logged
  put(content, time_ns);  // published
  content += data;
  put_record(chunk_, Opcode::message, content);
  ++state.messages;
  ++messages_;
  ++chunk_messages_;
}

std::string Writer::chunk_record() const {
  const std::string_view compression = best_compression();
  const std::string records = compress(chunk_, compression);
  std::string bytes, content;
  put(content, chunk_start_);
  put(content, chunk_end_);
  put(content, std::uint64_t{chunk_.size()});
  put(content, crc32(chunk_));
  put_text(content, compression);
  put(content, std::uint64_t{records.size()});
  content += records;
  put_record(bytes, Opcode::chunk, content);
  return bytes;
}

std::string Writer::end_chunk() {
  if (chunk_.empty()) return {};
  std::string bytes = chunk_record();
  const std::uint64_t chunk_length = bytes.size();
  std::string offsets;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].entries.empty()) continue;
    const auto id = static_cast<std::uint16_t>(i + 1);
    put(offsets, id);
    put(offsets, position_ + bytes.size());
    std::string content, entries;
    for (const Entry& entry : channels_[i].entries) {
      put(entries, entry.time);
      put(entries, entry.offset);
    }
    put(content, id);
    put_text(content, entries);
    put_record(bytes, Opcode::message_index, content);
    channels_[i].entries.clear();
  }
  const std::string_view compression = best_compression();
  std::string index;
  put(index, chunk_start_);
  put(index, chunk_end_);
  put(index, position_);
  put(index, chunk_length);
  put_text(index, offsets);
  put(index, std::uint64_t{bytes.size() - chunk_length});
  put_text(index, compression);
  // Kind and length of the record, times, sizes, checksum and the name of the compression are not
  // compressed.
  put(index, chunk_length - kRecordHead - 40 - compression.size());
  put(index, std::uint64_t{chunk_.size()});
  put_record(chunk_indexes_, Opcode::chunk_index, index);
  ++chunks_;
  chunk_.clear();
  chunk_messages_ = chunk_start_ = chunk_end_ = 0;
  position_ += bytes.size();
  return bytes;
}

std::string Writer::short_end() {
  std::string bytes, content;
  put(content, std::uint32_t{0});  // no checksum of the data
  put_record(bytes, Opcode::data_end, content);
  content.clear();
  put(content, std::uint64_t{0});  // no summary
  put(content, std::uint64_t{0});
  put(content, std::uint32_t{0});
  put_record(bytes, Opcode::footer, content);
  return bytes.append(kMagic);
}

std::string Writer::provisional_end() const {
  return (chunk_.empty() ? std::string() : chunk_record()) + short_end();
}

std::string Writer::finish() {
  std::string bytes = end_chunk();
  const std::uint64_t before = position_ - bytes.size();
  std::string content;
  put(content, std::uint32_t{0});
  put_record(bytes, Opcode::data_end, content);

  std::string statistics;
  content.clear();
  put(content, messages_);
  put(content, static_cast<std::uint16_t>(channels_.size()));
  put(content, static_cast<std::uint32_t>(channels_.size()));
  put(content, attachments_);
  put(content, metadata_);
  put(content, chunks_);
  put(content, start_);
  put(content, end_);
  std::string counts;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    put(counts, static_cast<std::uint16_t>(i + 1));
    put(counts, channels_[i].messages);
  }
  put_text(content, counts);
  put_record(statistics, Opcode::statistics, content);

  const std::uint64_t summary_start = before + bytes.size();
  std::string summary, offsets;
  const std::pair<Opcode, const std::string*> groups[] = {
      {Opcode::schema, &schemas_},
      {Opcode::channel, &channel_records_},
      {Opcode::statistics, &statistics},
      {Opcode::chunk_index, &chunk_indexes_},
      {Opcode::attachment_index, &attachment_indexes_},
      {Opcode::metadata_index, &metadata_indexes_}};
  for (const auto& [kind, records] : groups) {
    if (records->empty()) continue;
    content.clear();
    put(content, static_cast<unsigned char>(kind));
    put(content, summary_start + summary.size());
    put(content, std::uint64_t{records->size()});
    put_record(offsets, Opcode::summary_offset, content);
    summary += *records;
  }
  const std::uint64_t offsets_start = summary_start + summary.size();
  summary += offsets;
  // The checksum covers the summary and the footer up to the checksum itself.
  put(summary, static_cast<unsigned char>(Opcode::footer));
  put(summary, std::uint64_t{20});
  put(summary, summary_start);
  put(summary, offsets_start);
  put(summary, crc32(summary));
  bytes += summary;
  return bytes.append(kMagic);
}

}  // namespace limb::mcap
