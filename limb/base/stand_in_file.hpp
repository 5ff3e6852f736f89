#pragma once

#include <string_view>

namespace limb {

/// What a file is that was stored in place of the one meant, for a message after its name: empty, a
/// Git LFS pointer, or a web page. "" for any other content.
std::string_view stand_in_file(std::string_view content);

}  // namespace limb
