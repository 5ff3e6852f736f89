#include "limb/model/check_structure_impl.hpp"

namespace limb {

template void check_structure(const Description<double>&, Diagnostics&);

}  // namespace limb
