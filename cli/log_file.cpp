#include "cli/log_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
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
  // Objects and arrays in one another: "pose.position.x", "position.3".
  constexpr int kDeepest = 8;
  const std::function<void(const std::string&, const Json&, int)> visit =
      [&](const std::string& name, const Json& value, int depth) {
        if (value.is_structured() && depth < kDeepest) {
          for (const auto& [key, inner] : value.items()) visit(name + "." + key, inner, depth + 1);
        } else {
          add(name, value);
        }
      };
  for (const auto& [key, value] : message.items()) {
    if (key == "t") {
      series.t.push_back(value.is_number() ? value.get<double>() : std::nan(""));
    } else {
      visit(key, value, 0);
    }
  }
}

constexpr std::string_view kMagic("\x89MCAP0\r\n", 8);

/// Keeps only the last row of each topic.
void carry_over(LogData& log) {
  for (LogSeries& series : log.series) {
    const std::size_t rows = series.t.size();
    if (rows == 0) continue;
    series.t.erase(series.t.begin(), series.t.end() - 1);
    for (auto& column : series.values) {
      if (!column.empty()) column.erase(column.begin(), column.end() - 1);
    }
    series.carried = 1;
  }
}

void check_columns(const std::string& call, const std::string& path, const LogData& log) {
  for (const LogSeries& one : log.series) {
    for (const auto& column : one.values) {
      if (column.size() == one.t.size()) continue;
      throw Error(fmt::format("{}: {}: topic '{}' has messages with different fields", call, path,
                              one.topic));
    }
  }
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
  LogStream stream(call, path, std::make_unique<std::istringstream>(std::string(text)));
  LogData log;
  stream.next(log, std::numeric_limits<std::size_t>::max());
  if (log.series.empty() || log.series[0].t.empty()) {
    throw Error(fmt::format("{}: {} has no rows", call, path));
  }
  return log;
}

LogStream::LogStream(const std::string& call, const std::string& path,
                     std::unique_ptr<std::istream> stream, const std::string& time, double unit)
    : call_(call),
      path_(path),
      time_(time),
      unit_(unit),
      stream_(std::move(stream)),
      is_mcap_(path.ends_with(".mcap")) {}

LogStream LogStream::open(const std::string& call, const std::string& path, const std::string& time,
                          double unit) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    (void)read_text_file(call, path);  // throws the reason
  }
  return {call, path, std::make_unique<std::ifstream>(path, std::ios::binary), time, unit};
}

bool LogStream::next(LogData& log, std::size_t rows) {
  carry_over(log);
  const bool read = is_mcap_ ? next_mcap(log, rows) : next_csv(log, rows);
  if (read) check_columns(call_, path_, log);
  return read;
}

bool LogStream::next_csv(LogData& log, std::size_t rows) {
  std::size_t count = 0;
  std::string text;
  while (count < rows) {
    if (!std::getline(*stream_, text)) break;
    // The last line without a line end is truncated.
    if (stream_->eof()) break;
    ++line_;
    if (!started_) {
      // Names may contain newlines in quotes.
      std::string more;
      while (std::count(text.begin(), text.end(), '"') % 2 == 1 && std::getline(*stream_, more)) {
        if (stream_->eof()) return false;
        text += '\n' + more;
      }
    }
    const std::vector<std::string> row = cells(text);
    if (!started_) {
      started_ = true;
      const auto time = std::find(row.begin(), row.end(), time_);
      time_column_ = static_cast<std::size_t>(time - row.begin());
      if (time == row.end() || row.size() < 2 || (time_ == "t" && time_column_ != 0)) {
        if (time_ == "t") {
          throw Error(
              fmt::format("{}: {}:1: not a log of limb: the first column is '{}', expected 't'",
                          call_, path_, row[0].substr(0, 40)));
        }
        throw Error(fmt::format("{}: {}:1: no column '{}' of time", call_, path_, time_));
      }
      columns_ = row.size();
      for (std::size_t i = 0; i < columns_; ++i) {
        fields_.emplace_back(0, 0);
        if (i == time_column_) continue;
        const std::size_t dot = std::min(row[i].find('.'), row[i].size());
        const std::string topic = row[i].substr(0, dot);
        std::size_t k = 0;
        while (k < log.series.size() && log.series[k].topic != topic) ++k;
        if (k == log.series.size()) log.series.push_back({topic, {}, {}, {}, 0});
        LogSeries& series = log.series[k];
        fields_.back() = {k, series.fields.size()};
        series.fields.push_back(dot < row[i].size() ? row[i].substr(dot + 1) : row[i]);
        series.values.emplace_back();
      }
      continue;
    }
    const auto t = row.size() == columns_ ? parse_number(row[time_column_]) : std::nullopt;
    if (!t) {
      throw Error(
          fmt::format("{}: {}:{}: {} cells starting with '{}', expected {} starting with a time",
                      call_, path_, line_, row.size(), row[0].substr(0, 40), columns_));
    }
    for (LogSeries& series : log.series) series.t.push_back(*t * unit_);
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i == time_column_) continue;
      log.series[fields_[i].first].values[fields_[i].second].push_back(
          parse_number(row[i]).value_or(std::nan("")));
    }
    ++count;
  }
  total_ += count;
  return count > 0;
}

bool LogStream::next_mcap(LogData& log, std::size_t rows) {
  std::string bytes;
  const auto read = [&](std::size_t size) {
    bytes.resize(size);
    return static_cast<bool>(stream_->read(bytes.data(), static_cast<std::streamsize>(size)));
  };
  if (!started_) {
    started_ = true;
    if (!read(kMagic.size()) || bytes != kMagic) {
      throw Error(fmt::format("{}: {} is not an MCAP file", call_, path_));
    }
  }
  std::size_t count = 0;
  double last = std::nan("");
  constexpr std::uint64_t kLargestRecord = std::uint64_t{1} << 28;
  // A part ends between two times, so that messages of one time stay together.
  while (true) {
    const auto start = stream_->tellg();
    if (!read(9)) break;
    RecordReader head(bytes);
    const std::uint64_t kind = head.number(1), size = head.number(8);
    if (size > kLargestRecord || !read(size)) break;  // truncated, or the magic number of the end
    RecordReader content(bytes);
    if (kind == 0x0c && content.text() == "limb") {
      RecordReader map(content.text());
      while (!map.empty()) {
        const std::string key(map.text());
        log.metadata[key] = std::string(map.text());
      }
    } else if (kind == 0x06) {
      throw Error(
          fmt::format("{}: {} has compressed or chunked records, expected messages outside "
                      "of chunks (mcap convert --no-chunking)",
                      call_, path_));
    } else if (kind == 0x04) {
      const std::uint64_t channel = content.number(2);
      content.skip(2);
      std::string_view topic = content.text();
      if (topic.starts_with('/')) topic.remove_prefix(1);
      series_of_[channel] = log.series.size();
      log.series.push_back({std::string(topic), {}, {}, {}, 0});
    } else if (kind == 0x05) {
      const auto found = series_of_.find(content.number(2));
      content.skip(20);  // sequence number and times
      const Json message = Json::parse(content.rest(), nullptr, false);
      if (found != series_of_.end() && message.is_object()) {
        const double t = message.contains("t") && message["t"].is_number()
                             ? message["t"].get<double>()
                             : std::nan("");
        if (count >= rows && t != last) {
          stream_->seekg(start);
          break;
        }
        add_message(message, log.series[found->second]);
        last = t;
        ++count;
      }
    }
  }
  total_ += count;
  return count > 0;
}

}  // namespace limb::cli
