#include "limb/symbolic/derive/parse_formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "limb/base/nearest.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool continues_character(char c) {  // of UTF-8
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}
/// The whole character at a place, in UTF-8; control characters as '?'.
std::string character(const std::string& text, std::size_t at) {
  if (std::iscntrl(static_cast<unsigned char>(text[at])) != 0) return "?";
  std::size_t end = at + 1;
  while (end < text.size() && continues_character(text[end])) ++end;
  return text.substr(at, end - at);
}
/// The text around a place of it, on one line.
std::string excerpt(const std::string& text, std::size_t at) {
  constexpr std::size_t kBefore = 50, kLength = 80;
  std::size_t start = at > kBefore ? at - kBefore : 0;
  while (start > 0 && continues_character(text[start])) --start;
  std::string part = start > 0 ? "..." : "";
  std::size_t i = start;
  while (i < text.size() && i < start + kLength) {
    const std::string one = character(text, i);
    part += one;
    i += one.size();
  }
  return i < text.size() ? part + "..." : part;
}

/// The names of a robot without underscores, and their values.
class Names {
 public:
  Names(const std::shared_ptr<Ring>& ring, std::span<const Coordinate> coordinates)
      : ring_(ring), coordinates_(coordinates) {
    const auto& symbols = ring->symbols();
    for (SymbolId id = 0; id < symbols.size(); ++id) {
      if (symbols[id].kind != Symbol::Kind::parameter) continue;
      add(normal(symbols[id].name), P::symbol(ring, id));
    }
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      const Coordinate& c = coordinates[i];
      const P q = P::symbol(ring, c.q), v = P::symbol(ring, c.v), a = P::symbol(ring, c.a);
      const std::string number = std::to_string(i + 1);
      for (const std::string letter : {"q", c.is_angle ? "theta" : "d"}) {
        add(letter + number, q);
        for (const auto& [rate, value] : {std::pair<std::string, P>{"d", v}, {"dd", a}}) {
          add(letter + rate + number, value);
          add(rate + letter + number, value);
        }
      }
    }
    if (!values_.contains("pi")) add("pi", P::symbol(ring, ring->pi()));
  }

  static std::string normal(const std::string& name) {
    std::string text;
    for (const char c : name) {
      if (c != '_' && c != ',' && c != '{' && c != '}' && c != ' ') text += c;
    }
    return text;
  }

  std::optional<P> find(const std::string& name) const {
    const auto found = values_.find(normal(name));
    if (found != values_.end()) return found->second;
    return short_function(name);
  }
  std::string closest(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [key, value] : values_) known.push_back(key);
    return nearest(normal(name), known);
  }

 private:
  void add(const std::string& name, const P& value) { values_.try_emplace(name, value); }

  /// c12, s1,2: cosine or sine of a sum of coordinates.
  std::optional<P> short_function(const std::string& name) const {
    if (name.size() < 2 || (name[0] != 'c' && name[0] != 's')) return std::nullopt;
    std::vector<std::size_t> indices;
    const std::string rest = name.substr(1);
    const std::size_t n = coordinates_.size();
    const bool separated = n > 9;
    std::string digits;
    const auto flush = [&] {
      if (!digits.empty()) indices.push_back(std::stoul(digits));
      digits.clear();
    };
    for (const char c : rest) {
      if (is_digit(c)) {
        digits += c;
        if (!separated) flush();
        if (digits.size() > 6) return std::nullopt;
      } else if (c == ',' || c == '_' || c == '{' || c == '}') {
        flush();
      } else {
        return std::nullopt;
      }
    }
    flush();
    if (indices.empty()) return std::nullopt;
    P angle;
    for (const std::size_t i : indices) {
      if (i < 1 || i > n) return std::nullopt;
      angle += P::symbol(ring_, coordinates_[i - 1].q);
    }
    return name[0] == 'c' ? cos(angle) : sin(angle);
  }

  const std::shared_ptr<Ring>& ring_;
  std::span<const Coordinate> coordinates_;
  std::map<std::string, P> values_;
};

class Parser {
 public:
  Parser(const std::shared_ptr<Ring>& ring, std::span<const Coordinate> coordinates,
         const std::string& text)
      : names_(ring, coordinates), text_(text) {}

  P whole() {
    const P value = sum();
    if (peek() != '\0' || at_ < text_.size()) unexpected();
    return value;
  }

