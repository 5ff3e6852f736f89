#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace limb::cli {

/// The JSON of all verbs: indented by two, lists of numbers or texts in one line, a newline at the
/// end.
template <typename Json>
std::string json_document(const Json& value, int depth = 0) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  std::string text;
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, inner] : value.items()) {
      text += (text.empty() ? "{\n  " : ",\n  ") + indent;
      text += Json(key).dump() + ": " + json_document(inner, depth + 1);
    }
    text += "\n" + indent + "}";
  } else if (value.is_array() && !value.empty() &&
             std::any_of(value.begin(), value.end(),
                         [](const Json& one) { return one.is_structured(); })) {
    for (const auto& inner : value) {
      text += (text.empty() ? "[\n  " : ",\n  ") + indent;
      text += json_document(inner, depth + 1);
    }
    text += "\n" + indent + "]";
  } else if (value.is_array()) {
    for (const auto& inner : value) text += (text.empty() ? "" : ", ") + inner.dump();
    text = "[" + text + "]";
  } else {
    text = value.dump();
  }
  return depth == 0 ? text + "\n" : text;
}

}  // namespace limb::cli
