#include "limb/math/euler_sequence.hpp"
#include <fmt/core.h>

#include "limb/base/error.hpp"

namespace limb {

void EulerSequence::fail_text(std::string_view text, std::string_view wrong) {
  fail("EulerSequence", "text", fmt::format("\"{}\"", text),
       "a sequence such as \"ZYX\" or \"xyz\"", wrong);
}

std::string to_text(const EulerSequence& sequence) {
  const auto letters = sequence.letters();
  return std::string(letters.begin(), letters.end());
}

std::ostream& operator<<(std::ostream& out, const EulerSequence& sequence) {
  return out << to_text(sequence);
}

}  // namespace limb
