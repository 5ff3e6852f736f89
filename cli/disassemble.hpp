#pragma once

#include <optional>
#include <span>
#include <string>

namespace limb::cli {

/// Disassembles x86-64 machine code, one instruction per line after its offset.
/// Empty if limb was built without Zydis, which decodes it.
std::optional<std::string> disassemble(std::span<const unsigned char> code);

}  // namespace limb::cli
