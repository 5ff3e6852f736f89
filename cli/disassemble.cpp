#include "cli/disassemble.hpp"

#ifdef LIMB_ZYDIS
#include <Zydis/Zydis.h>
#include <fmt/format.h>
#endif

namespace limb::cli {

#ifdef LIMB_ZYDIS
std::optional<std::string> disassemble(std::span<const unsigned char> code) {
  std::string text;
  for (std::size_t at = 0; at < code.size();) {
    ZydisDisassembledInstruction x;
    const bool known = ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, at,
                                                          code.data() + at, code.size() - at, &x));
    text += fmt::format("{:06x}  {}\n", at, known ? x.text : fmt::format("db {:#04x}", code[at]));
    at += known ? x.info.length : 1;
  }
  return text;
}
#else
std::optional<std::string> disassemble(std::span<const unsigned char>) {
  return std::nullopt;
}
#endif

}  // namespace limb::cli
