#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "limb/base/mcap/mcap_writer.hpp"
#include "limb/base/version.hpp"
#include "limb/sim/log/foxglove.hpp"
#include "limb/sim/log/json_text.hpp"
#include "limb/sim/log/log_writer.hpp"

namespace limb {

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

namespace {

/// Uncompressed bytes after which a chunk ends. What a crash loses is at most one, and readers that
/// look for a time decompress one.
constexpr std::size_t kChunk = 1 << 16;

/// A field of a message: "q.elbow" is "elbow" of the group "q".
struct Field {
  std::string group, name;  ///< as JSON texts; no group: empty
};

/// Fields and schema of a topic: "q.elbow", "q.knee" are {"t":_,"q":{"elbow":_,"knee":_}}. The
/// description of a number is its unit.
std::vector<Field> layout(const LogTopic& topic, std::string& schema) {
  const std::vector<std::string>& names = topic.fields;
  std::vector<Field> fields;
  std::string group;
  schema = R"({"type":"object","properties":{"t":{"type":"number","description":"s"})";
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const std::size_t dot = name.find('.');
    const std::string next = dot == std::string::npos ? "" : json_text(name.substr(0, dot));
    const std::string rest = json_text(dot == std::string::npos ? name : name.substr(dot + 1));
    if (next != group) {
      if (!group.empty()) schema += "}}";
      if (!next.empty()) schema += "," + next + R"(:{"type":"object","properties":{)";
      group = next;
    }
    if (schema.back() != '{') schema += ',';
    schema += rest + R"(:{"type":"number")";
    if (!topic.units.empty()) schema += R"(,"description":)" + json_text(topic.units[i]);
    schema += "}";
    fields.push_back({next, rest});
  }
  schema += group.empty() ? "}}" : "}}}}";
  return fields;
}

class McapLogWriter final : public LogWriter {
 public:
  McapLogWriter(std::unique_ptr<LogFile> file, const std::vector<LogTopic>& topics,
                const std::map<std::string, std::string>& metadata,
                const std::vector<LogAttachment>& attachments)
      : file_(std::move(file)), topics_(topics), writer_(fmt::format("limb {}", kVersion)) {
    std::string first = writer_.start();
    first += writer_.metadata("limb", metadata);
    file_->write(first);
    for (const LogAttachment& one : attachments) {
      file_->write(writer_.attachment(one.name, one.media_type, one.data));
    }
    for (const LogTopic& topic : topics) {
      std::string schema, name = "limb." + topic.name;
      fields_.emplace_back();
      switch (topic.kind) {
        case LogTopic::Kind::numbers:
          fields_.back() = layout(topic, schema);
          break;
        case LogTopic::Kind::frame_transforms:
          name = "foxglove.FrameTransforms";
          schema = foxglove::frame_transforms_schema();
          break;
        case LogTopic::Kind::joint_states:
          name = "foxglove.JointStates";
          schema = foxglove::joint_states_schema();
          break;
        case LogTopic::Kind::arrows:
          name = "foxglove.SceneUpdate";
          schema = foxglove::scene_update_schema();
          break;
      }
      writer_.channel("/" + topic.name, "json", name, "jsonschema", schema);
    }
  }

  void write(std::size_t topic, double t, const VectorX<double>& values) override {
    const auto time = static_cast<std::uint64_t>(std::llround(std::max(t, 0.0) * 1e9));
    json_.clear();
    switch (topics_[topic].kind) {
      case LogTopic::Kind::numbers:
        put_numbers(fields_[topic], t, values);
        break;
      case LogTopic::Kind::frame_transforms:
        foxglove::put_frame_transforms(json_, time, topics_[topic].fields, values);
        break;
      case LogTopic::Kind::joint_states:
        foxglove::put_joint_states(json_, time, topics_[topic].fields, values);
        break;
      case LogTopic::Kind::arrows:
        foxglove::put_arrows(json_, time, topics_[topic].name, values);
        break;
    }
    writer_.message(static_cast<std::uint16_t>(topic + 1), time, json_);
    // Chunks end by size, not by flush(), so that equal runs give equal bytes.
    if (writer_.chunk_size() >= kChunk) file_->write(writer_.end_chunk());
  }
  void flush() override { file_->flush(writer_.provisional_end()); }
  void finish() override {
    if (finished_) return;
    finished_ = true;
    file_->close(writer_.finish());
  }
  ~McapLogWriter() override {
    try {
      finish();
    } catch (const std::exception&) {  // destructors must not throw
    }
  }

 private:
  /// Numbers that are not finite, and groups without numbers, are left out.
  void put_numbers(const std::vector<Field>& fields, double t, const VectorX<double>& values) {
    fmt::format_to(std::back_inserter(json_), "{{\"t\":{}", t);
    const std::string none;
    const std::string* group = &none;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const double value = values[static_cast<Eigen::Index>(i)];
      if (!std::isfinite(value)) continue;
      if (fields[i].group != *group) {
        if (!group->empty()) json_ += '}';
        group = &fields[i].group;
        if (!group->empty()) json_.append(",").append(*group).append(":{");
      }
      if (json_.back() != '{') json_ += ',';
      fmt::format_to(std::back_inserter(json_), "{}:{}", fields[i].name, value);
    }
    json_ += group->empty() ? "}" : "}}";
  }

  std::unique_ptr<LogFile> file_;
  std::vector<LogTopic> topics_;
  std::vector<std::vector<Field>> fields_;
  mcap::Writer writer_;
  std::string json_;
  bool finished_ = false;
};

}  // namespace

std::string mcap_ending() {
  return mcap::Writer::short_end();
}

std::unique_ptr<LogWriter> make_mcap_writer(std::unique_ptr<LogFile> file,
                                            std::vector<LogTopic> topics,
                                            const std::map<std::string, std::string>& metadata,
                                            const std::vector<LogAttachment>& attachments) {
  return std::make_unique<McapLogWriter>(std::move(file), topics, metadata, attachments);
}

}  // namespace limb
