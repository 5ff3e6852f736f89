#pragma once

#include <memory>
#include <string>
#include <vector>

/// Parses the subset of LaTeX mathematics that limb writes, so that one text serves every format:
/// MathML for pages, lines of characters for terminals.
namespace limb::symbolic {

struct MathNode {
  enum class Kind {
    row,
    letter,   ///< a variable, in italics
    upright,  ///< a word or a function
    number,
    sign,        ///< operators and delimiters: + - = ( )
    script,      ///< parts: base, subscript, superscript; the last two may be empty rows
    accent,      ///< dots or a hat over its part
    fraction,    ///< parts: numerator, denominator
    root,        ///< square root of its part
    matrix,      ///< parts: entries, row by row
    space,       ///< a wide space
    line_break,  ///< a break mark
  };
  Kind kind = Kind::row;
  std::string text;         ///< of leaves and accents, UTF-8
  bool bold = false;        ///< of letters
  bool spaced = false;      ///< preceded by a blank
  std::size_t columns = 0;  ///< of a matrix
  std::vector<MathNode> parts;
};

/// @throws Error for anything else, with the column.
MathNode parse_math(const std::string& latex);

/// A MathML <math> element.
std::string to_mathml(const MathNode& node, bool display);

/// Lines of characters of equal width; `baseline` is the index of the line of the formula.
struct TextBox {
  std::vector<std::string> lines;
  std::size_t baseline = 0;
};
TextBox to_text_box(const MathNode& node);

/// Width in print, in letters.
double math_width(const MathNode& node);

}  // namespace limb::symbolic
