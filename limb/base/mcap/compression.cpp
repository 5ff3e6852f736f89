#include "limb/base/mcap/compression.hpp"

#include <fmt/format.h>

#include <array>

#include "limb/base/error.hpp"

#ifdef LIMB_ZSTD
#include <zstd.h>
#endif
#ifdef LIMB_LZ4
#include <lz4frame.h>
#endif

namespace limb::mcap {
namespace {

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}();

#ifdef LIMB_ZSTD
bool decompress_zstd(std::string_view bytes, std::string& result) {
  const std::size_t n = ZSTD_decompress(result.data(), result.size(), bytes.data(), bytes.size());
  return ZSTD_isError(n) == 0 && n == result.size();
}
#endif

#ifdef LIMB_LZ4
bool decompress_lz4(std::string_view bytes, std::string& result) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) return false;
  std::size_t done = 0, left = 1;
  bool good = true;
  while (good && left != 0 && !bytes.empty()) {
    std::size_t out = result.size() - done, in = bytes.size();
    left = LZ4F_decompress(context, result.data() + done, &out, bytes.data(), &in, nullptr);
    good = LZ4F_isError(left) == 0 && (in > 0 || out > 0);
    done += out;
    bytes.remove_prefix(in);
  }
  LZ4F_freeDecompressionContext(context);
  return good && left == 0 && done == result.size();
}
#endif

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t c = ~before;
  for (const char byte : bytes) {
    c = kCrcTable[(c ^ static_cast<unsigned char>(byte)) & 0xff] ^ (c >> 8);
  }
  return ~c;
}

std::string_view best_compression() {
#ifdef LIMB_ZSTD
  return "zstd";
#else
  return "";
#endif
}

std::string compress(std::string_view bytes, [[maybe_unused]] std::string_view compression) {
#ifdef LIMB_ZSTD
  if (compression == "zstd") {
    std::string result(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t n =
        ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 3);
    if (ZSTD_isError(n) != 0) throw Error(fmt::format("zstd: {}", ZSTD_getErrorName(n)));
    result.resize(n);
    return result;
  }
#endif
  return std::string(bytes);
}

std::string decompress(std::string_view call, std::string_view what, std::string_view bytes,
                       std::string_view compression, std::size_t size) {
  bool known = compression.empty(), good = bytes.size() == size;
  std::string result;
  if (known) result = bytes;
#ifdef LIMB_ZSTD
  if (compression == "zstd") {
    known = true;
    result.resize(size);
    good = decompress_zstd(bytes, result);
  }
#endif
#ifdef LIMB_LZ4
  if (compression == "lz4") {
    known = true;
    result.resize(size);
    good = decompress_lz4(bytes, result);
  }
#endif
  if (!known) {
    const bool standard = compression == "zstd" || compression == "lz4";
    throw Error(fmt::format(
        "{}: {} is compressed by '{}', {}", call, what, compression.substr(0, 20),
        standard ? "which this build of limb does not have" : "expected zstd, lz4 or none"));
  }
  if (!good) {
    throw Error(fmt::format("{}: {} is damaged: it does not give {} bytes", call, what, size));
  }
  return result;
}

}  // namespace limb::mcap
