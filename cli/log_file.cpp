#include "cli/log_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Largest log, bytes.
constexpr std::size_t kMaxLog = std::size_t{1} << 30;

/// Cells of one line of CSV.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> result(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        result.back() += c;
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// End of the names, which may contain newlines in quotes.
std::size_t end_of_names(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i;
  }
  return std::string_view::npos;
}

LogData read_csv(const std::string& call, const std::string& path, std::string_view text) {
  LogData log;
  std::vector<std::pair<std::size_t, std::size_t>>
      columns_to_fields;  // series and field of each column
  std::size_t columns = 0;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = line == 1 ? end_of_names(text) : text.find('\n');
    if (end == std::string_view::npos) break;  // truncated
    const std::vector<std::string> row = cells(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (line == 1) {
      if (row[0] != "t" || row.size() < 2) {
        throw Error(
            fmt::format("{}: {}:1: not a log of limb: the first column is '{}', expected 't'", call,
                        path, row[0].substr(0, 40)));
      }
      columns = row.size();
      for (std::size_t i = 1; i < columns; ++i) {
        const std::size_t dot = std::min(row[i].find('.'), row[i].size());
        const std::string topic = row[i].substr(0, dot);
        if (log.series.empty() || log.series.back().topic != topic) {
          log.series.push_back({topic, {}, {}, {}});
        }
        LogSeries& series = log.series.back();
        columns_to_fields.emplace_back(log.series.size() - 1, series.fields.size());
        series.fields.push_back(dot < row[i].size() ? row[i].substr(dot + 1) : row[i]);
        series.values.emplace_back();
      }
      continue;
    }
    const auto t = parse_number(row[0]);
    if (row.size() != columns || !t) {
      throw Error(
          fmt::format("{}: {}:{}: {} cells starting with '{}', expected {} starting with a time",
                      call, path, line, row.size(), row[0].substr(0, 40), columns));
    }
    for (LogSeries& series : log.series) series.t.push_back(*t);
    for (std::size_t i = 1; i < columns; ++i) {
      log.series[columns_to_fields[i - 1].first].values[columns_to_fields[i - 1].second].push_back(
          parse_number(row[i]).value_or(std::nan("")));
    }
  }
  return log;
}

/// Reads the content of an MCAP record; beyond its end everything is empty.
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
  void skip(std::size_t size) { next(size); }
  std::string_view rest() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }

 private:
  /// The next `size` bytes, or fewer at the end.
  std::string_view next(std::uint64_t size) {
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(result.size());
    return result;
  }

  std::string_view bytes_;
};

void add_message(const Json& message, LogSeries& series) {
  const bool first = series.fields.empty();
  std::size_t at = 0;
  const auto add = [&](const std::string& name, const Json& value) {
    if (first) {
      series.fields.push_back(name);
      series.values.emplace_back();
    }
    if (at < series.values.size()) {
      series.values[at++].push_back(value.is_number() ? value.get<double>() : std::nan(""));
    }
  };
  for (const auto& [key, value] : message.items()) {
    if (key == "t") {
      series.t.push_back(value.is_number() ? value.get<double>() : std::nan(""));
    } else if (value.is_object()) {
      for (const auto& [inner, number] : value.items()) add(key + "." + inner, number);
    } else {
      add(key, value);
    }
  }
}

LogData read_mcap(const std::string& call, const std::string& path, std::string_view bytes) {
  constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);
  if (!bytes.starts_with(kMagic))
    throw Error(fmt::format("{}: {} is not an MCAP file", call, path));
  bytes.remove_prefix(kMagic.size());
  LogData log;
  std::map<std::uint64_t, std::size_t> series_of;
  while (bytes.size() >= 9 && bytes != kMagic) {
    RecordReader head(bytes);
    const std::uint64_t kind = head.number(1), size = head.number(8);
    if (size > bytes.size() - 9) break;  // truncated
    RecordReader content(bytes.substr(9, size));
    bytes.remove_prefix(9 + size);
    if (kind == 0x0c && content.text() == "limb") {
      RecordReader map(content.text());
      while (!map.empty()) {
        const std::string key(map.text());
        log.metadata[key] = std::string(map.text());
      }
    } else if (kind == 0x04) {
      const std::uint64_t channel = content.number(2);
      content.skip(2);
      std::string_view topic = content.text();
      if (topic.starts_with('/')) topic.remove_prefix(1);
      series_of[channel] = log.series.size();
      log.series.push_back({std::string(topic), {}, {}, {}});
    } else if (kind == 0x05) {
      const auto found = series_of.find(content.number(2));
      content.skip(20);  // sequence number and times
      const Json message = Json::parse(content.rest(), nullptr, false);
      if (found != series_of.end() && message.is_object()) {
        add_message(message, log.series[found->second]);
      }
    }
  }
  return log;
}

}  // namespace

const LogSeries* LogData::find(const std::string& topic) const {
  for (const LogSeries& one : series) {
    if (one.topic == topic) return &one;
  }
  return nullptr;
}

LogData read_log(const std::string& call, const std::string& path) {
  return parse_log(call, path, read_text_file(call, path, kMaxLog));
}

LogData parse_log(const std::string& call, const std::string& path, std::string_view text) {
  LogData log = path.ends_with(".mcap") ? read_mcap(call, path, text) : read_csv(call, path, text);
  for (const LogSeries& one : log.series) {
    for (const auto& column : one.values) {
      if (column.size() == one.t.size()) continue;
      throw Error(fmt::format("{}: {}: topic '{}' has messages with different fields", call, path,
                              one.topic));
    }
  }
  if (log.series.empty() || log.series[0].t.empty()) {
    throw Error(fmt::format("{}: {} has no rows", call, path));
  }
  return log;
}

}  // namespace limb::cli
