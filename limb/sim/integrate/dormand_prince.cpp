#include "limb/sim/integrate/dormand_prince_impl.hpp"

namespace limb {

template class DormandPrince<double>;

}  // namespace limb
