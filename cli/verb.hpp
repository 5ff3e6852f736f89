#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// The numbers that an option accepts, always finite.
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool excludes_min = false;

  static NumberRange positive(double max = std::numeric_limits<double>::infinity()) {
    return {0, max, true};
  }
  static NumberRange not_negative() { return {0}; }
  bool contains(double x) const { return (excludes_min ? x > min : x >= min) && x <= max; }
  /// "a number > 0 and <= 3600"
  std::string text() const;
};

/// Adds an option that takes one number. The help shows `unit`: "--q1-deg DEG". An error reads
/// "limb demo: --q1-deg is 'abc', expected a number".
void add_number(CLI::App& app, const std::string& option, double& value, const std::string& unit,
                const std::string& description, const NumberRange& range = {});
/// The same without a default value.
void add_number(CLI::App& app, const std::string& option, std::optional<double>& value,
                const std::string& unit, const std::string& description,
                const NumberRange& range = {});

/// Calls `set` with the whole number of the option, if it is in the range.
void add_whole_number(CLI::App& app, const std::string& option,
                      const std::function<void(std::uint64_t)>& set, const std::string& description,
                      std::uint64_t min, std::uint64_t max);
/// Adds an option that takes one whole number, of an integer or of an optional one. An error reads
/// "limb prove: --states is 0, expected a whole number from 1 to 2147483647".
template <typename Integer>
void add_whole_number(CLI::App& app, const std::string& option, Integer& value,
                      const std::string& description, std::uint64_t min,
                      std::uint64_t max = std::numeric_limits<Integer>::max()) {
  add_whole_number(
      app, option, [&value](std::uint64_t x) { value = static_cast<Integer>(x); }, description, min,
      max);
}
template <typename Integer>
void add_whole_number(CLI::App& app, const std::string& option, std::optional<Integer>& value,
                      const std::string& description, std::uint64_t min,
                      std::uint64_t max = std::numeric_limits<Integer>::max()) {
  add_whole_number(
      app, option, [&value](std::uint64_t x) { value = static_cast<Integer>(x); }, description, min,
      max);
}

/// Adds an option that takes names separated by commas; it may also be repeated. The spelling of
/// these options is the same for all verbs: --frames, --only, --functions, --feet.
CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const std::string& description);

/// Verbs under one title in `limb --help`.
struct VerbGroup {
  std::string_view title;
  std::vector<std::unique_ptr<Verb>> verbs;
};

/// Selects the verb and runs it. Returns the exit code, that of Exit or 128 + the signal of an
/// Interrupt; an error is written to stderr as one line.
int run_command_line(std::span<const VerbGroup> groups, int argc, char** argv);

}  // namespace limb::cli
