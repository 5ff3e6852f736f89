#include "cli/log_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
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
  // Topics of MCAP files without messages, or without numbers.
  std::erase_if(log.series,
                [](const LogSeries& one) { return one.t.empty() || one.fields.empty(); });
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

LogStream::LogStream(LogStream&&) noexcept = default;
LogStream::~LogStream() = default;

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
  if (!mcap_) mcap_ = std::make_unique<McapLogReader>(call_, path_, *stream_);
  const std::size_t count = mcap_->next(log, rows);
  total_ += count;
  return count > 0;
}

}  // namespace limb::cli
