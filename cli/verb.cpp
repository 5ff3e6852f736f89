#include "cli/verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "cli/colour.hpp"
#include "cli/completion.hpp"
#include "cli/interrupt.hpp"
#include "cli/man_page.hpp"
#include "cli/markdown_page.hpp"
#include "cli/verb_text.hpp"
#include "limb/base/check.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/version.hpp"
#include "limb/base/without_call.hpp"

namespace limb::cli {
namespace {

constexpr std::string_view kExitLine =
    "Exit: 0 ok, 1 bad input, 2 computation failed. Interrupted: 130 (SIGINT), 143 (SIGTERM).\n"
    "Results go to stdout, messages to stderr.\n";

// Two columns, the left as wide as its widest entry; the right one is wrapped at 100 columns.
std::string columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  constexpr std::size_t kLine = 100;
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  const std::size_t start = width + 5, space = kLine - std::min(start, kLine - 30);
  std::string text;
  for (const auto& [left, right] : rows) {
    text += fmt::format("  {:<{}}   ", left, width);
    std::string_view rest = right;
    while (rest.size() > space) {
      const std::size_t end = rest.rfind(' ', space);
      if (end == std::string_view::npos) break;
      text += fmt::format("{}\n{:{}}", rest.substr(0, end), "", start);
      rest.remove_prefix(end + 1);
    }
    text += fmt::format("{}\n", rest);
  }
  return text;
}

std::string main_help(std::span<const VerbGroup> groups) {
  std::string text =
      "Kinematics and dynamics of manipulators and legged robots.\n\nUsage: limb VERB [options]\n";
  const std::vector<std::pair<std::string, std::string>> help = {
      {"help", "this text; limb help VERB, or limb VERB --help: the options of a verb"},
      {"version", "the version of limb"},
      {"completion", "completion for a shell: limb completion bash|zsh|fish"},
      {"man", "manual page of a verb: limb man derive | man -l -"}};
  // One column for all groups.
  std::size_t width = 0;
  for (const auto& [name, description] : help) width = std::max(width, name.size());
  for (const VerbGroup& group : groups) {
    for (const auto& verb : group.verbs) width = std::max(width, verb->name().size());
  }
  for (const VerbGroup& group : groups) {
    text += fmt::format("\n{}\n", group.title);
    for (const auto& verb : group.verbs) {
      text += fmt::format("  {:<{}}   {}\n", verb->name(), width, verb->summary());
    }
  }
  text += "\nHelp\n";
  for (const auto& [name, description] : help) {
    text += fmt::format("  {:<{}}   {}\n", name, width, description);
  }
  // The first example of each verb: a command, two or more spaces, what it does.
  std::vector<std::pair<std::string, std::string>> examples;
  for (const VerbGroup& group : groups) {
    for (const auto& verb : group.verbs) {
      std::string line(verb->examples().substr(2, verb->examples().find('\n') - 2));
      const std::size_t gap = line.find("  ");
      examples.emplace_back(line.substr(0, gap), line.substr(line.find_first_not_of(' ', gap)));
    }
  }
  text += "\nExamples\n" + columns(examples);
  return text + "\n" + std::string(kExitLine);
}

std::string verb_help(const Verb& verb, const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    std::string left =
        option->nonpositional() ? option->get_name(false, true) : option->get_name(true);
    if (option->nonpositional() && !option->get_type_name().empty()) {
      left += " " + option->get_type_name();
    }
    rows.emplace_back(left, option->get_description());
  }
  const std::string notes = verb.notes().empty() ? "" : fmt::format("{}\n", verb.notes());
  return fmt::format("{}\n\nUsage: {}\n\n{}\n{}{}\n{}", verb.summary(),
                     usage(std::string(verb.name()), option_texts(app)), verb.examples(), notes,
                     columns(rows), kExitLine);
}

std::string closest(std::string_view typed, std::span<const std::string> known) {
  const std::string name = nearest(typed, known);
  return name.empty() ? "" : fmt::format(", closest: '{}'", name);
}

