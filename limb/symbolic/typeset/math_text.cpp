#include <algorithm>

#include "limb/symbolic/typeset/math_layout.hpp"

/// Formulas as lines of ASCII: q1, qd1, c12, l1^2; matrices over several lines.
namespace limb::symbolic {
namespace {

using Kind = MathNode::Kind;

std::size_t width(const TextBox& box) {
  return box.lines.empty() ? 0 : box.lines.front().size();
}

TextBox line(std::string text) {
  return {{std::move(text)}, 0};
}

/// Side by side on one baseline.
TextBox beside(const TextBox& a, const TextBox& b) {
  if (a.lines.empty()) return b;
  if (b.lines.empty()) return a;
  const std::size_t above = std::max(a.baseline, b.baseline);
  const std::size_t below = std::max(a.lines.size() - a.baseline, b.lines.size() - b.baseline);
  TextBox result{std::vector<std::string>(above + below), above};
  for (std::size_t i = 0; i < result.lines.size(); ++i) {
    for (const TextBox* box : {&a, &b}) {
      const std::size_t row = i + box->baseline;
      const bool inside = row >= above && row - above < box->lines.size();
      result.lines[i] += inside ? box->lines[row - above] : std::string(width(*box), ' ');
    }
  }
  return result;
}

std::string ascii(const std::string& text) {
  static const std::pair<const char*, const char*> kSpelled[] = {
      {"−", "-"},       {"∑", "sum"},   {"×", "x"},     {"⋅", "*"},     {"…", "..."},
      {"≠", "!="},      {"≡", "=="},    {"≤", "<="},    {"∂", "d"},     {"→", "->"},
      {"α", "alpha"},   {"β", "beta"},  {"γ", "gamma"}, {"δ", "delta"}, {"ϵ", "epsilon"},
      {"ζ", "zeta"},    {"η", "eta"},   {"θ", "theta"}, {"ι", "iota"},  {"κ", "kappa"},
      {"λ", "lambda"},  {"μ", "mu"},    {"ρ", "rho"},   {"σ", "sigma"}, {"τ", "tau"},
      {"υ", "upsilon"}, {"ϕ", "phi"},   {"χ", "chi"},   {"ψ", "psi"},   {"ω", "w"},
      {"π", "pi"},      {"Γ", "Gamma"}, {"Δ", "Delta"}, {"Θ", "Theta"}, {"Λ", "Lambda"},
      {"Ω", "Omega"},   {"‖", "|"},     {"ℓ", "l"},     {"⋆", "*"},     {"•", "*"},
      {"˙", "d"},       {"¨", "dd"},    {"𝒜", "A"},     {"ℱ", "F"},     {"𝒢", "G"},
      {"𝒱", "V"}};
  for (const auto& [from, to] : kSpelled) {
    if (text == from) return to;
  }
  return text;
}

TextBox matrix(const MathNode& node) {
  std::vector<TextBox> cells;
  std::vector<std::size_t> widths(node.columns, 0);
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    cells.push_back(to_text_box(node.parts[i]));
    widths[i % node.columns] = std::max(widths[i % node.columns], width(cells.back()));
  }
  TextBox result;
  for (std::size_t row = 0; row < cells.size() / node.columns; ++row) {
    std::string text = "[ ";
    for (std::size_t c = 0; c < node.columns; ++c) {
      const TextBox& cell = cells[row * node.columns + c];
      const std::string& entry = cell.lines.empty() ? std::string() : cell.lines[cell.baseline];
      text += entry + std::string(widths[c] - entry.size() + (c + 1 < node.columns ? 2 : 0), ' ');
    }
    result.lines.push_back(text + " ]");
  }
  result.baseline = (result.lines.size() - 1) / 2;
  return result;
}

/// Whether a text needs parentheses as a part of a fraction.
bool compound(const std::string& text) {
  return text.find_first_of(" +-/") != text.npos;
}

std::string single(const MathNode& node) {
  const TextBox box = to_text_box(node);
  return box.lines.empty() ? "" : box.lines[box.baseline];
}

TextBox script(const MathNode& node) {
  TextBox box = to_text_box(node.parts[0]);
  const std::string below = single(node.parts[1]), above = single(node.parts[2]);
  if (box.lines.empty() && below.empty()) return line(above);  // a leading superscript: {}^1 w
  const bool word = box.lines.empty() ? false : box.lines[box.baseline] == "sum";
  if (!below.empty()) {
    // z_(j-1), since zj - 1 would be a difference
    const bool sum = below.find(' ') != below.npos;
    std::string index = below;
    if (sum) std::erase(index, ' ');
    box = beside(box, line(word ? "_{" + index + "}" : sum ? "_(" + index + ")" : index));
  }
  if (!above.empty()) {
    box =
        beside(box, line(above.size() == 1 || !compound(above) ? "^" + above : "^(" + above + ")"));
  }
  return box;
}

bool is_binary(const std::string& sign) {
  return sign == "+" || sign == "-" || sign == "=" || sign == "!=" || sign == "==" || sign == "x" ||
         sign == "*" || sign == "<=" || sign == "->";
}

TextBox row(const MathNode& node) {
  TextBox box;
  bool operand = false;  // whether there is a left operand
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    const MathNode& part = node.parts[i];
    if (part.kind == Kind::line_break) continue;
    TextBox next = to_text_box(part);
    if (next.lines.empty()) continue;
    const std::string text = next.lines.size() == 1 ? next.lines[0] : "";
    if (part.kind == Kind::sign && is_binary(text)) {
      // A sign at the start of a continued line keeps the blank after it.
      const bool blank = i == 0 && i + 1 < node.parts.size() && node.parts[i + 1].spaced;
      next = line(operand ? " " + text + " " : blank ? text + " " : text);
      operand = false;
    } else {
      const bool after = operand && part.spaced && part.kind != Kind::space;
      if (after) box = beside(box, line(" "));
      operand = text != "(" && text != "[";
    }
    box = beside(box, next);
  }
  return box;
}

}  // namespace

TextBox to_text_box(const MathNode& node) {
  switch (node.kind) {
    case Kind::letter:
    case Kind::upright:
    case Kind::number:
    case Kind::sign:
      return line(ascii(node.text));
    case Kind::script:
      return script(node);
    case Kind::accent:
      return beside(to_text_box(node.parts[0]), line(ascii(node.text)));
    case Kind::fraction: {
      const std::string above = single(node.parts[0]), below = single(node.parts[1]);
      return line((compound(above) ? "(" + above + ")" : above) + "/" +
                  (compound(below) ? "(" + below + ")" : below));
    }
    case Kind::root:
      return line("sqrt(" + single(node.parts[0]) + ")");
    case Kind::matrix:
      return matrix(node);
    case Kind::space:
      return line(node.text.empty() ? "   " : " ");
    case Kind::line_break:
      return {};
    default:
      return row(node);
  }
}

}  // namespace limb::symbolic
