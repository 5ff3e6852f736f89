#include "limb/model/lint/check_structure_impl.hpp"

namespace limb {

template void check_structure(const Description<double>&, Diagnostics&);

}  // namespace limb
