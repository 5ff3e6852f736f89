#include "limb/symbolic/typeset/math_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "limb/base/error.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"

namespace limb::symbolic {
namespace {

using Kind = MathNode::Kind;

struct Command {
  std::string_view name;
  Kind kind;
  std::string_view text;
};

constexpr std::array<Command, 62> kCommands = {{
    {"alpha", Kind::letter, "α"},    {"beta", Kind::letter, "β"},    {"gamma", Kind::letter, "γ"},
    {"delta", Kind::letter, "δ"},    {"epsilon", Kind::letter, "ϵ"}, {"zeta", Kind::letter, "ζ"},
    {"eta", Kind::letter, "η"},      {"theta", Kind::letter, "θ"},   {"iota", Kind::letter, "ι"},
    {"kappa", Kind::letter, "κ"},    {"lambda", Kind::letter, "λ"},  {"mu", Kind::letter, "μ"},
    {"rho", Kind::letter, "ρ"},      {"sigma", Kind::letter, "σ"},   {"tau", Kind::letter, "τ"},
    {"upsilon", Kind::letter, "υ"},  {"phi", Kind::letter, "ϕ"},     {"chi", Kind::letter, "χ"},
    {"psi", Kind::letter, "ψ"},      {"omega", Kind::letter, "ω"},   {"pi", Kind::letter, "π"},
    {"Gamma", Kind::upright, "Γ"},   {"Delta", Kind::upright, "Δ"},  {"Theta", Kind::upright, "Θ"},
    {"Lambda", Kind::upright, "Λ"},  {"Omega", Kind::upright, "Ω"},  {"cos", Kind::upright, "cos"},
    {"sin", Kind::upright, "sin"},   {"det", Kind::upright, "det"},  {"top", Kind::upright, "T"},
    {"partial", Kind::upright, "∂"}, {"sum", Kind::sign, "∑"},       {"times", Kind::sign, "×"},
    {"cdot", Kind::sign, "⋅"},       {"dots", Kind::sign, "…"},      {"neq", Kind::sign, "≠"},
    {"equiv", Kind::sign, "≡"},      {"le", Kind::sign, "≤"},        {"quad", Kind::space, ""},
    {"qquad", Kind::space, ""},      {",", Kind::space, "thin"},     {";", Kind::space, "thin"},
    {"{", Kind::sign, "{"},          {"}", Kind::sign, "}"},         {"dot", Kind::accent, "˙"},
    {"ddot", Kind::accent, "¨"},     {"hat", Kind::accent, "^"},     {"frac", Kind::fraction, ""},
    {"tfrac", Kind::fraction, ""},   {"sqrt", Kind::root, ""},       {"mathrm", Kind::upright, ""},
    {"text", Kind::upright, ""},     {"mathbf", Kind::letter, ""},   {"begin", Kind::matrix, ""},
    {"lVert", Kind::sign, "‖"},      {"rVert", Kind::sign, "‖"},     {"dd", Kind::upright, "d"},
    {"to", Kind::sign, "→"},         {"ell", Kind::letter, "ℓ"},     {"star", Kind::sign, "⋆"},
    {"bullet", Kind::sign, "•"},     {"mathcal", Kind::letter, ""},
}};

class Parser {
 public:
  explicit Parser(const std::string& source) : source_(source) {}

  MathNode whole() {
    MathNode row = parse_row();
    if (at_ < source_.size()) refuse("unmatched closing brace or end of cell");
    return row;
  }

