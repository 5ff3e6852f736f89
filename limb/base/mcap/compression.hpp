#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Compression and checksums of MCAP chunks. zstd and lz4 are used where limb was built with them.
namespace limb::mcap {

/// The checksum of zlib, PNG and MCAP (polynomial 0xedb88320); `before`: of the bytes in front.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

/// The best compression that compress() has: "zstd", or "" (none).
std::string_view best_compression();
std::string compress(std::string_view bytes, std::string_view compression);

/// `bytes` was compressed by "zstd" or "lz4" (a frame), or not at all (""). @throws Error "call:
/// what:
/// ..." if it has another size, is damaged, or limb was built without that compression.
std::string decompress(std::string_view call, std::string_view what, std::string_view bytes,
                       std::string_view compression, std::size_t size);

}  // namespace limb::mcap
