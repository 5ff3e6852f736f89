#include "limb/model/recipe/expression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limb/base/error.hpp"
#include "limb/base/number.hpp"

namespace limb {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// digits * 10^power as a ratio of integers below 2^53, or nullopt.
std::optional<std::pair<std::int64_t, std::int64_t>> exact_ratio(std::string_view digits,
                                                                 std::int64_t power) {
  constexpr std::int64_t kLimit = std::int64_t(1) << 53;
  std::int64_t n = 0;
  for (const char c : digits) {
    if (n > (kLimit - 9) / 10) return std::nullopt;
    n = 10 * n + (c - '0');
  }
  if (n == 0) return std::pair<std::int64_t, std::int64_t>(0, 1);
  for (; power < 0 && n % 10 == 0; ++power) n /= 10;
  if (power < -15) return std::nullopt;
  std::int64_t d = 1;
  for (; power < 0; ++power) d *= 10;
  for (; power > 0; --power) {
    if (n > kLimit / 10) return std::nullopt;
    n *= 10;
  }
  return std::pair(n, d);
}

}  // namespace

/// Recursive descent parser of the grammar in the header; appends instructions in postfix order.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, RecipeExpression& result) : text_(text), out_(result) {}

  void run() {
    sum(0);
    skip_space();
    if (at_ < text_.size()) stop(fmt::format("unexpected {}", next_character()));
  }

 private:
  using Op = RecipeExpression::Op;

  [[noreturn]] void stop(std::string message) const {
    throw RecipeExpression::Problem{at_ + 1, std::move(message)};
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (at_ >= text_.size() || peek() != c) return false;
    ++at_;
    return true;
  }
  std::string next_character() const {
    if (at_ >= text_.size()) return "end";
    const char c = text_[at_];
    return c > ' ' && c < 127 ? fmt::format("'{}'", c)
                              : fmt::format("character {}", int(static_cast<unsigned char>(c)));
  }
  void push(Op op) { out_.instructions_.push_back({op}); }

  void sum(int depth) {
    if (depth > RecipeExpression::kMaxDepth) {
      stop(fmt::format("nested deeper than {}", RecipeExpression::kMaxDepth));
    }
    term(depth);
    while (true) {
      const bool plus = take('+');
      if (!plus && !take('-')) return;
      term(depth);
      push(plus ? Op::add : Op::subtract);
    }
  }

  void term(int depth) {
    read_signs();
    power(depth);
    apply_sign();
    while (true) {
      const bool times = take('*');
      if (!times && !take('/')) return;
      read_signs();
      power(depth);
      apply_sign();
      push(times ? Op::multiply : Op::divide);
    }
  }

  // Signs are read in a loop, not recursively: "-----1" is a number of any length.
  void read_signs() {
    bool negative = false;
    while (true) {
      if (take('-')) {
        negative = !negative;
      } else if (!take('+')) {
        break;
      }
    }
    signs_.push_back(negative);
  }
  void apply_sign() {
    const bool negative = signs_.back();
    signs_.pop_back();
    if (!negative) return;
    RecipeExpression::Instruction& last = out_.instructions_.back();
    // A negative number is a constant, as exact as the positive one.
    if (last.op == Op::ratio) {
      last.numerator = -last.numerator;
    } else if (last.op == Op::decimal) {
      last.value = -last.value;
    } else {
      push(Op::negate);
    }
  }

  void power(int depth) {
    atom(depth);
    if (!take('^')) return;
    const bool negative = take('-');
    skip_space();
    const std::size_t start = at_;
    std::int64_t n = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      n = std::min<std::int64_t>(1000, 10 * n + (text_[at_] - '0'));
      ++at_;
    }
    const bool fraction = at_ < text_.size() && (text_[at_] == '.' || is_letter(text_[at_]));
    if (at_ == start || fraction || n > RecipeExpression::kMaxExponent) {
      at_ = start;
      stop(fmt::format("expected an integer up to {} as exponent", RecipeExpression::kMaxExponent));
    }
    if (peek() == '^') stop("expected parentheses around the first of two powers");
    out_.instructions_.push_back({Op::power, negative ? -n : n});
  }

  void atom(int depth) {
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return word(depth);
    if (!take('(')) stop(fmt::format("expected a number or a symbol, found {}", next_character()));
    sum(depth + 1);
    close();
  }

  void close() {
    if (!take(')')) stop(fmt::format("expected ')', found {}", next_character()));
  }

  void number() {
    const std::size_t start = at_;
    std::string digits;
    std::int64_t power = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) digits += text_[at_++];
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      for (; at_ < text_.size() && is_digit(text_[at_]); --power) digits += text_[at_++];
    }
    if (digits.empty()) stop("expected digits beside the point");
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      std::size_t i = at_ + 1;
      const bool negative = i < text_.size() && text_[i] == '-';
      if (i < text_.size() && (text_[i] == '-' || text_[i] == '+')) ++i;
      if (i >= text_.size() || !is_digit(text_[i])) stop("expected digits after the e of a number");
      std::int64_t e = 0;
      for (; i < text_.size() && is_digit(text_[i]); ++i) {
        e = std::min<std::int64_t>(100000, 10 * e + (text_[i] - '0'));
      }
      power += negative ? -e : e;
      at_ = i;
    }
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.')) {
      stop(fmt::format("unexpected {} after a number; products are written with *",
                       next_character()));
    }
    if (const auto ratio = exact_ratio(digits, power)) {
      out_.instructions_.push_back({Op::ratio, ratio->first, ratio->second});
      return;
    }
    const auto value = parse_number(text_.substr(start, at_ - start));
    if (!value) {
      at_ = start;
      stop("number too large");
    }
    out_.instructions_.push_back({Op::decimal, 0, 1, *value});
  }

  void word(int depth) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "pi") return push(Op::pi);
    if (name == "sqrt") return root(depth);
    if (peek() == '(') {
      at_ = start;
      stop(fmt::format("unknown function '{}'; there is only sqrt", name));
    }
    auto& symbols = out_.symbols_;
    const auto found = std::find_if(symbols.begin(), symbols.end(),
                                    [&](const auto& symbol) { return symbol.name == name; });
    const auto index = found - symbols.begin();
    if (found == symbols.end()) symbols.push_back({std::string(name), start + 1});
    out_.instructions_.push_back({Op::symbol, index});
  }

  // Closed forms are polynomials in the symbols, so the root of a symbol is not allowed.
  void root(int depth) {
    const std::size_t start = at_;
    const std::size_t first = out_.instructions_.size();
    if (!take('(')) stop(fmt::format("expected '(' after sqrt, found {}", next_character()));
    sum(depth + 1);
    close();
    const bool symbolic = std::any_of(
        out_.instructions_.begin() + static_cast<std::ptrdiff_t>(first), out_.instructions_.end(),
        [](const auto& instruction) { return instruction.op == Op::symbol; });
    if (symbolic) {
      at_ = start;
      stop("sqrt takes numbers only, no symbols");
    }
    push(Op::sqrt);
  }

  std::string_view text_;
  RecipeExpression& out_;
  std::size_t at_ = 0;
  std::vector<bool> signs_;
};

std::optional<RecipeExpression> RecipeExpression::parse(std::string_view text, Problem& problem) {
  if (text.size() > kMaxLength) {
    problem = {kMaxLength + 1, fmt::format("longer than {} characters", kMaxLength)};
    return std::nullopt;
  }
  RecipeExpression result;
  try {
    ExpressionParser(text, result).run();
  } catch (Problem& found) {
    problem = std::move(found);
    return std::nullopt;
  }
  return result;
}

RecipeExpression parse_expression(std::string_view text) {
  RecipeExpression::Problem problem;
  auto result = RecipeExpression::parse(text, problem);
  if (!result) {
    throw Error(fmt::format("parse_expression: '{}' column {}: {}", text.substr(0, 60),
                            problem.column, problem.message));
  }
  return *std::move(result);
}

bool is_symbol(std::string_view name) {
  if (name.empty() || !is_letter(name.front()) || name == "pi" || name == "sqrt") return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

double evaluate_number(const RecipeExpression& expression) {
  return evaluate<double>(expression, [](const std::string& name) -> double {
    throw Error(fmt::format("evaluate_number: unknown symbol '{}', expected numbers only", name));
  });
}

}  // namespace limb
