#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limb/codegen/trace.hpp"

namespace limb::codegen {

enum class Precision { f64, f32 };

/// What the straight-line programs of all back ends are made of. Each instruction makes one value,
/// numbered as the instruction. Every back end rounds each of them once, as IEEE 754 says, so that
/// all of them give the same bits; fused ones round the sum of a product once.
enum class Act : std::uint8_t {
  constant,         ///< number a of Code::constants
  input,            ///< number a of all inputs
  lane,             ///< entry b of the four in value a
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
  less,             ///< a < b, a mask: all bits or none
  less_equal,       ///< a <= b
  both,             ///< a and b
  either,           ///< a or b
  complement,       ///< not a
  select,           ///< a ? b : c
  quadrant_choice,  ///< c if the last bit of a is set, else b
  quadrant_sign,    ///< b, negated if bit 1 of the bits of a, plus c (0 or 1), is set
  bound,            ///< stop unless a <= constant b
  atan2,            ///< a call: the angle of a (y) and b (x)
  sine,             ///< a call: sin a
  cosine,           ///< cos a
  four_inputs,      ///< four neighbours among the inputs from number a on, of which b are read
  four_constants,   ///< number a of Code::fours
  four_values,      ///< the values Code::groups[a]
  spread,           ///< puts the four of a where `lane` reads them
  store,            ///< result number b is a
};

struct Instruction {
  Act act;
  bool four = false;  ///< works on four values at once
  int a = -1, b = -1, c = -1;
};

/// How a trace becomes a Code.
struct LowerOptions {
  Precision precision = Precision::f64;
  /// Make a b + c one rounding where the product is used nowhere else.
  bool fuse = true;
  /// Sines, cosines and atan2 by polynomials, as instructions; else as calls.
  bool inline_sincos = true;
  /// Compute them four at a time; for code that otherwise works on one state alone.
  bool by_fours = false;
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
  int count(Act act) const;
};

/// The operands of an instruction: values, in the order a, b, c.
struct Operands {
  int count = 0;
  int value[3] = {-1, -1, -1};
};

constexpr int operand_count(Act act) {
  switch (act) {
    case Act::constant:
    case Act::input:
    case Act::lane:
    case Act::four_inputs:
    case Act::four_constants:
    case Act::four_values:
      return 0;
    case Act::neg:
    case Act::abs:
    case Act::sqrt:
    case Act::sine:
    case Act::cosine:
    case Act::complement:
    case Act::spread:
    case Act::store:
      return 1;
    case Act::fma:
    case Act::fms:
    case Act::fnma:
    case Act::select:
    case Act::quadrant_choice:
      return 3;
    default:  // quadrant_sign and bound, too, have two: their last field is a number
      return 2;
  }
}

/// operand_count of each Act; asked for several times for each instruction.
inline constexpr auto kOperandCounts = [] {
  std::array<std::int8_t, static_cast<std::size_t>(Act::store) + 1> counts{};
  for (std::size_t k = 0; k < counts.size(); ++k) {
    counts[k] = static_cast<std::int8_t>(operand_count(static_cast<Act>(k)));
  }
  return counts;
}();

inline Operands operands_of(const Instruction& i) {
  return {kOperandCounts[static_cast<std::size_t>(i.act)], {i.a, i.b, i.c}};
}

/// A straight-line program that computes the roots of the trace, in the order of its recording,
/// sines and cosines of the inputs first.
Code lower(const Trace& trace, const LowerOptions& options = {});

/// What does not depend on sines and precision: found once, it serves several calls of lower. The
/// trace must outlive it.
class Lowerer {
 public:
  explicit Lowerer(const Trace& trace, bool fuse = true);
  ~Lowerer();
  /// @param options their `fuse` as given above.
  Code lower(const LowerOptions& options) const;

 private:
  struct Uses;
  std::unique_ptr<Uses> uses_;
  const Trace& trace_;
};

}  // namespace limb::codegen
