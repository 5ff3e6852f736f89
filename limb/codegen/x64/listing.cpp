#include "limb/codegen/x64/listing.hpp"

#include <fmt/format.h>

#include "limb/codegen/x64/machine_code.hpp"

namespace limb::codegen {
namespace {

const char* to_text(Opcode opcode) {
  constexpr const char* kNames[] = {"constant",
                                    "input",
                                    "lane",
                                    "add",
                                    "sub",
                                    "mul",
                                    "div",
                                    "neg",
                                    "abs",
                                    "sqrt",
                                    "fma",
                                    "fms",
                                    "fnma",
                                    "less",
                                    "less_equal",
                                    "both",
                                    "either",
                                    "complement",
                                    "select",
                                    "quadrant_choice",
                                    "quadrant_sign",
                                    "bound",
                                    "atan2",
                                    "sine",
                                    "cosine",
                                    "four_inputs",
                                    "four_constants",
                                    "four_values",
                                    "spread",
                                    "store"};
  return kNames[static_cast<int>(opcode)];
}

std::vector<std::string> entries(const std::vector<Array>& arrays) {
  std::vector<std::string> names;
  for (const Array& array : arrays) {
    for (int j = 0; j < array.size(); ++j) names.push_back(fmt::format("{}[{}]", array.name, j));
  }
  return names;
}

}  // namespace

std::string to_text(const Code& code) {
  const std::vector<std::string> inputs = entries(code.inputs), outputs = entries(code.outputs);
  std::vector<std::string> names(code.instructions.size());
  std::string text = fmt::format("{}: {} operations\n", code.name, code.operation_count());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Instruction& x = code.instructions[i];
    if (x.opcode == Opcode::constant) {
      names[i] = fmt::format("{}", code.constants[static_cast<std::size_t>(x.a)]);
      continue;
    }
    if (x.opcode == Opcode::input) {
      names[i] = inputs[static_cast<std::size_t>(x.a)];
      continue;
    }
    const Operands operands = operands_of(x);
    names[i] =
        x.opcode == Opcode::store ? outputs[static_cast<std::size_t>(x.b)] : fmt::format("v{}", i);
    text += fmt::format("{} = {}", names[i], x.opcode == Opcode::store ? "" : to_text(x.opcode));
    for (int k = 0; k < operands.count; ++k) {
      text += fmt::format("{}{}", x.opcode == Opcode::store ? "" : " ",
                          names[static_cast<std::size_t>(operands.value[k])]);
    }
    text += "\n";
  }
  return text;
}

std::string to_text(const MachineCode& code) {
  std::string text;
  for (std::size_t i = 0; i < code.code_bytes(); ++i) {
    if (i % 16 == 0) text += fmt::format("{}{:06x} ", i == 0 ? "" : "\n", i);
    text += fmt::format(" {:02x}", code.begin()[i]);
  }
  return text + "\n";
}

}  // namespace limb::codegen
