#include "limb/codegen/c/emit_c_statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "limb/base/error.hpp"
#include "limb/codegen/lower/argument_places.hpp"

namespace limb::codegen {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

class StatementWriter {
 public:
  StatementWriter(const Code& code, const CDialect& dialect)
      : code_(code),
        dialect_(dialect),
        inputs_(argument_places(code.inputs)),
        outputs_(argument_places(code.outputs)),
        names_(code.instructions.size()),
        last_(code.instructions.size(), 0),
        slot_(code.instructions.size(), -1) {
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
      const Instruction& x = code.instructions[i];
      const Operands operands = operands_of(x);
      for (int k = 0; k < operands.count; ++k) last_[at(operands.value[k])] = i;
      if (x.opcode == Opcode::sine) pairs_[x.a].sine = static_cast<int>(i);
      if (x.opcode == Opcode::cosine) pairs_[x.a].cosine = static_cast<int>(i);
    }
  }

  CStatements run() {
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) write(i);
    return std::move(made_);
  }

 private:
  struct Pair {
    int sine = -1, cosine = -1;
  };

  std::string operand(int value) const { return value < 0 ? "" : names_[at(value)]; }

  void write(std::size_t i) {
    const Instruction& x = code_.instructions[i];
    switch (x.opcode) {
      case Opcode::constant:
        names_[i] = dialect_.constant(code_.constants[at(x.a)]);
        return;
      case Opcode::input:
        names_[i] =
            dialect_.input(code_.inputs[at(inputs_[at(x.a)].array)], inputs_[at(x.a)].entry);
        return;
      case Opcode::store:
        made_.text += dialect_.store(code_.outputs[at(outputs_[at(x.b)].array)],
                                     outputs_[at(x.b)].entry, operand(x.a));
        return release(i, x);
      case Opcode::sine:
      case Opcode::cosine:
        if (dialect_.pairs_sines()) return write_pair(i, x);
        break;
      default:
        break;
    }
    const Operands operands = operands_of(x);
    std::string names[3];
    for (int k = 0; k < operands.count; ++k) names[k] = operand(operands.value[k]);
    const std::string value = dialect_.expression(x.opcode, names[0], names[1], names[2]);
    release(i, x);
    if (last_[i] == 0) return;  // unused
    names_[i] = take(i);
    made_.text += fmt::format("  {} = {};\n", names_[i], value);
  }

  /// Sine and cosine at the first of the two; the second then has its value.
  void write_pair(std::size_t i, const Instruction& x) {
    if (names_[i].empty()) {
      const Pair pair = pairs_[x.a];
      const int both[] = {pair.sine, pair.cosine};
      // An unused one of the two needs a temporary slot.
      std::string names[2];
      int temporary = -1;
      for (int k = 0; k < 2; ++k) {
        if (both[k] >= 0) {
          names[k] = names_[at(both[k])] = take(at(both[k]));
        } else {
          temporary = take_slot();
          names[k] = fmt::format("w[{}]", temporary);
        }
      }
      made_.text += dialect_.sine_and_cosine(operand(x.a), names[0], names[1]);
      if (temporary >= 0) free_.push_back(temporary);
    }
    release(i, x);
  }

  int take_slot() {
    if (free_.empty()) return made_.slots++;
    const int slot = free_.back();
    free_.pop_back();
    return slot;
  }
  std::string take(std::size_t i) {
    slot_[i] = take_slot();
    return fmt::format("w[{}]", slot_[i]);
  }

  void release(std::size_t now, const Instruction& x) {
    const Operands operands = operands_of(x);
    for (int k = 0; k < operands.count; ++k) {
      const int v = operands.value[k];
      if (last_[at(v)] != now || slot_[at(v)] < 0) continue;
      free_.push_back(slot_[at(v)]);
      slot_[at(v)] = -1;
    }
  }

  const Code& code_;
  const CDialect& dialect_;
  std::vector<ArgumentPlace> inputs_, outputs_;
  std::vector<std::string> names_;
  std::vector<std::size_t> last_;
  std::vector<int> slot_, free_;
  std::unordered_map<int, Pair> pairs_;  ///< by the value of the angle
  CStatements made_;
};

}  // namespace

std::string CDialect::arithmetic(Opcode opcode, const std::string& a, const std::string& b) {
  switch (opcode) {
    case Opcode::add:
      return fmt::format("{} + {}", a, b);
    case Opcode::sub:
      return fmt::format("{} - {}", a, b);
    case Opcode::mul:
      return fmt::format("{} * {}", a, b);
    case Opcode::div:
      return fmt::format("{} / {}", a, b);
    case Opcode::neg:
      return fmt::format("-{}", a);
    default:
      throw Error("emit_c: this code is not lowered for C");
  }
}

Trace with_c_names(Trace trace) {
  static constexpr const char* kTaken[] = {
      "ALIGNED",   "BYTES",   "HELPER",   "LANES",    "LOAD",     "Matrix",    "RANGE",
      "STORE",     "Scalar",  "Vector",   "all",      "and",      "auto",      "bad",
      "bits_t",    "bitand",  "bitor",    "bool",     "break",    "case",      "catch",
      "char",      "class",   "compl",    "concept",  "const",    "constexpr", "continue",
      "count",     "data",    "decltype", "default",  "delete",   "do",        "double",
      "else",      "enum",    "explicit", "export",   "extern",   "false",     "float",
      "for",       "friend",  "goto",     "i",        "if",       "inline",    "int",
      "k",         "lanes_t", "load",     "long",     "mutable",  "namespace", "new",
      "noexcept",  "not",     "nullptr",  "operator", "or",       "pick",      "private",
      "protected", "public",  "range",    "register", "requires", "restrict",  "result",
      "return",    "rows",    "s",        "short",    "signed",   "sines",     "sizeof",
      "states",    "static",  "store",    "struct",   "switch",   "template",  "this",
      "throw",     "true",    "try",      "typedef",  "typeid",   "typename",  "union",
      "unsigned",  "using",   "virtual",  "void",     "volatile", "w",         "while",
      "worst",     "x",       "xor"};
  for (auto* arrays : {&trace.inputs, &trace.outputs}) {
    for (Array& a : *arrays) {
      const bool taken = std::any_of(std::begin(kTaken), std::end(kTaken),
                                     [&](const char* word) { return a.name == word; }) ||
                         a.name.starts_with("one_") || a.name.starts_with("block_") ||
                         a.name.starts_with("some_");
      if (taken) a.name = "arg_" + a.name;
    }
  }
  return trace;
}

std::string c_literal(double x, Precision p) {
  if (!std::isfinite(x)) throw Error("emit_c: a constant of this function is not finite");
  std::string text =
      p == Precision::f64 ? fmt::format("{}", x) : fmt::format("{}", static_cast<float>(x));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (p == Precision::f32) text += 'f';
  return x < 0 ? "(" + text + ")" : text;
}

CStatements write_statements(const Code& code, const CDialect& dialect) {
  return StatementWriter(code, dialect).run();
}

std::string c_unused_inputs(const Code& code) {
  const std::vector<ArgumentPlace> places = argument_places(code.inputs);
  std::vector<char> used(code.inputs.size(), 0);
  for (const Instruction& x : code.instructions) {
    if (x.opcode == Opcode::input) used[at(places[at(x.a)].array)] = 1;
  }
  std::string text;
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (used[k] == 0) text += fmt::format("  (void){};\n", code.inputs[k].name);
  }
  return text;
}

}  // namespace limb::codegen
