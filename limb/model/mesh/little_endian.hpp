#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

/// Numbers of binary files, independent of the byte order of the machine.
namespace limb {

/// The 32 bits at position `at`, which is inside of `bytes`.
inline std::uint32_t little_endian_bits(std::string_view bytes, std::size_t at) {
  std::uint32_t bits = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    bits |= std::uint32_t(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
  }
  return bits;
}
inline std::int32_t little_endian_int(std::string_view bytes, std::size_t at) {
  return std::bit_cast<std::int32_t>(little_endian_bits(bytes, at));
}
inline float little_endian_float(std::string_view bytes, std::size_t at) {
  return std::bit_cast<float>(little_endian_bits(bytes, at));
}

}  // namespace limb
