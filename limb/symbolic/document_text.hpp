#pragma once

#include <functional>

#include "limb/symbolic/document.hpp"
#include "limb/symbolic/formula_latex.hpp"
#include "limb/symbolic/math_layout.hpp"

/// What the formats of a document share.
namespace limb::symbolic {

std::string without_marks(std::string latex);
/// What lies between the marks; marks in parentheses count where a piece is wider than `width`.
std::vector<std::string> pieces(const std::string& latex, double width, char mark = kBreak);
/// The pieces joined to lines of about `width`.
std::vector<std::string> filled(const std::string& latex, double width);
/// The text with the parts between dollar signs given to `formula` and the others to `plain`.
std::string replace_formulas(const std::string& text,
                             const std::function<std::string(const std::string&)>& plain,
                             const std::function<std::string(const std::string&)>& formula);

}  // namespace limb::symbolic
