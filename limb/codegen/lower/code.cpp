#include "limb/codegen/lower/code.hpp"

#include <algorithm>

namespace limb::codegen {

int Code::operation_count() const {
  int n = 0;
  for (const Instruction& i : instructions) {
    n += i.opcode != Opcode::constant && i.opcode != Opcode::input && i.opcode != Opcode::lane &&
         i.opcode != Opcode::store && i.opcode != Opcode::four_constants;
  }
  return n;
}

int Code::count(Opcode opcode) const {
  return static_cast<int>(std::count_if(instructions.begin(), instructions.end(),
                                        [&](const Instruction& i) { return i.opcode == opcode; }));
}

}  // namespace limb::codegen
