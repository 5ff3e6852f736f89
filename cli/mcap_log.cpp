#include "cli/mcap_log.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "cli/ros_message.hpp"
#include "limb/base/error.hpp"
#include "limb/base/mcap/mcap_reader.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Longer arrays are pictures or clouds of points, not signals.
constexpr std::size_t kMaxArray = 256;

/// The time of a message: its field t, or that at which it was logged.
double time_of(const Json& message, double logged_at) {
  const auto t = message.find("t");
  return t != message.end() && t->is_number() ? t->get<double>() : logged_at;
}

/// Adds the rows of a topic.
class SeriesBuilder {
 public:
  void add(const Json& message, double t, LogSeries& series) {
    next_ = 0;
    const std::size_t row = series.t.size();
    for (const auto& [key, value] : message.items()) {
      if (key != "t" || !value.is_number()) add_value(key, value, message, row, series);
    }
    series.t.push_back(t);
  }

  /// Fields that the last messages did not have are NaN.
  static void finish(LogSeries& series) {
    for (auto& column : series.values) column.resize(series.t.size(), kNaN);
  }

 private:
  void add_value(const std::string& name, const Json& value, const Json& parent, std::size_t row,
                 LogSeries& series) {
    if (value.is_number()) {
      set(name, value.get<double>(), row, series);
    } else if (value.is_boolean()) {
      set(name, value.get<bool>() ? 1 : 0, row, series);
    } else if (value.is_null()) {
      set(name, kNaN, row, series);
    } else if (value.is_object()) {
      for (const auto& [key, inner] : value.items()) {
        add_value(name + "." + key, inner, value, row, series);
      }
    } else if (value.is_array() && value.size() <= kMaxArray) {
      const Json* names = names_beside(parent, value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        std::string part = std::to_string(i);
        if (names != nullptr && value[i].is_primitive()) {
          part = (*names)[i].get<std::string>();
        } else if (const std::string own = name_of(value[i]); !own.empty()) {
          part = own;
        }
        if (!value[i].is_string()) add_value(name + "." + part, value[i], value, row, series);
      }
    }
  }

  /// The list of as many texts in an object: the names of joints.
  static const Json* names_beside(const Json& parent, std::size_t size) {
    if (!parent.is_object()) return nullptr;
    for (const char* key : {"name", "names", "joint_names"}) {
      const auto found = parent.find(key);
      if (found == parent.end() || !found->is_array() || found->size() != size) continue;
      bool texts = true;
      for (const Json& one : *found) texts = texts && one.is_string();
      if (texts) return &*found;
    }
    return nullptr;
  }
  static std::string name_of(const Json& element) {
    if (!element.is_object()) return {};
    for (const char* key : {"name", "child_frame_id", "id"}) {
      const auto found = element.find(key);
      if (found != element.end() && found->is_string()) return found->get<std::string>();
    }
    return {};
  }

  void set(const std::string& name, double value, std::size_t row, LogSeries& series) {
    // Messages of a topic usually have the same fields in the same order.
    std::size_t i = next_;
    if (i >= series.fields.size() || series.fields[i] != name) {
      const auto [found, is_new] = columns_.emplace(name, series.fields.size());
      i = found->second;
      if (is_new) {
        series.fields.push_back(name);
        series.values.emplace_back();
      }
    }
    next_ = i + 1;
    std::vector<double>& column = series.values[i];
    if (column.size() > row) return;  // a name that occurs twice
    column.resize(row, kNaN);
    column.push_back(value);
  }

  std::unordered_map<std::string, std::size_t> columns_;
  std::size_t next_ = 0;  ///< field after the last one
};

}  // namespace

class McapLogReader::Impl final : public mcap::Visitor {
 public:
  Impl(const std::string& call, const std::string& path, std::istream& stream)
      : call_(call), path_(path), reader_(call, path, stream) {}

  std::size_t next(LogData& log, std::size_t rows) {
    log_ = &log;
    std::size_t count = 0;
    double last = kNaN;
    // A part ends between two times, so that messages of one time stay together.
    while (true) {
      while (!pending_ && reader_.next(*this)) {
      }
      if (!pending_ || (count >= rows && pending_->t != last)) break;
      add(*pending_);
      last = pending_->t;
      ++count;
      pending_.reset();
    }
    for (LogSeries& series : log.series) SeriesBuilder::finish(series);
    for (const auto& [index, units] : units_) {
      LogSeries& series = log.series[index];
      for (std::size_t i = series.units.size(); i < series.fields.size(); ++i) {
        const auto unit = units.find(series.fields[i]);
        series.units.push_back(unit == units.end() ? "" : unit->second);
      }
    }
    if (!pending_ && total_ == 0 && !log.skipped.empty()) {
      if (log.skipped.size() > 5) log.skipped.resize(5);
      throw Error(fmt::format("{}: {} has no topic in JSON or of ROS messages, but {}", call_,
                              path_, fmt::join(log.skipped, ", ")));
    }
    return count;
  }

