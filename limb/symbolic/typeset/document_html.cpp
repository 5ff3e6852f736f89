#include <fmt/format.h>

#include "limb/symbolic/typeset/line_breaks.hpp"

/// Documents as HTML.
namespace limb::symbolic {
namespace {

constexpr double kPieceWidth = 30;  // letters kept on one line on a narrow screen

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #62626d; --paper: #fffefb; --rule: #d9d6cc; --accent: #7a2e1d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e6e1; --soft: #a3a099; --paper: #17171a; --rule: #3a3a40; --accent: #e0a08f; }
}
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { font: 1.06rem/1.62 Charter, "Bitstream Charter", "STIX Two Text", "Source Serif 4", Georgia, "Times New Roman", serif;
  max-width: 46rem; margin: 0 auto; padding: 3rem 1.4rem 5rem; counter-reset: section; }
h1 { font-size: 1.9rem; line-height: 1.25; font-weight: 600; text-align: center; margin: 0 0 2.4rem; text-wrap: balance; }
h2 { font-size: 1.32rem; line-height: 1.3; font-weight: 600; margin: 2.9rem 0 0.9rem; padding-top: 0.9rem; border-top: 1px solid var(--rule);
  counter-increment: section; counter-reset: subsection; }
h2::before { content: counter(section) "\2002"; color: var(--accent); }
h3 { font-size: 1.08rem; font-weight: 600; margin: 2rem 0 0.6rem; counter-increment: subsection; }
h3::before { content: counter(section) "." counter(subsection) "\2002"; color: var(--accent); }
p { margin: 0.8rem 0; hyphens: auto; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "XITS Math", STIXGeneral, "DejaVu Math TeX Gyre", math; font-size: 1.04em; }
math .bold { font-weight: bold; }
math .dot { font-size: 0.9em; }
.equations { margin: 1.1rem 0; display: grid; grid-template-columns: max-content minmax(0, 1fr); row-gap: 0.45rem;
  padding-left: 1.6rem; overflow-x: auto; align-items: baseline; }
.equation { display: contents; }
.left { text-align: right; padding-right: 0.32em; white-space: nowrap; }
.right { padding-left: 1.4em; text-indent: -1.4em; line-height: 1.9; }
.right math { text-indent: 0; }
.right mtd { padding: 0.22em 0.5em; }
.matrix { display: inline-block; max-width: 100%; overflow-x: auto; overflow-y: hidden; vertical-align: middle; text-indent: 0; padding: 0.25em 0; }
figure { margin: 1.2rem auto; text-align: center; }
svg.robot { max-width: 100%; height: auto; }
svg .joint { fill: var(--paper); }
footer { margin-top: 4rem; color: var(--soft); font-size: 0.88rem; text-align: center; }
@media (max-width: 34rem) {
  body { font-size: 1rem; padding: 1.6rem 1rem 3rem; }
  h1 { font-size: 1.5rem; }
  .equations { padding-left: 0.2rem; }
  .right { padding-left: 0.9em; text-indent: -0.9em; }
}
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } h2, h3 { break-after: avoid; }
  .equations, .matrix { overflow: visible; } }
)";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// SVG inside HTML needs no namespace.
std::string without_namespace(std::string svg) {
  const std::string attribute = " xmlns=\"http://www.w3.org/2000/svg\"";
  if (const std::size_t at = svg.find(attribute); at != svg.npos) svg.erase(at, attribute.size());
  return svg;
}

std::string html_text(const std::string& text) {
  return replace_formulas(text, escaped, [](const std::string& formula) {
    return "<span data-tex=\"" + escaped(formula) + "\">" + to_mathml(parse_math(formula), false) +
           "</span>";
  });
}

bool has_matrix(const MathNode& node) {
  if (node.kind == MathNode::Kind::matrix) return true;
  for (const MathNode& part : node.parts) {
    if (has_matrix(part)) return true;
  }
  return false;
}

/// Each piece is a separate formula, so that the browser can break the line between them.
std::string right_side(const std::string& latex) {
  std::string text;
  bool first = true;
  for (const std::string& piece : split_at_breaks(latex, kPieceWidth)) {
    const MathNode node = parse_math((first ? "= " : "") + piece);
    const std::string math = to_mathml(node, false);
    if (!first) text += "<wbr>";
    text += has_matrix(node) ? "<span class=\"matrix\">" + math + "</span>" : math;
    first = false;
  }
  return text;
}

std::string equation_html(const Equation& equation) {
  constexpr double kTexWidth = 62;
  std::string text =
      "<div class=\"equation\" data-tex=\"" + escaped(to_latex(equation, kTexWidth)) + "\">";
  text += "<div class=\"left\">" + to_mathml(parse_math(equation.left), false) + "</div>";
  bool first = true;
  for (const std::string& right : equation.right) {
    if (!first) text += "<div class=\"left\"></div>";
    text += "<div class=\"right\">" + right_side(right) + "</div>";
    first = false;
  }
  return text + "</div>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(document.title) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<h1>" +
      html_text(document.title) + "</h1>\n";
  for (const Block& block : document.blocks) {
    switch (block.kind) {
      case Block::Kind::heading: {
        const char* tag = block.level == 1 ? "h2" : "h3";
        text += fmt::format("<{}>{}</{}>\n", tag, html_text(block.text), tag);
        break;
      }
      case Block::Kind::figure:
        text += "<figure>\n" + without_namespace(block.text) + "</figure>\n";
        break;
      case Block::Kind::paragraph:
        text += "<p>" + html_text(block.text) + "</p>\n";
        break;
      case Block::Kind::equations:
        text += "<div class=\"equations\">\n";
        for (const Equation& equation : block.equations) text += equation_html(equation);
        text += "</div>\n";
        break;
    }
  }
  return text + "</body>\n</html>\n";
}

}  // namespace limb::symbolic
