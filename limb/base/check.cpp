#include "limb/base/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace limb {

std::string to_text(double value) {
  return fmt::format("{}", value);
}

std::string to_text(std::span<const double> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

void check_size(std::string_view call, std::string_view argument, std::ptrdiff_t found,
                std::ptrdiff_t expected, std::string_view hint) {
  if (found == expected) return;
  std::string text =
      fmt::format("{}: {} has {} entries, expected {}", call, argument, found, expected);
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  throw Error(text);
}

void check_finite(std::string_view call, std::string_view argument,
                  std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      fail(call, fmt::format("{}[{}]", argument, i), to_text(values[i]), "a finite number");
    }
  }
}

void check_positive(std::string_view call, std::string_view argument, double value) {
  if (!(std::isfinite(value) && value > 0)) fail(call, argument, to_text(value), "> 0 and finite");
}

void check_not_negative(std::string_view call, std::string_view argument, double value) {
  if (!(std::isfinite(value) && value >= 0)) {
    fail(call, argument, to_text(value), ">= 0 and finite");
  }
}

}  // namespace limb
