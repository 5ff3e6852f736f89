#include "limb/sim/integrate/fixed_step_impl.hpp"

namespace limb {

template class FixedStep<double>;

}  // namespace limb
