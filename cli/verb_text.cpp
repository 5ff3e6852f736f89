#include "cli/verb_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/check.hpp"

namespace limb::cli {

std::vector<OptionText> option_texts(const CLI::App& app) {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    OptionText text;
    text.positional = !option->nonpositional();
    if (text.positional) text.names.push_back(option->get_name(true));
    for (const std::string& name : option->get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) text.names.push_back("--" + name);
    text.takes_value = option->get_items_expected_max() > 0;
    if (text.takes_value && !text.positional) text.value = option->get_type_name();
    text.description = option->get_description();
    text.required = option->get_required();
    texts.push_back(std::move(text));
  }
  std::stable_partition(texts.begin(), texts.end(),
                        [](const OptionText& text) { return text.positional; });
  return texts;
}

std::string usage(const std::string& verb, const std::vector<OptionText>& options) {
  std::string text = "limb " + verb;
  for (const OptionText& option : options) {
    const std::string& name = option.names[0];
    if (option.positional) {
      text += option.required ? " " + name : " [" + name + "]";
    } else if (option.required) {
      text += fmt::format(" {} {}", name, option.value);
    }
  }
  return text + " [options]";
}

std::vector<VerbText> verb_texts(std::span<const VerbGroup> groups) {
  std::vector<VerbText> verbs;
  for (const VerbGroup& group : groups) {
    for (const auto& verb : group.verbs) {
      VerbText text{std::string(verb->name()),
                    std::string(verb->summary()),
                    std::string(verb->examples()),
                    std::string(verb->notes()),
                    {}};
      CLI::App app(text.summary, "limb " + text.name);
      app.set_help_flag("-h,--help", "the options");
      verb->add_options(app);
      text.options = option_texts(app);
      verbs.push_back(std::move(text));
    }
  }
  return verbs;
}

VerbText find_verb_text(const std::string& call, const std::string& name,
                        std::span<const VerbGroup> groups) {
  std::vector<std::string> names;
  for (VerbText& verb : verb_texts(groups)) {
    if (verb.name == name) return std::move(verb);
    names.push_back(verb.name);
  }
  fail(call, "verb", "'" + name + "'", fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace limb::cli
