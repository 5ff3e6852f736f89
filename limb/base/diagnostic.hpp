#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace limb {

/// File and line of an element of the input. line 0: unknown, or no file.
struct SourceLocation {
  std::string file;
  int line = 0;

  /// "arm.urdf:12", "arm.urdf" or "".
  [[nodiscard]] std::string text() const {
    return line > 0 ? file + ":" + std::to_string(line) : file;
  }
};

/// One finding about an input: what is wrong, why it matters, and how to fix it.
struct Diagnostic {
  enum class Severity {
    note,     ///< read and ignored, or unusual but harmless
    warning,  ///< legal, but probably not what was meant
    error,    ///< no robot can be built from this, or its dynamics are impossible
  };

  Severity severity = Severity::error;
  std::string rule;       ///< stable name, for example "inertia-triangle"
  SourceLocation source;  ///< file and line
  std::string message;    ///< what was found, with names and numbers
  std::string reason;     ///< why it matters, one sentence
  std::string fix;        ///< what to write instead; empty where only the author knows

  /// "arm.urdf:12: error: link 'tip': mass is -1, expected > 0 [mass-not-positive]"
  [[nodiscard]] std::string text() const;
};

using Diagnostics = std::vector<Diagnostic>;

[[nodiscard]] const char* to_text(Diagnostic::Severity severity);
[[nodiscard]] bool has_errors(const Diagnostics& diagnostics);
/// @throws Error "call: file:line: message (fix)" for the first diagnostic that is an error.
void throw_first_error(std::string_view call, const Diagnostics& diagnostics);

}  // namespace limb
