#include "limb/sim/integrate/configuration_space_impl.hpp"

namespace limb {

template class ConfigurationSpace<double>;
template RobotState<double> make_state(const Model<double>&, int);

}  // namespace limb
