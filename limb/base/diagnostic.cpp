#include "limb/base/diagnostic.hpp"

#include <algorithm>

#include "limb/base/error.hpp"

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

void throw_first_error(std::string_view call, const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Diagnostic::Severity::error) continue;
    const std::string where = d.source.text();
    throw Error(std::string(call) + ": " + (where.empty() ? "" : where + ": ") + d.message +
                (d.fix.empty() ? "" : " (" + d.fix + ")"));
  }
}

}  // namespace limb
