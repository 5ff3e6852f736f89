#pragma once

#include <functional>

#include "limb/symbolic/typeset/document.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"
#include "limb/symbolic/typeset/math_layout.hpp"

/// Line breaking of formulas, shared by the formats of a document.
namespace limb::symbolic {

/// Removes the break marks.
std::string without_breaks(std::string latex);
/// The pieces between break marks; marks in parentheses are used only if a piece is wider than
/// `width`.
std::vector<std::string> split_at_breaks(const std::string& latex, double width,
                                         char mark = kBreak);
/// The pieces joined to lines of about `width` letters.
std::vector<std::string> fill_lines(const std::string& latex, double width);
/// Applies `formula` to the parts of the text between dollar signs and `plain` to the others.
std::string replace_formulas(const std::string& text,
                             const std::function<std::string(const std::string&)>& plain,
                             const std::function<std::string(const std::string&)>& formula);

}  // namespace limb::symbolic
