#pragma once

#include <memory>
#include <span>
#include <string>

#include "limb/symbolic/algebra/polynomial.hpp"
#include "limb/symbolic/derive/coordinate.hpp"

namespace limb::symbolic {

/// The value of a formula as people write it, in plain text or in a subset of LaTeX, exactly:
///
///   m2 l1 l2 c2 + 1/2 m2 (l1 + 0.5)^2      m_2 l_1 l_2 \cos\theta_2 + \tfrac{1}{2}
///   \dot{\theta}_1^2
///
/// Products need no sign. Names are the parameters of the robot with or without underscores and
/// braces; coordinates are q1, theta1 or d1 (for lengths), their rates qd1, dq1, \dot{q}_1, qdd1,
/// ddq1, \ddot{q}_1; c12 and s12 are the cosine and sine of q1 + q2 (c1,2 from ten coordinates on),
/// unless a parameter has that name. Divisors are numbers and products of symbols.
/// Exponents are below 100, the text has at most 20,000 characters and 100 levels of parentheses;
/// the values are bounded by the limits of the ring.
/// @param ring  its parameters are the names; the coordinates are symbols of it.
/// @throws Error with the column for anything else; unknown names with the nearest known one.
Polynomial parse_formula(const std::shared_ptr<Ring>& ring, std::span<const Coordinate> coordinates,
                         const std::string& text);

}  // namespace limb::symbolic
