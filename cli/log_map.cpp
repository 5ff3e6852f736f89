#include "cli/log_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/log_topics.hpp"
#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/recipe/toml.hpp"

namespace limb::cli {
namespace {

/// "gyro.x", "-gyro.x" or "0.5*gyro.x".
void read_source(const std::string& call, const std::string& place, std::string_view text,
                 std::string& source, double& factor) {
  factor = 1;
  if (const std::size_t star = text.find('*'); star != std::string_view::npos) {
    const auto number = parse_number(text.substr(0, star));
    if (!number) {
      throw Error(
          fmt::format("{}: {}: '{}' is neither a column nor FACTOR*COLUMN", call, place, text));
    }
    factor = *number;
    text.remove_prefix(star + 1);
  } else if (text.starts_with('-')) {
    factor = -1;
    text.remove_prefix(1);
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) throw Error(fmt::format("{}: {}: the column is empty", call, place));
  source = text;
}

void add_entry(const std::string& call, const std::string& place, const std::string& target,
               std::string_view text, LogMap& map) {
  if (target == "t") {
    read_source(call, place, text, map.time, map.time_unit);
    return;
  }
  const std::size_t dot = target.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == target.size()) {
    throw Error(fmt::format("{}: {}: '{}' is not a topic and a field, such as imu.wx", call, place,
                            target));
  }
  LogMap::Entry entry{target.substr(0, dot), target.substr(dot + 1), {}, 1, place};
  read_source(call, place, text, entry.source, entry.factor);
  map.entries.push_back(entry);
}

void add_table(const std::string& call, const std::string& file, const std::string& prefix,
               const TomlValue& table, LogMap& map) {
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const TomlValue& value = table.items[i];
    const std::string name = prefix.empty() ? table.keys[i] : prefix + "." + table.keys[i];
    if (value.kind == TomlValue::Kind::table) {
      add_table(call, file, name, value, map);
    } else if (value.kind == TomlValue::Kind::text) {
      add_entry(call, fmt::format("{}:{}", file, value.line), name, value.text, map);
    } else {
      throw Error(fmt::format("{}: {}:{}: {} is {}, expected a text with a column of the log", call,
                              file, value.line, name, value.kind_text()));
    }
  }
}

struct Column {
  const LogSeries* series = nullptr;
  std::size_t field = 0;
};

Column find_column(const LogData& log, const std::string& name) {
  for (const LogSeries& series : log.series) {
    for (std::size_t k = 0; k < series.fields.size(); ++k) {
      const std::string_view field = series.fields[k], topic = series.topic, full = name;
      const bool is_whole = field == topic && field == full;
      const bool is_field = full.size() == topic.size() + 1 + field.size() &&
                            full.starts_with(topic) && full[topic.size()] == '.' &&
                            full.ends_with(field);
      if (is_whole || is_field) return {&series, k};
    }
  }
  return {};
}

}  // namespace

LogMap read_log_map(const std::string& call, const std::vector<std::string>& given) {
  LogMap map;
  for (const std::string& text : given) {
    if (const std::size_t equals = text.find('='); equals != std::string::npos) {
      add_entry(call, "--map " + text, text.substr(0, equals),
                std::string_view(text).substr(equals + 1), map);
    } else {
      add_table(call, text, "", parse_toml(call, read_text_file(call, text), text), map);
    }
  }
  return map;
}

void apply_map(const std::string& call, const LogMap& map, LogData& log) {
  std::vector<LogSeries> added;
  for (const LogMap::Entry& entry : map.entries) {
    const Column column = find_column(log, entry.source);
    if (column.series == nullptr) {
      Names known;
      for (const LogSeries& series : log.series) {
        for (const auto& field : series.fields) {
          if (known.size() < 40) known.push_back(series.topic + "." + field);
        }
      }
      throw Error(fmt::format("{}: {}: the log has no column '{}' (columns: {})", call, entry.place,
                              entry.source, joined(known)));
    }
    auto found = std::find_if(added.begin(), added.end(),
                              [&](const LogSeries& one) { return one.topic == entry.topic; });
    if (found == added.end()) {
      added.push_back({entry.topic, {}, column.series->t, {}, column.series->carried});
      found = added.end() - 1;
    }
    if (found->t != column.series->t) {
      throw Error(fmt::format(
          "{}: {}: '{}' has other times than the other fields of '{}', expected one topic of the "
          "log for all of them",
          call, entry.place, entry.source, entry.topic));
    }
    found->fields.push_back(entry.field);
    found->values.push_back(column.series->values[column.field]);
    for (double& x : found->values.back()) x *= entry.factor;
  }
  for (LogSeries& series : added) {
    std::erase_if(log.series, [&](const LogSeries& one) { return one.topic == series.topic; });
    log.series.push_back(std::move(series));
  }
}

}  // namespace limb::cli
