#include "limb/model/canonical/canonical_impl.hpp"

namespace limb {

template Canonical<double> canonicalize(const Model<double>&, const CanonicalOptions&);

}  // namespace limb
