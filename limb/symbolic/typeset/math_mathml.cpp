#include "limb/symbolic/typeset/math_layout.hpp"

/// MathML Core, which browsers render without scripts.
namespace limb::symbolic {
namespace {

using Kind = MathNode::Kind;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  }
  return result;
}

std::string element(const std::string& name, const std::string& inside) {
  return "<" + name + ">" + inside + "</" + name + ">";
}

std::string write(const MathNode& node);

/// The spacing of + and - depends on their position.
enum class Form { prefix, infix };

std::string write_sign(const std::string& text, Form form) {
  std::string attributes;
  if (text == "(" || text == ")" || text == "[" || text == "]") {
    attributes = " stretchy=\"false\"";  // of one size: a pair may be split over two lines
  } else if (text == "+" || text == "−") {
    attributes = form == Form::prefix ? " form=\"prefix\"" : " form=\"infix\"";
  } else if (text == "/") {
    attributes = " lspace=\"0.05em\" rspace=\"0.05em\"";
  }
  return "<mo" + attributes + ">" + escaped(text) + "</mo>";
}

std::string write_parts(const MathNode& node) {
  std::string text;
  bool operand = false;  // whether there is a left operand
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    const MathNode& part = node.parts[i];
    if (part.kind == Kind::sign) {
      // The first sign of a continued line is binary: its left operand is on the line above.
      const bool continued = i == 0 && node.parts.size() > 1 && node.parts[1].spaced;
      text += write_sign(part.text, operand || continued ? Form::infix : Form::prefix);
      operand = part.text == ")" || part.text == "]";
      continue;
    }
    const bool after_function = i > 0 && node.parts[i - 1].kind == Kind::upright;
    const bool function = part.kind == Kind::upright && part.text.size() > 2;
    if ((after_function || (function && i > 0 && operand)) && part.spaced) {
      text += "<mspace width=\"0.17em\"/>";
    }
    text += write(part);
    operand = operand || part.kind != Kind::line_break;
  }
  return text;
}

std::string write_script(const MathNode& node) {
  const std::string base = node.parts[0].parts.empty() && node.parts[0].kind == Kind::row
                               ? "<mrow></mrow>"
                               : write(node.parts[0]);
  const auto empty = [](const MathNode& n) { return n.kind == Kind::row && n.parts.empty(); };
  const bool sum = node.parts[0].text == "∑";
  const std::string below = empty(node.parts[1]) ? "" : write(node.parts[1]);
  const std::string above = empty(node.parts[2]) ? "" : write(node.parts[2]);
  if (above.empty()) return element(sum ? "munder" : "msub", base + below);
  if (below.empty()) return element(sum ? "mover" : "msup", base + above);
  return element(sum ? "munderover" : "msubsup", base + below + above);
}

std::string write_matrix(const MathNode& node) {
  std::string table;
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    if (i % node.columns == 0) table += "<mtr>";
    table += element("mtd", write(node.parts[i]));
    if (i % node.columns == node.columns - 1) table += "</mtr>";
  }
  return "<mrow><mo>[</mo>" + element("mtable", table) + "<mo>]</mo></mrow>";
}

std::string write(const MathNode& node) {
  switch (node.kind) {
    case Kind::letter:
      return node.bold ? "<mi class=\"bold\" mathvariant=\"normal\">" + node.text + "</mi>"
                       : element("mi", node.text);
    case Kind::upright:
      return node.text.find(' ') != node.text.npos
                 ? element("mtext", escaped(node.text))
                 : "<mi mathvariant=\"normal\">" + escaped(node.text) + "</mi>";
    case Kind::number:
      return element("mn", node.text);
    case Kind::sign:
      return write_sign(node.text, Form::infix);
    case Kind::script:
      return write_script(node);
    case Kind::accent:
      // Not accent="true", with which browsers overlap dot and letter; padded to the height of a
      // letter, so that exponents are placed as elsewhere.
      return "<mpadded height=\"0.72em\"><mover>" + write(node.parts[0]) +
             "<mo class=\"dot\" stretchy=\"false\" lspace=\"0\" rspace=\"0\">" + node.text +
             "</mo></mover></mpadded>";
    case Kind::fraction:
      return element("mfrac", write(node.parts[0]) + write(node.parts[1]));
    case Kind::root:
      return element("msqrt", write(node.parts[0]));
    case Kind::matrix:
      return write_matrix(node);
    case Kind::space:
      return node.text.empty() ? "<mspace width=\"1.2em\"/>" : "<mspace width=\"0.17em\"/>";
    case Kind::line_break:
      return "";
    default:
      return node.parts.size() == 1 ? write(node.parts[0]) : element("mrow", write_parts(node));
  }
}

}  // namespace

std::string to_mathml(const MathNode& node, bool display) {
  return std::string(display ? "<math display=\"block\">" : "<math>") + write(node) + "</math>";
}

}  // namespace limb::symbolic
