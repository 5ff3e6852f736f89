#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

/// A verb of the command line, `limb VERB [options]`: one class in one file, and one line in
/// main.cpp.
namespace limb::cli {

enum class Exit { ok = 0, bad_input = 1, computation_failed = 2 };

class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string_view name() const = 0;
  /// One line for `limb --help`.
  virtual std::string_view summary() const = 0;
  /// Lines of `limb VERB --help` that come before the options, each "  command   what it shows".
  virtual std::string_view examples() const = 0;
  /// What else `limb VERB --help` should say, after the examples.
  virtual std::string_view notes() const { return {}; }
  virtual void add_options(CLI::App& app) = 0;
  /// Writes the result to `out`, which reaches stdout only when run() returns; messages go to
  /// stderr. Throws limb::Error.
  virtual Exit run(std::ostream& out) = 0;
};

/// Adds an option that takes one finite number. `unit` stands in the help: "--q1-deg DEG".
/// An error reads "limb demo: --q1-deg is 'abc', expected a number".
void add_number(CLI::App& app, const std::string& option, double& value, const std::string& unit,
                const std::string& description);

/// Picks the verb, runs it, and turns whatever happens into an exit code and, if it went wrong, one
/// line on stderr.
int run_command_line(std::span<const std::unique_ptr<Verb>> verbs, int argc, char** argv);

}  // namespace limb::cli