  void metadata(const std::string& name, const std::map<std::string, std::string>& map) override {
    if (name != "limb") return;
    is_limb_ = true;
    for (const auto& [key, value] : map) log_->metadata[key] = value;
  }

  void channel(const mcap::Channel& channel) override {
    // In logs of limb these repeat other topics, for viewers.
    if (is_limb_ && channel.schema.name.starts_with("foxglove.")) return;
    std::string topic = channel.topic;
    if (topic.starts_with('/')) topic.erase(0, 1);
    Topic added;
    std::string encoding = channel.message_encoding;
    if (encoding == "cdr" || encoding == "ros1") {
      const bool ros2 = encoding == "cdr";
      added.ros_encoding = ros2 ? RosMessageType::Encoding::cdr : RosMessageType::Encoding::ros1;
      if (channel.schema.encoding != (ros2 ? "ros2msg" : "ros1msg")) {
        encoding += " with a schema in " + channel.schema.encoding.substr(0, 20);
      } else {
        try {
          added.ros = std::make_unique<RosMessageType>(channel.schema.name, channel.schema.data);
        } catch (const Error& error) {
          encoding = error.what();
        }
      }
    }
    if (encoding != "json" && added.ros == nullptr) {
      log_->skipped.push_back(fmt::format("'{}' ({})", topic, encoding));
      return;
    }
    const auto [found, is_new] = by_name_.emplace(topic, log_->series.size());
    added.series = found->second;
    if (is_new) {
      log_->series.push_back({topic, {}, {}, {}, 0});
      builders_.emplace_back();
      if (is_limb_ && channel.schema.encoding == "jsonschema") {
        add_units(Json::parse(channel.schema.data, nullptr, false), "", units_[found->second]);
      }
    }
    topics_[channel.id] = std::move(added);
  }

  void message(const mcap::Channel& channel, const mcap::Message& message) override {
    const auto found = topics_.find(channel.id);
    if (found == topics_.end()) return;
    const Topic& topic = found->second;
    if (!first_time_) first_time_ = message.log_time;
    const double t = message.log_time >= *first_time_
                         ? 1e-9 * static_cast<double>(message.log_time - *first_time_)
                         : -1e-9 * static_cast<double>(*first_time_ - message.log_time);
    Json json;
    if (topic.ros != nullptr) {
      try {
        json = topic.ros->decode(message.data, topic.ros_encoding);
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}: topic '{}': {}", call_, path_,
                                log_->series[topic.series].topic, error.what()));
      }
    } else {
      json = Json::parse(message.data, nullptr, false);
    }
    if (!json.is_object()) return;
    bytes_ += message.data.size();
    const double time = time_of(json, t);
    pending_ = Pending{topic.series, time, std::move(json)};
  }

 private:
  struct Topic {
    std::unique_ptr<RosMessageType> ros;
    RosMessageType::Encoding ros_encoding = RosMessageType::Encoding::cdr;
    std::size_t series = 0;
  };
  /// A message that is not in the log yet.
  struct Pending {
    std::size_t series;
    double t;
    Json json;
  };

  /// The descriptions of numbers in a schema of limb are their units.
  static void add_units(const Json& schema, const std::string& prefix,
                        std::map<std::string, std::string>& units) {
    if (!schema.is_object()) return;
    const auto properties = schema.find("properties");
    if (properties == schema.end() || !properties->is_object()) return;
    for (const auto& [key, inner] : properties->items()) {
      if (!inner.is_object()) continue;
      const auto unit = inner.find("description");
      if (unit != inner.end() && unit->is_string()) units[prefix + key] = unit->get<std::string>();
      add_units(inner, prefix + key + ".", units);
    }
  }

  void add(const Pending& message) {
    LogSeries& series = log_->series[message.series];
    builders_[message.series].add(message.json, message.t, series);
    ++total_;
    cells_ += series.fields.size();
    // Each message with other fields than all before would take memory of the square of its size.
    if (cells_ > 16 * bytes_ + 1'000'000) {
      throw Error(fmt::format("{}: {}: topic '{}' has messages with different fields", call_, path_,
                              series.topic));
    }
  }

  std::string call_, path_;
  mcap::Reader reader_;
  LogData* log_ = nullptr;
  bool is_limb_ = false;
  std::map<std::uint16_t, Topic> topics_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::size_t, std::map<std::string, std::string>> units_;  ///< per series
  std::vector<SeriesBuilder> builders_;                              ///< of the series of the log
  std::optional<std::uint64_t> first_time_;
  std::optional<Pending> pending_;
  std::size_t total_ = 0, bytes_ = 0, cells_ = 0;
};

McapLogReader::McapLogReader(const std::string& call, const std::string& path, std::istream& stream)
    : impl_(std::make_unique<Impl>(call, path, stream)) {}
McapLogReader::~McapLogReader() = default;
McapLogReader::McapLogReader(McapLogReader&&) noexcept = default;

std::size_t McapLogReader::next(LogData& log, std::size_t rows) {
  return impl_->next(log, rows);
}

}  // namespace limb::cli
