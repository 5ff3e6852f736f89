#include "limb/sim/integrate/implicit_midpoint_impl.hpp"

namespace limb {

template class ImplicitMidpoint<double>;

}  // namespace limb
