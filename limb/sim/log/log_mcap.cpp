#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "limb/base/version.hpp"
#include "limb/sim/log/log_writer.hpp"

// The MCAP container (mcap.dev/spec): magic, then records of one byte of kind, eight bytes of
// length and the content; numbers are little-endian, texts are prefixed by their length in four
// bytes. Without chunks and index, so that each record is complete when written.
namespace limb {
namespace {

constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);
enum class Record : unsigned char {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  metadata = 0x0c,
  data_end = 0x0f,
};

template <typename Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(number) >> (8 * i)) & 0xff);
  }
}
void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}
void put_map(std::string& bytes, const std::map<std::string, std::string>& map) {
  std::string pairs;
  for (const auto& [key, value] : map) {
    put_text(pairs, key);
    put_text(pairs, value);
  }
  put_text(bytes, pairs);
}

void put_record(std::string& bytes, Record kind, std::string_view content) {
  put(bytes, static_cast<unsigned char>(kind));
  put(bytes, static_cast<std::uint64_t>(content.size()));
  bytes += content;
}

std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// The texts between the numbers of a message, and its schema: "q.elbow", "q.knee" become
/// {"t":_,"q":{"elbow":_,"knee":_}}.
std::vector<std::string> layout(const std::vector<std::string>& names, std::string& end,
                                std::string& schema) {
  std::vector<std::string> fields;
  std::string group;
  schema = R"({"type":"object","properties":{"t":{"type":"number","description":"s"})";
  for (const std::string& name : names) {
    const std::size_t dot = name.find('.');
    const std::string next = dot == std::string::npos ? "" : name.substr(0, dot);
    const std::string rest = dot == std::string::npos ? name : name.substr(dot + 1);
    std::string before = ",", in_schema = ",";
    if (next != group) {
      before = group.empty() ? "," : "},";
      in_schema = group.empty() ? "," : "}},";
      if (!next.empty()) {
        before += json_text(next) + ":{";
        in_schema += json_text(next) + R"(:{"type":"object","properties":{)";
      }
      group = next;
    }
    fields.push_back(before + json_text(rest) + ":");
    schema += in_schema + json_text(rest) + R"(:{"type":"number"})";
  }
  end = group.empty() ? "}" : "}}";
  schema += group.empty() ? "}}" : "}}}}";
  return fields;
}

class McapWriter final : public LogWriter {
 public:
  McapWriter(std::unique_ptr<LogFile> file, const std::vector<LogTopic>& topics,
             const std::map<std::string, std::string>& metadata)
      : file_(std::move(file)) {
    file_->write(kMagic);
    put_text(content_, "");
    put_text(content_, fmt::format("limb {}", kVersion));
    write_record(Record::header);
    put_text(content_, "limb");
    put_map(content_, metadata);
    write_record(Record::metadata);
    for (std::size_t i = 0; i < topics.size(); ++i) {
      const auto id = static_cast<std::uint16_t>(i + 1);
      Channel channel;
      std::string schema;
      channel.fields = layout(topics[i].fields, channel.end, schema);
      put(content_, id);
      put_text(content_, "limb." + topics[i].name);
      put_text(content_, "jsonschema");
      put_text(content_, schema);
      write_record(Record::schema);
      put(content_, id);
      put(content_, id);
      put_text(content_, "/" + topics[i].name);
      put_text(content_, "json");
      put_map(content_, {});
      write_record(Record::channel);
      channels_.push_back(std::move(channel));
    }
  }

  void write(std::size_t topic, double t, const VectorX<double>& values) override {
    Channel& channel = channels_[topic];
    const auto nanoseconds = static_cast<std::uint64_t>(std::llround(std::max(t, 0.0) * 1e9));
    put(content_, static_cast<std::uint16_t>(topic + 1));
    put(content_, channel.sequence++);
    put(content_, nanoseconds);
    put(content_, nanoseconds);
    fmt::format_to(std::back_inserter(content_), "{{\"t\":{}", t);
    for (std::size_t i = 0; i < channel.fields.size(); ++i) {
      content_ += channel.fields[i];
      const double value = values[static_cast<Eigen::Index>(i)];
      if (std::isfinite(value)) {
        fmt::format_to(std::back_inserter(content_), "{}", value);
      } else {
        content_ += "null";
      }
    }
    content_ += channel.end;
    write_record(Record::message);
  }
  void flush() override { file_->flush(); }
  void finish() override { file_->close(); }

 private:
  struct Channel {
    std::vector<std::string> fields;  ///< the text before each number
    std::string end;
    std::uint32_t sequence = 0;
  };
  void write_record(Record kind) {
    record_.clear();
    put_record(record_, kind, content_);
    file_->write(record_);
    content_.clear();
  }

  std::unique_ptr<LogFile> file_;
  std::vector<Channel> channels_;
  std::string record_, content_;
};

}  // namespace

std::string mcap_ending() {
  std::string ending, content;
  put(content, std::uint32_t{0});  // no checksum
  put_record(ending, Record::data_end, content);
  content.clear();
  put(content, std::uint64_t{0});  // no summary
  put(content, std::uint64_t{0});
  put(content, std::uint32_t{0});
  put_record(ending, Record::footer, content);
  return ending.append(kMagic);
}

std::unique_ptr<LogWriter> make_mcap_writer(std::unique_ptr<LogFile> file,
                                            std::vector<LogTopic> topics,
                                            const std::map<std::string, std::string>& metadata) {
  return std::make_unique<McapWriter>(std::move(file), topics, metadata);
}

}  // namespace limb
