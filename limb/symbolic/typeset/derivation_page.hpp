#pragma once

#include "limb/symbolic/derive/derivation.hpp"
#include "limb/symbolic/typeset/document.hpp"

/// The derivation of the equations of motion of a robot as a document.
namespace limb::symbolic {

struct PageOptions {
  bool steps = false;        ///< all steps of the derivation, else only the requested quantities
  bool plain_names = false;  ///< q_1 for every coordinate, else theta_1 for angles, d_1 for lengths
};

/// The steps follow the methods of the derivation; with both methods, the page ends with their
/// comparison.
Document write_page(const Derivation& derivation, const PageOptions& options = {});

}  // namespace limb::symbolic
