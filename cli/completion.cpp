#include "cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/verb_text.hpp"
#include "limb/base/check.hpp"
#include "limb/model/core/builtin.hpp"

namespace limb::cli {
namespace {

/// "--duration" and so on, with their texts.
std::vector<std::pair<std::string, const OptionText*>> long_options(const VerbText& verb) {
  std::vector<std::pair<std::string, const OptionText*>> options;
  for (const OptionText& option : verb.options) {
    for (const std::string& name : option.names) {
      if (name.starts_with("--")) options.emplace_back(name, &option);
    }
  }
  return options;
}

std::vector<std::string> builtin_robots() {
  std::vector<std::string> names = builtin_names();
  for (std::string& name : names) name.insert(0, "builtin:");
  return names;
}

/// For single quotes of a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result + "'";
}

std::vector<std::string> names_of(const std::vector<VerbText>& verbs) {
  std::vector<std::string> names = {"help", "version", "completion", "man"};
  for (const VerbText& verb : verbs) names.push_back(verb.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string bash_script(const std::vector<VerbText>& verbs) {
  std::string cases;
  for (const VerbText& verb : verbs) {
    std::vector<std::string> options;
    for (const auto& [name, option] : long_options(verb)) options.push_back(name);
    cases += fmt::format("    {}) words='{}' ;;\n", verb.name, fmt::join(options, " "));
  }
  // "builtin:arm" is two words of bash, divided at the colon.
  return fmt::format(R"(# Completion of limb for bash: source <(limb completion bash)
_limb() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words= colon=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  if [[ ${{COMP_WORDS[1]}} == help || ${{COMP_WORDS[1]}} == man ]]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
    return
  fi
  if [[ ${{COMP_WORDS[1]}} == completion ]]; then
    COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  [[ $word == : ]] && word=
  if [[ ${{COMP_WORDS[COMP_CWORD]}} == : || ${{COMP_WORDS[COMP_CWORD - 1]}} == : ]]; then
    COMPREPLY=($(compgen -W '{}' -- "$word"))
  else
    COMPREPLY=($(compgen -f -W 'builtin:' -- "$word"))
  fi
}}
complete -o filenames -o nosort -F _limb limb
)",
                     fmt::join(names_of(verbs), " "), fmt::join(names_of(verbs), " "), cases,
                     fmt::join(builtin_names(), " "));
}

std::string zsh_script(const std::vector<VerbText>& verbs) {
  std::string list, cases;
  for (const VerbText& verb : verbs) {
    list += fmt::format("    {}\n", quoted(verb.name + ":" + verb.summary));
    cases += fmt::format("    {})\n      options=(\n", verb.name);
    for (const auto& [name, option] : long_options(verb)) {
      cases += fmt::format("        {}\n", quoted(name + ":" + option->description));
    }
    cases += "      ) ;;\n";
  }
  return fmt::format(R"(#compdef limb
# Completion of limb for zsh: limb completion zsh > ~/.zfunc/_limb, with fpath+=~/.zfunc before compinit
_limb() {{
  local -a verbs options robots
  verbs=(
{}    'help:the options of a verb'
    'version:the version of limb'
    'completion:completion for a shell'
    'man:manual page of a verb'
  )
  robots=({})
  if ((CURRENT == 2)); then
    _describe 'verb' verbs
    return
  fi
  case ${{words[2]}} in
    help | man) _describe 'verb' verbs; return ;;
    completion) compadd bash zsh fish; return ;;
{}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe 'option' options
  else
    compadd -- $robots
    _files
  fi
}}
compdef _limb limb
)",
                     list, fmt::join(builtin_robots(), " "), cases);
}

std::string fish_script(const std::vector<VerbText>& verbs) {
  std::string text =
      "# Completion of limb for fish: limb completion fish > "
      "~/.config/fish/completions/limb.fish\n";
  text +=
      "complete -c limb -n __fish_use_subcommand -f -a help -d 'the options of a verb'\n"
      "complete -c limb -n __fish_use_subcommand -f -a version -d 'the version of limb'\n"
      "complete -c limb -n __fish_use_subcommand -f -a completion -d 'completion for a shell'\n"
      "complete -c limb -n __fish_use_subcommand -f -a man -d 'manual page of a verb'\n"
      "complete -c limb -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
  for (const VerbText& verb : verbs) {
    text += fmt::format("complete -c limb -n __fish_use_subcommand -f -a {} -d {}\n", verb.name,
                        quoted(verb.summary));
    const std::string condition = fmt::format("'__fish_seen_subcommand_from {}'", verb.name);
    for (const auto& [name, option] : long_options(verb)) {
      text += fmt::format("complete -c limb -n {} -l {}{} -d {}\n", condition, name.substr(2),
                          option->takes_value ? " -r" : "", quoted(option->description));
    }
    text += fmt::format("complete -c limb -n {} -a '{}'\n", condition,
                        fmt::join(builtin_robots(), " "));
  }
  return text;
}

}  // namespace

std::string completion_script(const std::string& shell, std::span<const VerbGroup> groups) {
  const std::vector<VerbText> verbs = verb_texts(groups);
  if (shell == "bash") return bash_script(verbs);
  if (shell == "zsh") return zsh_script(verbs);
  if (shell == "fish") return fish_script(verbs);
  fail("limb completion", "SHELL", "'" + shell + "'", "one of bash, zsh, fish");
}

}  // namespace limb::cli
