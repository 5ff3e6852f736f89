#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "limb/symbolic/typeset/formula.hpp"

/// Names of symbols in print.
namespace limb::symbolic {

/// "l1" is l_1, "Ixx2" is I_{xx2}, "alpha1" is \alpha_1.
std::string latex_name(const std::string& name);

/// How a coordinate is written.
enum class CoordinateLetter {
  q,      ///< q_1
  theta,  ///< \theta_1, of an angle
  d,      ///< d_1, of a length
};

class SymbolNames {
 public:
  /// Coordinates are q_1, q_2, ... in the order of the ring unless letters are given for them.
  explicit SymbolNames(const Ring& ring, const std::vector<CoordinateLetter>& letters = {});

  /// cos(theta_1 + theta_2) instead of c_12.
  void spell_functions() { short_functions_ = false; }
  /// c_{1,2} for q1 + q2 also with few coordinates.
  void separate_indices() { separate_indices_ = true; }

  const std::string& latex(SymbolId id) const { return latex_[id]; }
  /// The subscript of a sine or cosine of this angle, "12" for q1 + q2, or "1,2" from ten
  /// coordinates on; empty if it has to be spelled out.
  std::optional<std::string> subscript(const Angle& angle) const;

 private:
  std::vector<std::string> latex_;
  std::vector<std::string> index_;  ///< "1" for the first coordinate; empty for other symbols
  bool short_functions_ = true;     ///< c_1 and s_1 are not the names of symbols
  bool separate_indices_ = false;   ///< c_{1,2} for q1 + q2, since there may be a q12
};

/// "12", or "1,12" if an index may have more than one digit, since `largest` bounds all of them, or
/// if `comma`.
std::string joined_indices(std::initializer_list<int> indices, int largest, bool comma = false);

}  // namespace limb::symbolic
