#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Shared by the targets: each defines LLVMFuzzerTestOneInput, which libFuzzer calls with any
/// bytes, and run_inputs.cpp with the files of seeds/.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace limb::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A guarantee of a reader for every input; libFuzzer reports the input if it is broken.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace limb::fuzz
