#pragma once

#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "limb/math/scalar.hpp"

/// Arithmetic as it is written in a recipe: "l1/2 + 0.05", "-pi/2", "m*l^2/12", "sqrt(2)/2".
///
///   sum      = term   { (+ | -) term }
///   term     = signed { (* | /) signed }
///   signed   = [-] signed | power               -2^2 is -(2^2)
///   power    = atom [ ^ [-] integer ]           at most 64
///   atom     = number | symbol | pi | sqrt( sum without symbols ) | ( sum )
///   number   = 2   0.35   1e-3;   symbol = letter or _ followed by letters, digits, _
namespace limb {

/// Conversion of constants to a scalar. Specialize it for scalars with exact ratios or a symbol pi.
template <typename T>
struct ConstantsOf {
  /// numerator / denominator; both are below 2^53, so that each is an exact double and their
  /// quotient is the correctly rounded decimal.
  static T ratio(std::int64_t numerator, std::int64_t denominator) {
    const T n(static_cast<double>(numerator));
    return denominator == 1 ? n : n / T(static_cast<double>(denominator));
  }
  /// A decimal with too many digits for a ratio.
  static T decimal(double value) { return T(value); }
  static T pi() { return T(std::numbers::pi); }
};

/// A parsed expression: instructions of a stack machine, so that evaluation needs no recursion.
class RecipeExpression {
 public:
  enum class Op {
    ratio,
    decimal,
    pi,
    symbol,
    add,
    subtract,
    multiply,
    divide,
    negate,
    power,
    sqrt
  };
  struct Instruction {
    Op op;
    std::int64_t numerator = 0;  ///< ratio; power: the exponent; symbol: index in symbols()
    std::int64_t denominator = 1;
    double value = 0;
  };
  struct Symbol {
    std::string name;
    std::size_t column;  ///< of its first use, counted from 1
  };
  /// An error in the text; columns count from 1.
  struct Problem {
    std::size_t column = 0;
    std::string message;
  };

  static constexpr std::size_t kMaxLength = 1000;
  static constexpr int kMaxDepth = 64;
  static constexpr std::int64_t kMaxExponent = 64;

  /// nullopt, and the reason in `problem`, if the text is not an expression.
  static std::optional<RecipeExpression> parse(std::string_view text, Problem& problem);

  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  friend class ExpressionParser;
  std::vector<Instruction> instructions_;
  std::vector<Symbol> symbols_;
};

/// @throws Error "parse_expression: '2 * ' column 5: ...".
RecipeExpression parse_expression(std::string_view text);

/// A valid name of a symbol that is not one of the reserved words pi and sqrt.
bool is_symbol(std::string_view name);

namespace expression_detail {

template <typename T>
T integer_power(const T& base, std::int64_t exponent) {
  const bool inverse = exponent < 0;
  std::uint64_t n = static_cast<std::uint64_t>(inverse ? -exponent : exponent);
  T result = ConstantsOf<T>::ratio(1, 1), square = base;
  bool first = true;
  for (; n != 0; n >>= 1) {
    if (n & 1u) {
      result = first ? square : T(result * square);
      first = false;
    }
    if (n > 1) square = T(square * square);
  }
  return inverse ? T(ConstantsOf<T>::ratio(1, 1) / result) : result;
}

}  // namespace expression_detail

/// The value with each symbol replaced by lookup(name), a T.
template <typename T, typename Lookup>
T evaluate(const RecipeExpression& expression, const Lookup& lookup) {
  using std::sqrt;
  using Op = RecipeExpression::Op;
  std::vector<T> stack;
  const auto pop = [&stack] {
    T top = std::move(stack.back());
    stack.pop_back();
    return top;
  };
  for (const RecipeExpression::Instruction& instruction : expression.instructions()) {
    switch (instruction.op) {
      case Op::ratio:
        stack.push_back(ConstantsOf<T>::ratio(instruction.numerator, instruction.denominator));
        break;
      case Op::decimal:
        stack.push_back(ConstantsOf<T>::decimal(instruction.value));
        break;
      case Op::pi:
        stack.push_back(ConstantsOf<T>::pi());
        break;
      case Op::symbol:
        stack.push_back(
            lookup(expression.symbols()[static_cast<std::size_t>(instruction.numerator)].name));
        break;
      case Op::negate:
        stack.back() = T(-stack.back());
        break;
      case Op::power:
        stack.back() = expression_detail::integer_power<T>(stack.back(), instruction.numerator);
        break;
      case Op::sqrt:
        stack.back() = T(sqrt(stack.back()));
        break;
      default: {
        const T b = pop();
        T& a = stack.back();
        if (instruction.op == Op::add) a = T(a + b);
        if (instruction.op == Op::subtract) a = T(a - b);
        if (instruction.op == Op::multiply) a = T(a * b);
        if (instruction.op == Op::divide) a = T(a / b);
      }
    }
  }
  return stack.back();
}

/// The value of an expression without symbols. @throws Error if it has a symbol.
double evaluate_number(const RecipeExpression& expression);

}  // namespace limb
