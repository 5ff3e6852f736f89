// Replaces machine_code.cpp on other kinds of processors.
#include "limb/base/error.hpp"
#include "limb/codegen/x64/machine_code.hpp"

namespace limb::codegen {

MachineCode::MachineCode(const Code&, const Target& target, const Split*) : target_(target) {
  throw Error("MachineCode: no machine code for this processor");
}

std::int64_t MachineCode::run_blocks(const void* const*, void* const*, std::int64_t, std::int64_t,
                                     bool) const {
  return 0;
}

}  // namespace limb::codegen
