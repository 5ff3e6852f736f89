#include "cli/log_topics.hpp"

#include <algorithm>

namespace limb::cli {

std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Names topics_of(const LogData& log) {
  Names names;
  for (const LogSeries& series : log.series) names.push_back(series.topic);
  return names;
}

int field_of(const LogSeries& series, const std::string& name) {
  const auto found = std::find(series.fields.begin(), series.fields.end(), name);
  return found == series.fields.end() ? -1 : static_cast<int>(found - series.fields.begin());
}

bool has_fields(const LogSeries& series, const Names& names) {
  return !series.t.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return field_of(series, name) >= 0;
  });
}

Names prefixed(const std::string& prefix, Names names) {
  for (auto& name : names) name.insert(0, prefix);
  return names;
}

}  // namespace limb::cli
