#pragma once

#include "limb/symbolic/symbol_names.hpp"

namespace limb::symbolic {

/// Where a long line may be broken, before the sign of a summand: kBreak, and in parentheses, in
/// parentheses inside of those and so on the next ones up to kLastBreak. No LaTeX: who prints a
/// line removes them.
inline constexpr char kBreak = '\x01', kLastBreak = '\x05';
inline constexpr bool is_break(char c) {
  return c >= kBreak && c <= kLastBreak;
}

enum class Numbers {
  ratios,   ///< \tfrac{7}{12}, decimals where ratios are longer
  decimals  ///< 0.35; six digits
};

/// "m_2 l_1 l_2 c_2 + m_2 l_2^2" in LaTeX, with marks where lines may be broken.
std::string to_latex(const Formula& formula, const SymbolNames& names,
                     Numbers numbers = Numbers::ratios);

}  // namespace limb::symbolic
