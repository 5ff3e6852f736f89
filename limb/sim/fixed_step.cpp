#include "limb/sim/fixed_step_impl.hpp"

namespace limb {

template class FixedStep<double>;

}  // namespace limb