 private:
  /// More than any formula of limb has.
  static constexpr int kMaxDepth = 200;
  /// Counts the depth while it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kMaxDepth) {
        --depth_;
        parser.refuse(fmt::format("nested deeper than {}", kMaxDepth));
      }
    }
    ~Nested() { --depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    int& depth_;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("parse_math: {} at column {} of '{}'", what, at_ + 1, source_));
  }

  bool skip_blanks() {
    const std::size_t start = at_;
    while (at_ < source_.size() && source_[at_] == ' ') ++at_;
    return at_ != start;
  }
  char peek() const { return at_ < source_.size() ? source_[at_] : '\0'; }
  bool follows(std::string_view text) const { return source_.compare(at_, text.size(), text) == 0; }

  /// Up to a closing brace or the end of a matrix cell.
  MathNode parse_row() {
    const Nested nested(*this);
    MathNode row;
    for (;;) {
      const bool spaced = skip_blanks();
      const char c = peek();
      if (c == '\0' || c == '}' || c == '&' || follows("\\\\") || follows("\\end")) return row;
      MathNode node = parse_scripted();
      node.spaced = spaced && !row.parts.empty();
      row.parts.push_back(std::move(node));
    }
  }

  MathNode parse_scripted() {
    MathNode base;
    if (peek() != '_' && peek() != '^') base = parse_one();
    MathNode below, above;
    bool scripted = false;
    while (peek() == '_' || peek() == '^') {
      MathNode& script = peek() == '_' ? below : above;
      if (script.kind != Kind::row || !script.parts.empty()) refuse("a second index or exponent");
      ++at_;
      script = parse_argument();
      scripted = true;
    }
    if (!scripted) return base;
    MathNode node;
    node.kind = Kind::script;
    node.parts = {std::move(base), std::move(below), std::move(above)};
    return node;
  }

  MathNode parse_argument() {
    const Nested nested(*this);
    skip_blanks();
    return parse_one();
  }

  MathNode parse_group() {
    ++at_;
    MathNode row = parse_row();
    if (peek() != '}') refuse("no closing brace");
    ++at_;
    return row;
  }

  MathNode leaf(Kind kind, std::string text) {
    MathNode node;
    node.kind = kind;
    node.text = std::move(text);
    return node;
  }

  MathNode parse_one() {
    const char c = peek();
    if (c == '{') return parse_group();
    if (c == '\\') return parse_command();
    if (is_break(c)) {
      ++at_;
      return leaf(Kind::line_break, std::string(1, c));
    }
    if (c >= '0' && c <= '9') {
      std::size_t end = at_;
      while (end < source_.size() &&
             ((source_[end] >= '0' && source_[end] <= '9') || source_[end] == '.')) {
        ++end;
      }
      const std::string digits = source_.substr(at_, end - at_);
      at_ = end;
      return leaf(Kind::number, digits);
    }
    ++at_;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      return leaf(Kind::letter, std::string(1, c));
    }
    if (std::string_view("+-=()[],.|/:;<>'").find(c) == std::string_view::npos) {
      --at_;
      refuse(fmt::format("unexpected '{}'", c));
    }
    return leaf(Kind::sign, c == '-' ? "−" : std::string(1, c));
  }

  std::string braced_text() {
    if (peek() != '{') refuse("expected '{'");
    std::string text;
    for (++at_; peek() != '}'; ++at_) {
      if (peek() == '\\') ++at_;  // an escaped character: left\_knee
      if (at_ >= source_.size()) refuse("no closing brace");
      text += source_[at_];
    }
    ++at_;
    return text;
  }

  /// The letters of twists and wrenches, in script.
  std::string script_letter(const std::string& letter) const {
    static constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
        {"A", "𝒜"}, {"F", "ℱ"}, {"G", "𝒢"}, {"V", "𝒱"}};
    for (const auto& [plain, script] : kLetters) {
      if (letter == plain) return std::string(script);
    }
    refuse(fmt::format("no script letter '{}'", letter));
  }

  MathNode parse_command() {
    const std::size_t start = ++at_;
    while (at_ < source_.size() && ((source_[at_] >= 'a' && source_[at_] <= 'z') ||
                                    (source_[at_] >= 'A' && source_[at_] <= 'Z'))) {
      ++at_;
    }
    if (at_ == start) ++at_;
    const std::string name = source_.substr(start, at_ - start);
    const auto known = std::find_if(kCommands.begin(), kCommands.end(),
                                    [&](const Command& c) { return c.name == name; });
    if (known == kCommands.end()) refuse(fmt::format("unknown command '\\{}'", name));
    MathNode node = leaf(known->kind, std::string(known->text));
    if (name == "partial") skip_blanks();  // binds to the next symbol
    switch (known->kind) {
      case Kind::accent:
      case Kind::root:
        node.parts.push_back(parse_argument());
        break;
      case Kind::fraction:
        node.parts.push_back(parse_argument());
        node.parts.push_back(parse_argument());
        break;
      case Kind::matrix:
        return parse_matrix();
      case Kind::letter:
      case Kind::upright:
        if (name == "mathcal") {
          node.text = script_letter(braced_text());
        } else if (name == "mathrm" || name == "text" || name == "mathbf") {
          node.text = braced_text();
          node.bold = name == "mathbf";
        }
        break;
      default:
        break;
    }
    return node;
  }

  MathNode parse_matrix() {
    const std::string environment = braced_text();
    if (environment != "bmatrix") refuse(fmt::format("unknown environment '{}'", environment));
    MathNode matrix = leaf(Kind::matrix, "");
    std::size_t column = 0;
    for (;;) {
      matrix.parts.push_back(parse_row());
      matrix.columns = std::max(matrix.columns, ++column);
      if (peek() == '&') {
        ++at_;
      } else if (follows("\\\\")) {
        at_ += 2;
        column = 0;
      } else if (follows("\\end{bmatrix}")) {
        at_ += std::string_view("\\end{bmatrix}").size();
        return matrix;
      } else {
        refuse("unterminated matrix");
      }
    }
  }

  const std::string& source_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Characters, not bytes.
std::size_t length(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

MathNode parse_math(const std::string& latex) {
  return Parser(latex).whole();
}

double math_width(const MathNode& node) {
  constexpr double kScript = 0.7;
  double sum = 0;
  switch (node.kind) {
    case Kind::sign:
      return node.text.size() == 1 &&
                     std::string_view("()[],.|").find(node.text[0]) != std::string_view::npos
                 ? 0.8
                 : 2;
    case Kind::letter:
    case Kind::upright:
    case Kind::number:
      return static_cast<double>(length(node.text));
    case Kind::space:
      return node.text.empty() ? 2 : 0.4;
    case Kind::line_break:
      return 0;
    case Kind::script:
      return math_width(node.parts[0]) +
             kScript * std::max(math_width(node.parts[1]), math_width(node.parts[2]));
    case Kind::fraction:
      return kScript * std::max(math_width(node.parts[0]), math_width(node.parts[1])) + 0.4;
    case Kind::matrix: {
      std::vector<double> widths(node.columns, 0);
      for (std::size_t i = 0; i < node.parts.size(); ++i) {
        double& width = widths[i % node.columns];
        width = std::max(width, math_width(node.parts[i]));
      }
      for (const double width : widths) sum += width + 2;
      return sum;
    }
    default:
      for (const MathNode& part : node.parts) sum += math_width(part);
      return sum;
  }
}

}  // namespace limb::symbolic
