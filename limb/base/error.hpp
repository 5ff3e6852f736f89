#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace limb {

/// The only exception type of limb. Its text names call, argument, found, expected and, if known,
/// the usual cause:
///
///   rnea: q has 36 entries, expected 37 (a free joint needs 7 numbers in q but 6 in v)
class Error : public std::runtime_error {
 public:
  enum class Kind {
    bad_input,           ///< the caller can fix it: wrong size, wrong file, wrong value
    computation_failed,  ///< the input is legal but the result does not exist, e.g. a singular
                         ///< matrix
  };

  explicit Error(const std::string& text, Kind kind = Kind::bad_input)
      : std::runtime_error(text), kind_(kind) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// Throws Error "call: argument is found, expected expected (hint)".
[[noreturn]] void fail(std::string_view call, std::string_view argument, std::string_view found,
                       std::string_view expected, std::string_view hint = {});

/// Throws Error "call: reason" of kind computation_failed.
[[noreturn]] void fail_computation(std::string_view call, std::string_view reason);

}  // namespace limb
