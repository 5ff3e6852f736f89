#pragma once

#include <string>

#include "limb/model/mjcf/read_mjcf.hpp"

namespace limb::testing {

/// Result of parse_mjcf with its diagnostics.
struct ParsedMjcf {
  Description<double> description;
  Diagnostics diagnostics;

  /// "rule:line" of each diagnostic, in order: "class-unknown:3 geom-size:7".
  [[nodiscard]] std::string rules() const {
    std::string result;
    for (const Diagnostic& d : diagnostics) {
      result += (result.empty() ? "" : " ") + d.rule + ":" + std::to_string(d.source.line);
    }
    return result;
  }
  [[nodiscard]] std::string first() const {
    return diagnostics.empty() ? "nothing" : diagnostics.front().text();
  }
};

inline ParsedMjcf parse_text(const std::string& text, const ReadOptions& options = {},
                             const std::string& file = "m.xml") {
  ParsedMjcf result;
  result.description = parse_mjcf(text, file, options, result.diagnostics);
  return result;
}

/// One body named b in the world, with the given contents.
inline std::string body_with(const std::string& contents, const std::string& before = {}) {
  return "<mujoco>" + before + "<worldbody><body name='b'>" + contents +
         "</body></worldbody></mujoco>";
}

}  // namespace limb::testing
