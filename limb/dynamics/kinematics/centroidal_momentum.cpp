#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"

namespace limb {

template Force<double> spatial_momentum(const Model<double>&, const Kinematics<double>&);
template Force<double> centroidal_momentum(const Model<double>&, const Kinematics<double>&);
template Force<double> centroidal_momentum_rate(const Model<double>&, const Kinematics<double>&);
template void centroidal_matrix(const Model<double>&, const Kinematics<double>&,
                                SubtreeScratch<double>&, JacobianOut<double>);
template void centroidal_matrix_rate(const Model<double>&, const Kinematics<double>&,
                                     SubtreeScratch<double>&, JacobianOut<double>);

}  // namespace limb