 private:
  static constexpr int kMaxDepth = 100;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(
        fmt::format("parse_formula: {} at column {} of '{}'", what, at_ + 1, excerpt(text_, at_)));
  }

  [[noreturn]] void unexpected() const {
    refuse(fmt::format("unexpected '{}'", character(text_, at_)));
  }

  /// Blanks and LaTeX commands that only change the spacing or the size of parentheses.
  void skip() {
    for (;;) {
      while (at_ < text_.size() &&
             (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '~')) {
        ++at_;
      }
      bool skipped = false;
      for (const char* command :
           {"\\left", "\\right", "\\,", "\\;", "\\!", "\\:", "\\quad", "\\ "}) {
        if (follows(command)) {
          at_ += std::string_view(command).size();
          skipped = true;
          break;
        }
      }
      if (!skipped) return;
    }
  }
  bool follows(std::string_view word) const {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    // \left is not the beginning of \leftarrow.
    return !is_letter(word.back()) || at_ + word.size() >= text_.size() ||
           !is_letter(text_[at_ + word.size()]);
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view word) {
    skip();
    if (!follows(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    if (peek() != c) refuse(fmt::format("expected '{}'", c));
    ++at_;
  }

  P sum() {
    if (++depth_ > kMaxDepth) refuse(fmt::format("nested deeper than {}", kMaxDepth));
    P value;
    bool negative = accept("-");
    if (!negative) accept("+");
    for (;;) {
      const P part = product();
      value = negative ? value - part : value + part;
      if (accept("+")) {
        negative = false;
      } else if (accept("-")) {
        negative = true;
      } else {
        --depth_;
        return value;
      }
    }
  }

  bool starts_factor() {
    const char c = peek();
    return is_letter(c) || is_digit(c) || c == '.' || c == '(' || c == '[' || c == '{' ||
           (c == '\\' && !follows("\\right") && !follows("\\cdot") && !follows("\\times"));
  }

  P product() {
    P value = signed_power();
    for (;;) {
      if (accept("*") || accept("\\cdot") || accept("\\times")) {
        value *= signed_power();
      } else if (accept("/")) {
        value = quotient(value, signed_power());
      } else if (starts_factor()) {
        value *= power();
      } else {
        return value;
      }
    }
  }
  P quotient(const P& a, const P& b) const {
    const auto result = try_divide(a, b);
    if (!result) refuse("the divisor is not a number or a product of symbols");
    return *result;
  }
  P signed_power() {
    bool negative = false;
    while (accept("-")) negative = !negative;
    const P value = power();
    return negative ? -value : value;
  }

  int exponent() {
    if (!accept("^") && !accept("**")) return 1;
    const char open = peek();
    const bool braced = open == '{' || open == '(';
    if (braced) ++at_;
    const bool negative = accept("-");
    skip();
    std::string digits;
    // Without braces LaTeX takes one digit, plain text takes all: the same for our exponents.
    while (at_ < text_.size() && is_digit(text_[at_])) digits += text_[at_++];
    if (digits.empty() || digits.size() > 2) refuse("expected an integer exponent below 100");
    if (braced) expect(open == '{' ? '}' : ')');
    return negative ? -std::stoi(digits) : std::stoi(digits);
  }
  P raised(const P& base, int n) const {
    if (n >= 0) return pow(base, n);
    return quotient(P(1), pow(base, -n));
  }
  P power() {
    const P base = factor();
    return raised(base, exponent());
  }

  P group(char close) {
    ++at_;
    const P value = sum();
    expect(close);
    return value;
  }
  P braced() {
    if (peek() != '{') refuse("expected '{'");
    return group('}');
  }

  P factor() {
    if (++depth_ > kMaxDepth) refuse(fmt::format("nested deeper than {}", kMaxDepth));
    P value = atom();
    --depth_;
    return value;
  }
  P atom() {
    const char c = peek();
    if (c == '(') return group(')');
    if (c == '[') return group(']');
    if (c == '{') return group('}');
    if (is_digit(c) || c == '.') return number();
    if (c == '\\') return command();
    if (is_letter(c)) return word();
    if (at_ >= text_.size()) refuse("the formula ends too early");
    unexpected();
  }

  P number() {
    const std::size_t start = at_;
    std::int64_t digits = 0, scale = 1;
    bool point = false;
    for (; at_ < text_.size() && (is_digit(text_[at_]) || (text_[at_] == '.' && !point)); ++at_) {
      if (text_[at_] == '.') {
        point = true;
        continue;
      }
      if (at_ - start > 16) refuse("a number of more than 16 digits");
      digits = 10 * digits + (text_[at_] - '0');
      if (point) scale *= 10;
    }
    return Rational(digits, scale);
  }

  /// \frac, \sqrt, \cos, \sin, \dot{...}, Greek letters.
  P command() {
    for (const char* name : {"\\tfrac", "\\dfrac", "\\frac"}) {
      if (!accept(name)) continue;
      const P above = argument(), below = argument();
      return quotient(above, below);
    }
    if (accept("\\sqrt")) return sqrt(argument());
    if (accept("\\cos")) return function(false);
    if (accept("\\sin")) return function(true);
    for (const auto& [name, rate] :
         {std::pair<const char*, const char*>{"\\ddot", "dd"}, {"\\dot", "d"}}) {
      if (accept(name)) return accented(rate);
    }
    for (const char* name : {"\\mathrm", "\\mathit", "\\text", "\\operatorname"}) {
      if (!accept(name)) continue;
      expect('{');
      std::string inside;
      while (at_ < text_.size() && text_[at_] != '}') inside += text_[at_++];
      expect('}');
      if (inside == "cos" || inside == "sin") return function(inside == "sin");
      return lookup(inside + subscript());
    }
    ++at_;
    std::string greek;
    while (at_ < text_.size() && is_letter(text_[at_])) greek += text_[at_++];
    if (greek.empty()) refuse("an unknown command");
    return lookup(greek + subscript());
  }
  /// {...}, or one character as in \frac12.
  P argument() {
    if (peek() == '{') return group('}');
    if (is_digit(peek())) return P(static_cast<int>(text_[at_++] - '0'));
    return factor();
  }
  /// \dot{\theta}_1, \dot\theta_1, \dot q_1
  P accented(const std::string& rate) {
    const bool braces = peek() == '{';
    if (braces) ++at_;
    if (peek() == '\\') ++at_;
    std::string base;
    while (at_ < text_.size() && is_letter(text_[at_])) base += text_[at_++];
    std::string index = subscript();
    if (braces) expect('}');
    if (index.empty()) index = subscript();
    return lookup(rate + base + index);
  }
  /// _1, _{12}, _{1,2}; empty without one.
  std::string subscript() {
    if (peek() != '_') return "";
    ++at_;
    std::string index;
    if (peek() == '{') {
      int depth = 0;
      do {
        const char c = text_[at_++];
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        // \mathrm{foot} in an index: only its letters count
        if (c == '\\') {
          while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
        } else if (c != '{' && c != '}' && c != ' ') {
          index += c;
        }
      } while (depth > 0 && at_ < text_.size());
      if (depth > 0) refuse("no closing brace");
      return index;
    }
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      index += text_[at_++];
    }
    return index;
  }

  /// cos(q1 + q2), cos^2 q1, \cos 2 \theta_1
  P function(bool sine) {
    const int n = exponent();
    const char open = peek();
    P angle;
    if (open == '(' || open == '[' || open == '{') {
      angle = factor();
    } else {
      angle = accept("-") ? P(-1) : P(1);
      if (is_digit(peek())) angle *= number();
      if (is_letter(peek()) || peek() == '\\') angle *= factor();
    }
    return raised(sine ? sin(angle) : cos(angle), n);
  }

  P word() {
    const std::size_t start = at_;
    std::string run;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      run += text_[at_++];
    }
    if (run == "cos" || run == "sin") return function(run == "sin");
    if (run == "sqrt") return sqrt(factor());
    // Indices with commas: c1,2 - only if digits follow directly.
    std::string tail;
    while (at_ + 1 < text_.size() && text_[at_] == ',' && is_digit(text_[at_ + 1])) {
      tail += text_[at_++];
      while (at_ < text_.size() && is_digit(text_[at_])) tail += text_[at_++];
    }
    tail += at_ < text_.size() && text_[at_] == '_' ? "_" + subscript() : "";
    if (const auto value = names_.find(run + tail)) return *value;
    // Several names without blanks: m2l1c2, ml_1. An exponent belongs to the last of them.
    constexpr std::size_t kMaxRun = 100;
    if (run.size() <= kMaxRun) {
      if (const auto names = split(run, tail)) {
        P product(1);
        for (std::size_t i = 0; i + 1 < names->size(); ++i) product *= (*names)[i];
        return product * raised(names->back(), exponent());
      }
    }
    at_ = start;
    unknown(run + tail);
  }
  /// The values of the names that a run of letters and digits consists of; of all ways the one with
  /// the longest name first. The rests that start at each letter are tried once, from the last on.
  std::optional<std::vector<P>> split(const std::string& run, const std::string& tail) const {
    const std::size_t size = run.size();
    std::vector<std::size_t> length(size + 1, 0);  // of the name that starts there; 0: none
    for (std::size_t at = size; at-- > 0;) {
      if (!is_letter(run[at])) continue;
      for (std::size_t end = size; end > at && length[at] == 0; --end) {
        if (end < size && length[end] == 0) continue;
        if (names_.find(run.substr(at, end - at) + (end == size ? tail : ""))) {
          length[at] = end - at;
        }
      }
    }
    if (length[0] == 0) return std::nullopt;
    std::vector<P> values;
    for (std::size_t at = 0; at < size; at += length[at]) {
      const bool last = at + length[at] == size;
      values.push_back(*names_.find(run.substr(at, length[at]) + (last ? tail : "")));
    }
    return values;
  }
  P lookup(const std::string& name) const {
    const auto value = names_.find(name);
    if (!value) unknown(name);
    return *value;
  }
  [[noreturn]] void unknown(const std::string& name) const {
    const std::string close = names_.closest(name);
    refuse(fmt::format("unknown name '{}'{}", name,
                       close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
  }

  Names names_;
  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

P parse_formula(const std::shared_ptr<Ring>& ring, std::span<const Coordinate> coordinates,
                const std::string& text) {
  constexpr std::size_t kMaxLength = 20'000;
  if (text.size() > kMaxLength) {
    throw Error(
        fmt::format("parse_formula: {} characters, expected at most {}", text.size(), kMaxLength));
  }
  const RingScope scope(ring);
  return Parser(ring, coordinates, text).whole();
}

}  // namespace limb::symbolic
