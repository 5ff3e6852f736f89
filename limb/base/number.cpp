#include "limb/base/number.hpp"

#include <charconv>
#include <cmath>

namespace limb {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::result_out_of_range && stop == end) {
    // Underflow reads as zero; overflow is rejected.
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    return tiny ? std::optional(0.0) : std::nullopt;
  }
  if (status != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> values;
  std::size_t i = 0;
  const auto between = [](char c) { return is_space(c) || c == ','; };
  while (true) {
    while (i < text.size() && between(text[i])) ++i;
    if (i == text.size()) return values;
    const std::size_t start = i;
    while (i < text.size() && !between(text[i])) ++i;
    const auto value = parse_number(text.substr(start, i - start));
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
}

}  // namespace limb
