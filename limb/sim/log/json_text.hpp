#pragma once

#include <string>
#include <string_view>

namespace limb {

/// A text as a JSON string, in quotes.
std::string json_text(std::string_view text);

}  // namespace limb
