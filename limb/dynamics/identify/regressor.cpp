#include "limb/dynamics/identify/regressor_impl.hpp"

namespace limb {

template void inertial_parameters(const Model<double>&, VectorOut<double>);
template void torque_regressor(const Model<double>&, const Kinematics<double>&,
                               RegressorScratch<double>&, MatrixOut<double>);
template void static_regressor(const Model<double>&, const Kinematics<double>&,
                               RegressorScratch<double>&, MatrixOut<double>);
template void kinetic_energy_regressor(const Model<double>&, const Kinematics<double>&,
                                       VectorOut<double>);
template void potential_energy_regressor(const Model<double>&, const Kinematics<double>&,
                                         VectorOut<double>);
template void momentum_regressor(const Model<double>&, const Kinematics<double>&,
                                 JacobianOut<double>);

}  // namespace limb
