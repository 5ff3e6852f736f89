#include "limb/base/error.hpp"

#include <fmt/format.h>

namespace limb {

void fail(std::string_view call, std::string_view argument, std::string_view found,
          std::string_view expected, std::string_view hint) {
  std::string text = fmt::format("{}: {} is {}, expected {}", call, argument, found, expected);
  if (!hint.empty()) text += fmt::format(" ({})", hint);
  throw Error(text);
}

void fail_computation(std::string_view call, std::string_view reason) {
  throw Error(fmt::format("{}: {}", call, reason), Error::Kind::computation_failed);
}

}  // namespace limb
