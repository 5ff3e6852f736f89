#pragma once

#include <string>
#include <vector>

/// A text with formulas, and its output formats. Formulas are in the subset of LaTeX that
/// math_layout.hpp parses, with the line breaks of formula_latex.hpp.
namespace limb::symbolic {

/// left = right[0] = right[1] ...
struct Equation {
  std::string left;
  std::vector<std::string> right;
};

struct Block {
  enum class Kind { heading, paragraph, equations };
  Kind kind = Kind::paragraph;
  int level = 1;                    ///< of a heading: 1 or 2
  std::string text;                 ///< of a heading or paragraph; formulas between dollar signs
  std::vector<Equation> equations;  ///< one below the other
};

struct Document {
  std::string title;
  std::vector<Block> blocks;

  void heading(int level, std::string text);
  void paragraph(std::string text);
  /// Appended to the equations directly above, if any.
  void equation(std::string left, std::vector<std::string> right);
};

/// Lines "left &= ...", "&\quad + ..." of about `width` letters, without break marks.
std::vector<std::string> aligned_lines(const Equation& equation, double width);
/// The equation, in an aligned environment if it has several lines.
std::string to_latex(const Equation& equation, double width);

/// A LaTeX file that uses amsmath.
std::string to_latex(const Document& document);
/// Markdown with formulas between dollar signs.
std::string to_markdown(const Document& document);
/// A self-contained page: its formulas are MathML, each with its LaTeX in the attribute
/// data-tex. docs/adr/0007-pages-in-mathml.md
std::string to_html(const Document& document);
/// Lines of ASCII, about 96 characters wide.
std::string to_text(const Document& document);

}  // namespace limb::symbolic
