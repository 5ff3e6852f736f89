#pragma once

#include "limb/model/core/description.hpp"

namespace limb {

/// Checks that a Description is a tree of named links: names, parents, roots, cycles, couplings,
/// loops, frames, numbers of limits. Values are not checked.
///
/// Every finding is an error, except that a coupling of a fixed joint, which has no effect, is a
/// note. Linear in the size of the description, no recursion. The link kWorldLink may be a parent
/// without being declared. Rules: docs/check.md.
template <typename T>
void check_structure(const Description<T>& robot, Diagnostics& diagnostics);

extern template void check_structure(const Description<double>&, Diagnostics&);

}  // namespace limb
