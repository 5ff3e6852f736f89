#include "limb/symbolic/typeset/formula_latex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace limb::symbolic {
namespace {

using Kind = Formula::Kind;

/// Whether a ratio is a finite decimal: the denominator has only the prime factors 2 and 5.
bool is_finite_decimal(std::int64_t denominator) {
  while (denominator % 2 == 0) denominator /= 2;
  while (denominator % 5 == 0) denominator /= 5;
  return denominator == 1;
}

class Printer {
 public:
  Printer(const SymbolNames& names, NumberStyle numbers) : names_(names), numbers_(numbers) {}

  std::string print(const Formula& f, int depth) const {
    switch (f.kind) {
      case Kind::number:
        return number(f.number);
      case Kind::symbol:
        return names_.latex(f.symbol);
      case Kind::cosine:
      case Kind::sine:
        return function(f, 1);
      case Kind::power:
        return power(f, depth);
      case Kind::sum:
        return sum(f, depth);
      default:
        return product(f, depth);
    }
  }

 private:
  std::string number(const Rational& x) const {
    const std::string sign = x.is_negative() ? "-" : "";
    const Rational size = x.is_negative() ? -x : x;
    if (size.is_small()) {
      const std::int64_t n = size.small_numerator(), d = size.small_denominator();
      if (d == 1 && n < 1'000'000) return sign + std::to_string(n);
      const bool decimal = numbers_ == NumberStyle::decimals && is_finite_decimal(d);
      if (!decimal && n < 100 && d < 50 && (d < 10 || !is_finite_decimal(d))) {
        return fmt::format("{}\\tfrac{{{}}}{{{}}}", sign, n, d);
      }
    }
    std::string text = fmt::format("{:.6g}", size.to_double());
    const std::size_t e = text.find('e');
    if (e == text.npos) return sign + text;
    return fmt::format("{}{} \\cdot 10^{{{}}}", sign, text.substr(0, e),
                       std::atoi(text.c_str() + e + 1));
  }

  std::string angle(const Angle& angle) const {
    // Positive terms first: theta_2 - theta_1.
    std::string text;
    for (const bool negative : {false, true}) {
      for (const AnglePart& part : angle) {
        if (part.factor.is_negative() != negative) continue;
        const Rational size = negative ? -part.factor : part.factor;
        text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
        const std::string name = part.symbol == AnglePart::kHalfTurn ? "\\pi"
                                 : part.symbol == AnglePart::kRadian ? ""
                                                                     : names_.latex(part.symbol);
        if (name.empty() || !size.is_one()) text += number(size);
        if (!name.empty() && !size.is_one()) text += ' ';
        text += name;
      }
    }
    return text;
  }

  /// ^2, ^{12}, ^{-1}
  static std::string superscript(int exponent) {
    return exponent < 0 || exponent > 9 ? fmt::format("^{{{}}}", exponent)
                                        : fmt::format("^{}", exponent);
  }

  std::string function(const Formula& f, int exponent) const {
    const bool sine = f.kind == Kind::sine;
    const std::string raised = exponent == 1 ? "" : superscript(exponent);
    if (const auto below = names_.subscript(f.angle)) {
      const std::string index = below->size() == 1 ? *below : "{" + *below + "}";
      return (sine ? "s_" : "c_") + index + raised;
    }
    const bool bare = f.angle.size() == 1 && !f.angle[0].factor.is_negative();
    return (sine ? "\\sin" : "\\cos") + raised +
           (bare ? " " + angle(f.angle) : "(" + angle(f.angle) + ")");
  }

  std::string power(const Formula& f, int depth) const {
    const Formula& base = f.parts.front();
    if (base.kind == Kind::cosine || base.kind == Kind::sine) return function(base, f.exponent);
    const std::string raised = superscript(f.exponent);
    if (base.kind == Kind::symbol) return print(base, depth) + raised;
    return "(" + print(base, depth + 1) + ")" + raised;
  }

  std::string sum(const Formula& f, int depth) const {
    std::string text;
    for (const Formula& part : f.parts) {
      const std::string term = print(part, depth);
      const bool negative = !term.empty() && term[0] == '-';
      if (!text.empty()) {
        text += ' ';
        text += static_cast<char>(std::min<int>(kBreak + depth, kLastBreak));
        text += negative ? "- " : "+ ";
      }
      text += negative && !text.empty() ? term.substr(1) : term;
    }
    return text;
  }

  std::string product(const Formula& f, int depth) const {
    std::string text;
    for (const Formula& part : f.parts) {
      if (part.is_number() && (part.number == Rational(1) || part.number == Rational(-1))) {
        text += part.number.is_negative() ? "-" : "";
        continue;
      }
      if (!text.empty() && text != "-") text += ' ';
      const bool enclosed = part.kind == Kind::sum;
      text += enclosed ? "(" + print(part, depth + 1) + ")" : print(part, depth);
    }
    return text;
  }

  const SymbolNames& names_;
  NumberStyle numbers_;
};

}  // namespace

std::string to_latex(const Formula& formula, const SymbolNames& names, NumberStyle numbers) {
  return Printer(names, numbers).print(formula, 0);
}

}  // namespace limb::symbolic
