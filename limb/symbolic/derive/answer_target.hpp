#pragma once

#include <string>
#include <vector>

namespace limb::symbolic {

/// What the left side of an answer names.
struct AnswerTarget {
  enum class Kind { M, V, G, tau, C, christoffel, kinetic, potential, lagrangian };
  Kind kind;
  std::vector<int> indices;  ///< from 0
};

/// Letters and indices of "M_{12}", "\tau_1", "m[1,2]", "c_2(q, qd)" for n coordinates.
/// @throws Error if it is no such name, or an index is beyond 1 to n.
AnswerTarget read_answer_target(const std::string& left, int n);

/// "M12", "tau1", "K"; indices with commas from ten coordinates on.
std::string to_text(const AnswerTarget& target, int n);

}  // namespace limb::symbolic
