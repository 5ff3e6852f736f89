#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "limb/base/error.hpp"

/// Argument checks of public functions. Each throws Error with call, argument, found and expected.
namespace limb {

/// Shortest decimal text that reads back as the same number: 0.1, not 0.10000000000000001.
std::string to_text(double value);
/// "[1, 2, 3]"
std::string to_text(std::span<const double> values);

void check_size(std::string_view call, std::string_view argument, std::ptrdiff_t found,
                std::ptrdiff_t expected, std::string_view hint = {});
/// All numbers are finite; the message gives the index of the first that is not.
void check_finite(std::string_view call, std::string_view argument, std::span<const double> values);
inline void check_finite(std::string_view call, std::string_view argument, double value) {
  if (!std::isfinite(value)) fail(call, argument, to_text(value), "a finite number");
}
/// Finite and > 0.
void check_positive(std::string_view call, std::string_view argument, double value);
/// Finite and >= 0.
void check_not_negative(std::string_view call, std::string_view argument, double value);

}  // namespace limb
