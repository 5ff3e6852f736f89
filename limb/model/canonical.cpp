#include "limb/model/canonical_impl.hpp"

namespace limb {

template Canonical<double> canonicalize(const Model<double>&, const CanonicalOptions&);

}  // namespace limb
