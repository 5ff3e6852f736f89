#pragma once

#include <set>

#include "limb/symbolic/closed_form.hpp"
#include "limb/symbolic/document.hpp"

/// The derivation of a robot's equations of motion as a text.
namespace limb::symbolic {

struct PageOptions {
  bool steps = false;        ///< the whole way to the result, else the result
  bool lagrange = true;      ///< with steps: the way from the energies
  bool newton_euler = true;  ///< with steps: the recursion, link by link
  bool plain_names = false;  ///< q_1 for every coordinate, else theta_1 and d_1
  /// Of the result: M C B christoffel V G K P tau; empty: M, C, B, G, tau.
  std::set<std::string> quantities;
};

/// @throws Error if a derivation by the other way gives another polynomial: never, by the tests.
Document write_page(const Robot& robot, const ClosedForm& form, const PageOptions& options = {});

}  // namespace limb::symbolic