// Some errors of CLI11 have several lines.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Rewrites messages of CLI11 in the words of limb::fail(); all others are passed on. Those that do
// not say what is expected refer to the help.
std::string explain(const std::string& call, const CLI::ParseError& error) {
  std::string text = one_line(error.what());
  const std::string option = text.substr(0, text.find(':'));
  const std::string see = fmt::format(" (see: {} --help)", call);
  if (text.ends_with(" missing")) return option + " needs a value" + see;
  if (text.find("but received") != std::string::npos) {
    return option + " is given more than once" + see;
  }
  // "--base: x not in {fixed,free}"
  if (const std::size_t list = text.rfind(" not in {");
      list != text.npos && text.ends_with('}') && text.size() > option.size() + 2) {
    const std::string value = text.substr(option.size() + 2, list - option.size() - 2);
    std::string choices;
    for (const char c : text.substr(list + 9, text.size() - list - 10)) {
      choices += c == ',' ? ", " : std::string(1, c);
    }
    return fmt::format("{} is '{}', expected one of {}", option, value, choices);
  }
  return text + see;
}

Exit run_verb(Verb& verb, int argc, char** argv, std::ostream& out) {
  const std::string call = fmt::format("limb {}", verb.name());
  CLI::App app(std::string(verb.summary()), call);
  app.set_help_flag("-h,--help", "this text");
  app.allow_extras();  // reported below, with a better message
  verb.add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out << verb_help(verb, app);
    return Exit::ok;
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}: {}", call, explain(call, error)));
  }
  if (!app.remaining().empty()) {
    const std::string found = app.remaining().front();
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    throw Error(fmt::format("{}: unknown argument '{}'{} (see: {} --help)", call, found,
                            closest(found.substr(0, found.find('=')), names), call));
  }
  return verb.run(out);
}

/// Runs `limb VERB --help`.
Exit show_help(Verb& verb, std::ostream& out) {
  std::string name(verb.name()), option = "--help";
  char* arguments[] = {name.data(), option.data(), nullptr};
  return run_verb(verb, 2, arguments, out);
}

Exit dispatch(std::span<const VerbGroup> groups, int argc, char** argv, std::ostream& out) {
  if (argc < 2) throw Error("limb: no verb given (see: limb --help)");
  const std::string word = argv[1];
  std::vector<std::string> names = {"help", "version", "completion", "man"};
  std::map<std::string, Verb*> verbs;
  for (const VerbGroup& group : groups) {
    for (const auto& verb : group.verbs) {
      verbs.emplace(verb->name(), verb.get());
      names.emplace_back(verb->name());
    }
  }
  const auto find = [&](const std::string& name) -> Verb& {
    const auto found = verbs.find(name);
    if (found != verbs.end()) return *found->second;
    throw Error(fmt::format("limb: unknown {} '{}'{} (see: limb --help)",
                            name.starts_with('-') ? "option" : "verb", name, closest(name, names)));
  };
  if (word == "--help" || word == "-h" || (word == "help" && argc == 2)) {
    out << main_help(groups);
    return Exit::ok;
  }
  // Arguments after those that the verb takes.
  const auto check_count = [&](int most) {
    if (argc <= most + 2) return;
    throw Error(
        fmt::format("limb {}: unknown argument '{}' (see: limb --help)", word, argv[most + 2]));
  };
  if (word == "help") {
    check_count(1);
    return show_help(find(argv[2]), out);
  }
  if (word == "--version" || word == "version") {
    check_count(0);
    out << "limb " << kVersion << "\n";
    return Exit::ok;
  }
  if (word == "completion") {
    check_count(1);
    if (argc == 2) throw Error("limb completion: SHELL is required: bash, zsh or fish");
    out << completion_script(argc > 2 ? argv[2] : "", groups);
    return Exit::ok;
  }
  if (word == "man") {
    std::vector<std::string> rest(argv + 2, argv + argc);
    const bool markdown = std::erase(rest, "--markdown") > 0;
    if (rest.size() > 1) {
      throw Error(fmt::format("limb man: unknown argument '{}' (see: limb --help)", rest[1]));
    }
    const std::string name = rest.empty() ? "" : rest[0];
    out << (markdown ? markdown_page(name, groups) : man_page(name, groups));
    return Exit::ok;
  }
  return run_verb(find(word), argc - 1, argv + 1, out);
}

// A closed pipe (limb demo | head -1) is not a failure; a full disk is.
void write_to_stdout(const std::string& result) {
  const std::string text = has_colour(stdout) ? coloured(result) : result;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((!written || std::fflush(stdout) != 0) && errno != EPIPE) {
    fail_computation("limb", fmt::format("cannot write to stdout: {}", std::strerror(errno)));
  }
}

/// An error of the library starts with the function that failed, which users of the command line do
/// not know: "load: a.urdf: no such file" becomes "limb info: a.urdf: no such file".
std::string by_command(const std::string& call, const std::string& text) {
  return text.starts_with("limb") ? text : call + ": " + without_call(text);
}

