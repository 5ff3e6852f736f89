#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "limb/codegen/record/trace.hpp"

namespace limb::codegen {

enum class Precision { f64, f32 };

/// The instructions of straight-line programs, for all back ends. Each instruction makes one value
/// with the index of the instruction. Every back end rounds each of them once, as IEEE 754
/// requires, so that all of them have the same bits; fused ones round once after product and sum.
enum class Opcode : std::uint8_t {
  constant,         ///< Code::constants[a]
  input,            ///< input a, counted over all arrays
  lane,             ///< entry b of the four values of a
  add,              ///< a + b
  sub,              ///< a - b
  mul,              ///< a b
  div,              ///< a / b
  neg,              ///< -a
  abs,              ///< |a|
  sqrt,             ///< square root of a
  fma,              ///< a b + c
  fms,              ///< a b - c
  fnma,             ///< c - a b
  less,             ///< a < b, a mask: all bits set or none
  less_equal,       ///< a <= b
  both,             ///< a and b
  either,           ///< a or b
  complement,       ///< not a
  select,           ///< a ? b : c
  quadrant_choice,  ///< c if the last bit of a is set, else b
  quadrant_sign,    ///< b, negated if bit 1 of the bits of a, plus c (0 or 1), is set
  bound,            ///< stop unless a <= constant b
  atan2,            ///< a call: atan2(a, b)
  sine,             ///< a call: sin a
  cosine,           ///< cos a
  four_inputs,      ///< four adjacent inputs from a on, of which b are read
  four_constants,   ///< Code::fours[a]
  four_values,      ///< the values Code::groups[a]
  spread,           ///< stores the four values of a for `lane`
  store,            ///< result b is a
};

struct Instruction {
  Opcode opcode;
  bool four = false;  ///< works on four values at once
  int a = -1, b = -1, c = -1;
};

/// What code does with angles that are out of the range of the inlined polynomials.
enum class RangeCheck {
  stop,  ///< Opcode::bound on the sum of their sizes: the caller computes such a state by calls
  nan,   ///< sine and cosine of such an angle are NaN
};

/// How a trace is lowered to a Code.
struct LowerOptions {
  Precision precision = Precision::f64;
  /// Fuse a b + c into one rounding where the product is used nowhere else.
  bool fuse = true;
  /// Sines, cosines and atan2 as inlined polynomials; otherwise as calls.
  bool inline_sincos = true;
  /// Compute sines and cosines four at a time, in code for one state.
  bool by_fours = false;
  /// Angles out of the range of the polynomials, if these are inlined.
  RangeCheck range = RangeCheck::stop;
};

struct Code {
  std::string name;
  LowerOptions options;
  std::vector<Array> inputs, outputs;
  std::vector<Instruction> instructions;
  std::vector<double> constants;
  std::vector<std::array<double, 4>> fours;
  std::vector<std::array<int, 4>> groups;

  /// Instructions that compute: all but constants, inputs, lanes, stores.
  int operation_count() const;
  int count(Opcode opcode) const;
};

/// The operands of an instruction that are values, in the order a, b, c.
struct Operands {
  int count = 0;
  int value[3] = {-1, -1, -1};
};

constexpr int operand_count(Opcode opcode) {
  switch (opcode) {
    case Opcode::constant:
    case Opcode::input:
    case Opcode::lane:
    case Opcode::four_inputs:
    case Opcode::four_constants:
    case Opcode::four_values:
      return 0;
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::sqrt:
    case Opcode::sine:
    case Opcode::cosine:
    case Opcode::complement:
    case Opcode::spread:
    case Opcode::store:
      return 1;
    case Opcode::fma:
    case Opcode::fms:
    case Opcode::fnma:
    case Opcode::select:
    case Opcode::quadrant_choice:
      return 3;
    default:  // also quadrant_sign and bound: their last field is a number
      return 2;
  }
}

/// operand_count of each Opcode, as a table for speed.
inline constexpr auto kOperandCounts = [] {
  std::array<std::int8_t, static_cast<std::size_t>(Opcode::store) + 1> counts{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    counts[k] = static_cast<std::int8_t>(operand_count(static_cast<Opcode>(k)));
  }
  return counts;
}();

inline Operands operands_of(const Instruction& i) {
  return {kOperandCounts[static_cast<std::size_t>(i.opcode)], {i.a, i.b, i.c}};
}

}  // namespace limb::codegen
