#include "limb/base/diagnostic.hpp"

#include <algorithm>

namespace limb {

const char* to_text(Diagnostic::Severity severity) {
  switch (severity) {
    case Diagnostic::Severity::note:
      return "note";
    case Diagnostic::Severity::warning:
      return "warning";
    case Diagnostic::Severity::error:
      return "error";
  }
  return "error";
}

std::string Diagnostic::text() const {
  const std::string where = source.text();
  return (where.empty() ? "" : where + ": ") + to_text(severity) + ": " + message +
         (rule.empty() ? "" : " [" + rule + "]");
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Diagnostic::Severity::error; });
}

}  // namespace limb
