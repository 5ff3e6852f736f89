#include "cli/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/verb_text.hpp"
#include "limb/base/version.hpp"

namespace limb::cli {
namespace {

/// Text in which nothing is a command of roff.
std::string escaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string head(const std::string& name, const std::string& summary) {
  return fmt::format(".TH {} 1 \"\" \"limb {}\" \"limb manual\"\n.SH NAME\n{} \\- {}\n",
                     upper(name), kVersion, escaped(name), escaped(summary));
}

/// "  command   description" in each line.
std::string example_list(const std::string& examples) {
  std::string text;
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const std::size_t gap = std::min(line.find("  "), line.size());
    const std::size_t rest = std::min(line.find_first_not_of(' ', gap), line.size());
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(line.substr(0, gap)),
                        escaped(line.substr(rest)));
  }
  return text;
}

constexpr const char* kExit =
    ".SH EXIT STATUS\n0: ok. 1: bad input. 2: the computation failed. 130, 143: interrupted by "
    "SIGINT, SIGTERM.\n";

std::string verb_page(const VerbText& verb) {
  std::string text = head("limb-" + verb.name, verb.summary);
  text += fmt::format(".SH SYNOPSIS\n\\fBlimb {}\\fR", verb.name);
  text += escaped(usage(verb.name, verb.options).substr(verb.name.size() + 5)) + "\n";
  if (!verb.notes.empty()) text += ".SH DESCRIPTION\n" + escaped(verb.notes);
  text += ".SH OPTIONS\n";
  for (const OptionText& option : verb.options) {
    std::string names;
    for (const std::string& name : option.names) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
    }
    if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", escaped(option.value));
    text += fmt::format(".TP\n{}\n{}\n", names, escaped(option.description));
  }
  text += ".SH EXAMPLES\n" + example_list(verb.examples);
  return text + kExit + ".SH SEE ALSO\n\\fBlimb\\fR(1)\n";
}

std::string main_page(const std::vector<VerbText>& verbs) {
  std::string text = head("limb", "kinematics and dynamics of manipulators and legged robots");
  text += ".SH SYNOPSIS\n\\fBlimb\\fR \\fIVERB\\fR [options]\n.SH VERBS\n";
  for (const VerbText& verb : verbs) {
    text += fmt::format(".TP\n\\fBlimb\\-{}\\fR(1)\n{}\n", verb.name, escaped(verb.summary));
  }
  return text + kExit;
}

}  // namespace

std::string man_page(const std::string& name, std::span<const VerbGroup> groups) {
  if (name.empty()) return main_page(verb_texts(groups));
  return verb_page(find_verb_text("limb man", name, groups));
}

}  // namespace limb::cli
