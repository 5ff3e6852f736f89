#include "limb/sim/configuration_space_impl.hpp"

namespace limb {

template class ConfigurationSpace<double>;
template State<double> make_state(const Model<double>&, int);

}  // namespace limb
