#include "cli/robot_findings.hpp"

#include <fmt/format.h>

#include "limb/base/diagnostic.hpp"
#include "limb/base/error.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/lint/check.hpp"

namespace limb::cli {
namespace {

using Severity = Diagnostic::Severity;

std::string counted(int n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

RobotFindings find_in_robot(std::string_view call, const std::string& path,
                            const ReadOptions& options, bool verbose) {
  RobotFindings result;
  if (is_builtin(path)) return result;
  Diagnostics shown;
  try {
    Diagnostics found;
    const Description<double> robot = parse_robot(path, options, found);
    if (has_errors(found)) return result;
    for (Diagnostic& d : found) {
      if (d.severity == Severity::warning) shown.push_back(std::move(d));
    }
    result.warnings = static_cast<int>(shown.size());
    for (Diagnostic& d : check_robot(robot)) {
      if (d.severity != Severity::error) continue;
      if (result.errors++ == 0) result.first_error = d.source.text() + ": " + d.message;
      shown.push_back(std::move(d));
    }
  } catch (const Error&) {
    return {};
  }
  if (shown.empty()) return result;
  if (verbose) {
    for (const Diagnostic& d : shown) result.text += d.text() + "\n";
    return result;
  }
  const std::string numbers = result.errors == 0     ? counted(result.warnings, "warning")
                              : result.warnings == 0 ? counted(result.errors, "error")
                                                     : counted(result.errors, "error") + " and " +
                                                           counted(result.warnings, "warning");
  const Diagnostic& first =
      result.errors > 0 ? shown[static_cast<std::size_t>(result.warnings)] : shown[0];
  result.text = fmt::format("{}: {} in {}, first: {} (-v lists all, limb check says more)\n", call,
                            numbers, path, first.message);
  return result;
}

}  // namespace limb::cli
