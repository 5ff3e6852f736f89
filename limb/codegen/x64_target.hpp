#pragma once

#include "limb/codegen/code.hpp"

namespace limb::codegen {

/// Instructions that machine code is written in.
enum class Isa {
  none,    ///< no machine code: another processor, or an old one
  avx2,    ///< AVX2 with FMA
  avx512,  ///< AVX-512 F, DQ, VL, BW
};

/// What this processor has. @returns none where the library was built for another kind.
Isa detect_isa();
const char* name(Isa isa);

/// One state in scalar instructions, or one state in each lane of the registers.
enum class Shape { one, lanes };

/// How many states lie in memory: a state's entries side by side, or an entry of all states.
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
