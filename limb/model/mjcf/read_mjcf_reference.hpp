#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "limb/model/mjcf/read_mjcf_body.hpp"

/// References by name to bodies, joints, sites and tendons.
namespace limb::mjcf {

/// An element and its full name.
template <typename Value>
using NamedElement = std::pair<const std::string, Value>;

/// The element that the attribute names, or null and an error; null without error if it is missing.
/// If the element has copies, the one with the context's suffix or the longest end of it.
template <typename Value>
const NamedElement<Value>* find(const Attributes& a, const char* attribute, const char* kind,
                                const std::unordered_map<std::string, Value>& known,
                                const ReadContext& context) {
  if (!a.has(attribute)) return nullptr;
  const std::string name = a.text(attribute);
  auto found = known.find(name);
  for (std::size_t begin = 0; found == known.end() && begin < context.suffix.size(); ++begin) {
    found = known.find(name + context.suffix.substr(begin));
  }
  if (found != known.end()) return &*found;
  std::vector<std::string> names;
  if (!a.has_many_diagnostics()) {
    for (const auto& [other, unused] : known) names.push_back(other);
    std::sort(names.begin(), names.end());
  }
  a.error("reference-unknown",
          fmt::format("attribute '{}' is '{}', no such {}{}", attribute, name.substr(0, 60), kind,
                      closest(name, names)),
          "it is not read");
  return nullptr;
}

/// An error about an attribute without which the element has no meaning.
void missing_attribute(const Attributes& a, const char* what);

/// Whether the joint has one degree of freedom, so that it can be coupled.
bool is_scalar(const JointDescription<double>& joint);

/// Calls read() once, or once for each copy if elements that the names refer to have copies, with
/// the context's suffix set.
template <typename Read>
void for_each_copy(const std::vector<std::string>& names, ReadContext& context, const Read& read) {
  const std::vector<std::string>* suffixes = nullptr;
  for (const std::string& name : names) {
    const auto found = context.copies.find(name);
    if (found == context.copies.end()) continue;
    // Copies of copies have the longer suffix.
    if (suffixes == nullptr || found->second.front().size() > suffixes->front().size()) {
      suffixes = &found->second;
    }
  }
  if (suffixes == nullptr) return read();
  for (const std::string& suffix : std::vector<std::string>(*suffixes)) {
    context.suffix = suffix;
    read();
  }
  context.suffix.clear();
}

/// The values of the attributes of an element that refer to other elements.
std::vector<std::string> references(const Node& node);

}  // namespace limb::mjcf
