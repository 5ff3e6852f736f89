#pragma once

#include "limb/symbolic/typeset/symbol_names.hpp"

namespace limb::symbolic {

/// Marks where a long line may be broken, before the sign of a summand: kBreak at the top level,
/// the next characters up to kLastBreak inside nested parentheses. They are not LaTeX and must be
/// removed before printing (line_breaks.hpp).
inline constexpr char kBreak = '\x01', kLastBreak = '\x05';
inline constexpr bool is_break(char c) {
  return c >= kBreak && c <= kLastBreak;
}

enum class NumberStyle {
  ratios,   ///< \tfrac{7}{12}, or decimals if ratios are longer
  decimals  ///< 0.35, six digits
};

/// "m_2 l_1 l_2 c_2 + m_2 l_2^2" in LaTeX, with break marks.
std::string to_latex(const Formula& formula, const SymbolNames& names,
                     NumberStyle numbers = NumberStyle::ratios);

}  // namespace limb::symbolic
