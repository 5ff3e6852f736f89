#pragma once

#include "limb/symbolic/derive/check_answer.hpp"
#include "limb/symbolic/typeset/document.hpp"

/// The derivation of the equations of motion of a robot as a document.
namespace limb::symbolic {

/// Letters of mass matrix, velocity-dependent forces and gravity.
enum class Letters {
  mvg,  ///< M qdd + V + G
  mcg,  ///< M qdd + c + g
  dcg,  ///< D qdd + C qd + g
};

struct PageOptions {
  bool steps = false;        ///< all steps of the derivation, else only the requested quantities
  bool plain_names = false;  ///< q_1 for every coordinate, else theta_1 for angles, d_1 for lengths
  Letters letters = Letters::mvg;
  bool long_functions = false;  ///< cos(theta_1 + theta_2), else c_12
  bool expanded = false;        ///< sums of products, else common factors taken out
  bool comma_indices = false;   ///< m_{1,2} and c_{1,2} for any number of coordinates
};

/// The steps follow the routes of the derivation; with several, the page ends with their
/// comparison.
/// @throws Error if steps are requested of a derivation that is not complete.
Document write_page(const Derivation& derivation, const PageOptions& options = {});

/// A check of an answer as lines of text: equal, or both values, their difference and the hints.
std::string to_text(const Derivation& derivation, const AnswerCheck& check);

}  // namespace limb::symbolic
