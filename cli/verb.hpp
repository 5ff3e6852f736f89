#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

/// A verb of the command line, `limb VERB [options]`: one class in one file, listed in main.cpp.
namespace limb::cli {

enum class Exit { ok = 0, bad_input = 1, computation_failed = 2 };

class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string_view name() const = 0;
  /// One line for `limb --help`.
  virtual std::string_view summary() const = 0;
  /// Lines of `limb VERB --help` before the options, each "  command   description".
  virtual std::string_view examples() const = 0;
  /// Further text of `limb VERB --help`, after the examples.
  virtual std::string_view notes() const { return {}; }
  virtual void add_options(CLI::App& app) = 0;
  /// Writes the result to `out`, which is copied to stdout when run() returns; messages go to
  /// stderr. Throws limb::Error.
  virtual Exit run(std::ostream& out) = 0;
};

/// Adds an option that takes one finite number. The help shows `unit`: "--q1-deg DEG". An error
/// reads "limb demo: --q1-deg is 'abc', expected a number".
void add_number(CLI::App& app, const std::string& option, double& value, const std::string& unit,
                const std::string& description);

/// Selects the verb and runs it. Returns the exit code; an error is written to stderr as one line.
int run_command_line(std::span<const std::unique_ptr<Verb>> verbs, int argc, char** argv);

}  // namespace limb::cli
