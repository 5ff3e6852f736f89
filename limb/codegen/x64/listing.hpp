#pragma once

#include <string>

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

class MachineCode;

/// A Code as readable text, one instruction per line: "v12 = fma v3 v4 v7", inputs and results by
/// name.
std::string to_text(const Code& code);

/// Machine code as bytes, sixteen per line, each line with its offset.
std::string to_text(const MachineCode& code);

}  // namespace limb::codegen
