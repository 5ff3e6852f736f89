#pragma once

#include <string>
#include <vector>

#include "cli/verb.hpp"

/// The option tables of all verbs as text, for completion and manual pages.
namespace limb::cli {

struct OptionText {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional argument "MODEL"
  std::string value;               ///< "FILE", or empty
  std::string description;
  bool takes_value = false, positional = false, required = false;
};

struct VerbText {
  std::string name, summary, examples, notes;
  std::vector<OptionText> options;  ///< positional arguments first, former names left out
};

/// Whether an option is shown: former names of options are not.
inline bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty();
}

std::vector<OptionText> option_texts(const CLI::App& app);
/// "limb plot LOG -o FILE [options]": all that is required.
std::string usage(const std::string& verb, const std::vector<OptionText>& options);
std::vector<VerbText> verb_texts(std::span<const VerbGroup> groups);
/// @throws Error "call: verb is 'x', expected one of ..."
VerbText find_verb_text(const std::string& call, const std::string& name,
                        std::span<const VerbGroup> groups);

}  // namespace limb::cli
