#pragma once

#include <string>

#include "limb/codegen/code.hpp"

namespace limb::codegen {

class MachineCode;

/// A Code for people, an instruction a line: "v12 = fma v3 v4 v7", inputs and results by name.
std::string to_text(const Code& code);

/// Machine code as bytes, sixteen a line, each with its distance from the beginning.
std::string to_text(const MachineCode& code);

}  // namespace limb::codegen
