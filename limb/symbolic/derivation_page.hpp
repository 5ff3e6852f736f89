#pragma once

#include "limb/symbolic/derivation.hpp"
#include "limb/symbolic/document.hpp"

/// The derivation of a robot's equations of motion as a text.
namespace limb::symbolic {

struct PageOptions {
  bool steps = false;        ///< the whole way to the result, else the asked quantities
  bool plain_names = false;  ///< q_1 for every coordinate, else theta_1 for angles, d_1 for lengths
};

/// The steps are those of the derivation's ways, and where there are both ends with their
/// comparison.
Document write_page(const Derivation& derivation, const PageOptions& options = {});

}  // namespace limb::symbolic
