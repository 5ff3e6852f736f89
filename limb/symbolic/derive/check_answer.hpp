#pragma once

#include "limb/symbolic/derive/derivation.hpp"

/// Answers to exercises, compared exactly with the derived equations of motion.
namespace limb::symbolic {

struct AnswerCheck {
  std::string name;  ///< of the quantity, normalized: "M12", "tau1", "K"
  Polynomial derived, given;
  Polynomial difference;  ///< derived - given
  /// What is probably wrong, in words, most likely first; empty if the answer is right.
  std::vector<std::string> hints;

  bool equal() const { return difference.is_zero(); }
};

/// Compares "M11 = ..." with the derivation. The left side is an entry of a quantity, in plain text
/// or LaTeX: M11 (also m, D, H), V1 (c1, h1), G1 (g1), tau1, C12 (Coriolis matrix), b112 or
/// Gamma112 (Christoffel), K (T), P (U), L; indices with commas from ten coordinates on. The right
/// side is a formula as in parse_formula.hpp. Equality is decided on the canonical form.
/// @throws Error if the text cannot be read, or if the derivation lacks what it needs: derive with
/// `complete`.
AnswerCheck check_answer(const Derivation& derivation, const std::string& answer);

}  // namespace limb::symbolic
