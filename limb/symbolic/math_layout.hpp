#pragma once

#include <memory>
#include <string>
#include <vector>

/// The part of LaTeX's mathematics that limb writes, read back as a tree, so that one text serves
/// every format: MathML for pages, lines of characters for terminals.
namespace limb::symbolic {

struct MathNode {
  enum class Kind {
    row,
    letter,    ///< a variable, in italics
    upright,   ///< a word or a function
    number,    ///<
    sign,      ///< + - = ( ) and their kind
    script,    ///< parts: base, below, above; the last two may be empty rows
    accent,    ///< dots or a hat over its part
    fraction,  ///< parts: above, below
    root,      ///<
    matrix,    ///< parts: entries, row by row
    space,     ///< a wide space
    mark,      ///< where a line may be broken
  };
  Kind kind = Kind::row;
  std::string text;         ///< of leaves and accents, UTF-8
  bool bold = false;        ///< of letters
  bool spaced = false;      ///< there was a blank before it
  std::size_t columns = 0;  ///< of a matrix
  std::vector<MathNode> parts;
};

/// @throws Error for what it does not know, with the place.
MathNode parse_math(const std::string& latex);

/// A MathML <math> element.
std::string to_mathml(const MathNode& node, bool display);

/// Lines of characters, all of one width; `baseline` is the line that carries the formula.
struct TextBox {
  std::vector<std::string> lines;
  std::size_t baseline = 0;
};
TextBox to_text_box(const MathNode& node);

/// Width in print, in letters.
double math_width(const MathNode& node);

}  // namespace limb::symbolic
