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
  enum class Kind { heading, paragraph, equations, figure };
  Kind kind = Kind::paragraph;
  int level = 1;                    ///< of a heading: 1 or 2
  std::string text;                 ///< of a heading or paragraph; formulas between dollar signs;
                                    ///< of a figure its SVG, which only HTML prints
  std::vector<Equation> equations;  ///< one below the other
};

struct Document {
  std::string title;
  std::vector<Block> blocks;

  void heading(int level, std::string text);
  void paragraph(std::string text);
  void figure(std::string svg);
  /// Appended to the equations directly above, if any.
  void equation(std::string left, std::vector<std::string> right);
};

/// Lines "left &= ...", "&\quad + ..." of about `width` letters, without break marks.
std::vector<std::string> aligned_lines(const Equation& equation, double width);
/// The equation, in an aligned environment if it has several lines.
std::string to_latex(const Equation& equation, double width);

/// Text whose special characters, such as the underscores of names, LaTeX prints as they are.
std::string escaped_latex(const std::string& text);
/// A LaTeX file with a title and a body in LaTeX, which needs amsmath and no other package.
std::string latex_document(const std::string& title, const std::string& body);
enum class LatexKind {
  document,  ///< a whole file that needs only amsmath
  fragment,  ///< sections and formulas without preamble, for \\input
  slides,    ///< a whole file of the class beamer, a frame per step
};
/// The same of a document.
std::string to_latex(const Document& document, LatexKind kind = LatexKind::document);
/// Markdown with formulas between dollar signs.
std::string to_markdown(const Document& document);
/// A self-contained page: its formulas are MathML, each with its LaTeX in the attribute
/// data-tex. docs/adr/0007-pages-in-mathml.md
std::string to_html(const Document& document);
/// Lines of ASCII, about 96 characters wide.
std::string to_text(const Document& document);

}  // namespace limb::symbolic
