#pragma once

#include "limb/model/description.hpp"

namespace limb {

/// Finds what keeps a Description from being a tree of named links: names, parents, roots, cycles,
/// couplings, loops, frames, numbers of limits. Values are not looked at.
///
/// Every finding is an error, but a coupling of a fixed joint, which is without effect, a note.
/// Linear in the size of the description, no recursion. The link
/// kWorldLink may be a parent without being declared. Rules: docs/check.md.
template <typename T>
void check_structure(const Description<T>& robot, Diagnostics& diagnostics);

extern template void check_structure(const Description<double>&, Diagnostics&);

}  // namespace limb
