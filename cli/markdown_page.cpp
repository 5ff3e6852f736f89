#include "cli/markdown_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/verb_text.hpp"

namespace limb::cli {
namespace {

constexpr const char* kNotice =
    "<!-- Written by tools/verb_pages.py from the option tables of the program: do not edit. "
    "-->\n\n";

/// Text in a table in which nothing is markup.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// First letter in upper case.
std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string option_row(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "`" : ", `") + name + "`";
  if (!option.value.empty()) names += " " + escaped(option.value);
  return fmt::format("| {} | {}{} |\n", names, escaped(option.description),
                     option.required && !option.positional ? "; required" : "");
}

std::string verb_page(const VerbText& verb) {
  std::string text =
      fmt::format("# limb {}\n\n{}{}.\n\n", verb.name, kNotice, sentence(verb.summary));
  // Indented, not fenced: fenced blocks are run by a test.
  text += fmt::format("    {}\n\n## Examples\n\n", usage(verb.name, verb.options));
  std::string_view examples = verb.examples;
  while (!examples.empty()) {
    const std::size_t end = std::min(examples.find('\n'), examples.size() - 1);
    text += fmt::format("  {}\n", examples.substr(0, end));
    examples.remove_prefix(end + 1);
  }
  if (!verb.notes.empty()) {
    text += "\n## Notes\n\n";
    std::string_view notes = verb.notes;
    while (!notes.empty()) {
      const std::size_t end = std::min(notes.find('\n'), notes.size() - 1);
      const std::string line(notes.substr(0, end));
      // Indented lines are tables of the help.
      text += (line.starts_with("  ") ? "    " + line : escaped(line)) + "\n";
      notes.remove_prefix(end + 1);
    }
  }
  text += "\n## Arguments and options\n\n| | |\n|---|---|\n";
  for (const OptionText& option : verb.options) text += option_row(option);
  return text +
         "\nExit status: 0 ok, 1 bad input, 2 the computation failed, 130 and 143 interrupted by "
         "SIGINT and SIGTERM. Results go to stdout, messages to stderr. The same page in a "
         "terminal: `limb help " +
         verb.name + "`, `limb man " + verb.name + " | man -l -`.\n";
}

std::string main_page(std::span<const VerbGroup> groups) {
  std::string text = fmt::format(
      "# Command line\n\n{}The program is called as `limb VERB [options]`. Options have the same "
      "names in all verbs: `-o`, `--output` for files that are written, `--json` for "
      "machine-readable "
      "results, `--base` and `--root` for the robot, `--only`, `--frames`, `--functions` and "
      "`--feet` "
      "for names separated by commas, `--duration` in seconds, `--seed` for random numbers.\n",
      kNotice);
  for (const VerbGroup& group : groups) {
    text += fmt::format("\n## {}\n\n| | |\n|---|---|\n", group.title);
    for (const auto& verb : group.verbs) {
      text += fmt::format("| [limb {0}]({0}.md) | {1} |\n", verb->name(),
                          escaped(std::string(verb->summary())));
    }
  }
  return text +
         "\n## Help\n\n| | |\n|---|---|\n"
         "| `limb help` | all verbs; `limb help VERB` or `limb VERB --help`: the options of a verb "
         "|\n"
         "| `limb version` | the version of limb |\n"
         "| `limb completion bash\\|zsh\\|fish` | completion for a shell: `source <(limb "
         "completion "
         "bash)` |\n"
         "| `limb man VERB` | manual page: `limb man derive \\| man -l -` |\n";
}

}  // namespace

std::string markdown_page(const std::string& name, std::span<const VerbGroup> groups) {
  if (name.empty()) return main_page(groups);
  return verb_page(find_verb_text("limb man", name, groups));
}

}  // namespace limb::cli
