#include "cli/log_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "cli/mcap_log.hpp"
#include "limb/base/error.hpp"
#include "limb/base/number.hpp"
#include "limb/base/text_file.hpp"

namespace limb::cli {
namespace {

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
  LogData log;
  if (path.ends_with(".mcap")) {
    std::istringstream stream{std::string(text)};
    McapLogReader(call, path, stream).next(log, std::numeric_limits<std::size_t>::max());
    // Topics without messages, or without numbers.
    std::erase_if(log.series,
                  [](const LogSeries& one) { return one.t.empty() || one.fields.empty(); });
  } else {
    log = read_csv(call, path, text);
  }
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