Exit report_error(Exit code, std::string_view message) {
  std::string line = one_line(std::string(message)) + "\n";
  // The command in front, in red.
  if (const std::size_t colon = line.find(": "); has_colour(stderr) && colon != line.npos) {
    line = "\033[1;31m" + line.substr(0, colon + 1) + "\033[0m" + line.substr(colon + 1);
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
  return code;
}

}  // namespace

std::string NumberRange::text() const {
  if (std::isfinite(min) && std::isfinite(max) && !excludes_min) {
    return fmt::format("a number from {} to {}", to_text(min), to_text(max));
  }
  std::string text = "a number";
  if (std::isfinite(min)) text += fmt::format(" {} {}", excludes_min ? ">" : ">=", to_text(min));
  if (std::isfinite(max)) text += fmt::format(" and <= {}", to_text(max));
  return text;
}

namespace {

/// "-n,--states" is reported as "--states".
std::string long_name(const std::string& option) {
  return option.substr(option.rfind(',') + 1);
}

template <typename Value>
void add_number_option(CLI::App& app, const std::string& option, Value& value,
                       const std::string& unit, const std::string& description,
                       const NumberRange& range) {
  const auto read = [call = app.get_name(), name = long_name(option), range,
                     &value](const std::string& text) {
    const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* last = text.data() + text.size();
    double number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc::result_out_of_range) {
      fail(call, name, fmt::format("'{}'", text), "a number that a double can hold");
    }
    if (error != std::errc() || end != last) {
      fail(call, name, fmt::format("'{}'", text), range.text());
    }
    check_finite(call, name, number);
    if (!range.contains(number)) fail(call, name, to_text(number), range.text());
    value = number;
  };
  app.add_option_function<std::string>(option, read, description)->type_name(unit);
}

}  // namespace

void add_number(CLI::App& app, const std::string& option, double& value, const std::string& unit,
                const std::string& description, const NumberRange& range) {
  add_number_option(app, option, value, unit,
                    fmt::format("{} (default {})", description, to_text(value)), range);
}

void add_number(CLI::App& app, const std::string& option, std::optional<double>& value,
                const std::string& unit, const std::string& description, const NumberRange& range) {
  add_number_option(app, option, value, unit, description, range);
}

void add_whole_number(CLI::App& app, const std::string& option,
                      const std::function<void(std::uint64_t)>& set, const std::string& description,
                      std::uint64_t min, std::uint64_t max) {
  const auto read = [call = app.get_name(), name = long_name(option), set, min,
                     max](const std::string& text) {
    const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
    const char* last = text.data() + text.size();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc() || end != last || number < min || number > max) {
      // A text that is a number is shown without quotes.
      const bool digits = text.find_first_not_of("+-0123456789") == text.npos && !text.empty();
      fail(call, name, digits ? text : fmt::format("'{}'", text),
           fmt::format("a whole number from {} to {}", min, max));
    }
    set(number);
  };
  app.add_option_function<std::string>(option, read, description)->type_name("N");
}

CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const std::string& description) {
  return app.add_option(option, names, description)
      ->delimiter(',')
      ->allow_extra_args(false)  // MODEL may follow
      ->type_name("A,B,...");
}

int run_command_line(std::span<const VerbGroup> groups, int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead, with a reason
  Exit code = Exit::computation_failed;
  const std::string call = argc > 1 ? fmt::format("limb {}", argv[1]) : "limb";
  try {
    std::ostringstream out;
    code = dispatch(groups, argc, argv, out);
    write_to_stdout(out.str());
  } catch (const Error& error) {
    code = report_error(
        error.kind() == Error::Kind::bad_input ? Exit::bad_input : Exit::computation_failed,
        by_command(call, error.what()));
  } catch (const std::bad_alloc&) {
    code = report_error(Exit::bad_input,
                        fmt::format("{}: out of memory, the input is too large", call));
  } catch (const std::length_error&) {
    code = report_error(Exit::bad_input,
                        fmt::format("{}: a size of the input is too large for memory", call));
  } catch (const std::exception& error) {
    code = report_error(Exit::computation_failed, fmt::format("limb: {}", error.what()));
  } catch (...) {
    code = report_error(Exit::computation_failed, "limb: unknown failure");
  }
  if (code == Exit::computation_failed && Interrupt::signal() != 0) {
    return 128 + Interrupt::signal();  // as shells report it
  }
  return static_cast<int>(code);
}

}  // namespace limb::cli
