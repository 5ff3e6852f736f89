#pragma once

#include <optional>
#include <span>
#include <string>

namespace limb::cli {

/// Machine code of x86-64 as text, an instruction a line with its distance from the beginning.
/// Nothing where limb was built without Zydis, which decodes it.
std::optional<std::string> disassemble(std::span<const unsigned char> code);

}  // namespace limb::cli
