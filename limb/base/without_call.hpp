#pragma once

#include <string>
#include <string_view>

namespace limb {

/// The text of an Error without the function that it starts with, to be used in a message that has
/// a start of its own: "load: a.urdf: no such file" becomes "a.urdf: no such file". A name consists
/// of letters, or has an underscore, a capital letter or "::"; other starts, such as "rk4: ",
/// "builtin:2r: " or "a.urdf: ", are kept.
std::string without_call(std::string_view text);

}  // namespace limb
