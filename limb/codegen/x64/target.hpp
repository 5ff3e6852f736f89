#pragma once

#include "limb/codegen/lower/code.hpp"

namespace limb::codegen {

/// Instruction sets of machine code.
enum class Isa {
  none,    ///< no machine code: another or an old processor
  avx2,    ///< AVX2 with FMA
  avx512,  ///< AVX-512 F, DQ, VL, BW
};

/// The instruction set of this processor. @returns none if the library was built for another kind.
Isa detect_isa();
const char* to_text(Isa isa);

/// One state in scalar instructions, or one state in each lane of the registers.
enum class Shape { one, lanes };

/// The layout of many states in memory: one state after the other, or one entry of all states after
/// the other.
enum class Layout { rows, columns };

struct Target {
  Isa isa = Isa::none;
  Precision precision = Precision::f64;
  Shape shape = Shape::one;
  Layout layout = Layout::rows;

  int scalar_bytes() const { return precision == Precision::f64 ? 8 : 4; }
  int register_bytes() const { return isa == Isa::avx512 ? 64 : 32; }
  int lanes() const { return shape == Shape::one ? 1 : register_bytes() / scalar_bytes(); }
  /// Bytes of a value.
  int bytes() const { return lanes() * scalar_bytes(); }
  int registers() const { return isa == Isa::avx512 ? 32 : 16; }
};

}  // namespace limb::codegen
