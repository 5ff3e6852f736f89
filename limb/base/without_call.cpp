#include "limb/base/without_call.hpp"

#include <algorithm>
#include <cctype>

namespace limb {
namespace {

bool is_call(std::string_view name) {
  // "Model::integrate": the last part counts.
  const std::size_t scope = name.rfind("::");
  if (scope != name.npos) name.remove_prefix(scope + 2);
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_word)) return false;
  const bool compound =
      scope != name.npos || std::any_of(name.begin(), name.end(), [](unsigned char c) {
        return c == '_' || std::isupper(c) != 0;
      });
  return compound || std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

std::string without_call(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon != text.npos && is_call(text.substr(0, colon))) text.remove_prefix(colon + 2);
  return std::string(text);
}

}  // namespace limb
