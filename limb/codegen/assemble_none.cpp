// In place of assemble.cpp where the processor is of another kind.
#include "limb/base/error.hpp"
#include "limb/codegen/assemble.hpp"

namespace limb::codegen {

MachineCode::MachineCode(const Code&, const Target& target) : target_(target), memory_(1) {
  throw Error("MachineCode: no machine code for this processor");
}

}  // namespace limb::codegen
