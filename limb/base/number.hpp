#pragma once

#include <optional>
#include <string_view>
#include <vector>

/// Parsing of numbers in files, independent of the locale.
namespace limb {

/// The number in `text`, with optional surrounding spaces; nullopt unless it is exactly one finite
/// number ("nan", "inf" and "1e999" are rejected).
std::optional<double> parse_number(std::string_view text);

/// Numbers separated by spaces, line ends or commas; nullopt if any part is not a finite number.
std::optional<std::vector<double>> parse_numbers(std::string_view text);

}  // namespace limb
