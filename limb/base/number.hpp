#pragma once

#include <optional>
#include <string_view>
#include <vector>

/// Numbers in files, read the same way in every locale.
namespace limb {

/// The number that `text` is, spaces around it allowed; nothing if it is not exactly one number, or
/// not a finite one ("nan", "inf", "1e999").
std::optional<double> parse_number(std::string_view text);

/// Numbers separated by spaces (or line ends, or commas); nothing if any part is not a finite
/// number.
std::optional<std::vector<double>> parse_numbers(std::string_view text);

}  // namespace limb
